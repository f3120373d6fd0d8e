from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from sketchhash.datasets import Dataset, Item, collection, draw_joined_split, draw_split, join
from sketchhash.errors import BadArgument, SplitProblem
from sketchhash.imaging.ink import Drawing

LINE = Drawing((np.zeros((2, 2), dtype=np.float32),))


def dataset(name, sketches, photos=None):
    """Make a dataset with so many sketches and photos of each category, by name."""
    photos = photos or {}
    categories = tuple(sorted({*sketches, *photos}))

    def items(counts):
        return tuple(
            Item(f"{category}/{number}", label, LINE)
            for label, category in enumerate(categories)
            for number in range(counts.get(category, 0))
        )

    return Dataset(name, categories, items(sketches), items(photos))


@pytest.fixture
def berlin():
    return dataset("berlin", {"cat": 6, "car (sedan)": 6, "key": 6}, {"cat": 5, "car (sedan)": 10})


@pytest.fixture
def quick():
    return dataset("quick", {"cat": 8, "car": 8, "zebra": 8})


def test_one_dataset_stays_as_it_is(berlin):
    assert join([berlin]) is berlin
    assert draw_joined_split([berlin], 2, seed=3, unseen_photos=0.4) == draw_split(berlin, 2, 3, 0.4)


def test_categories_of_one_meaning_become_one(berlin, quick):
    joined = join([berlin, quick])
    assert joined.categories == ("car (sedan)", "cat", "key", "zebra")
    assert len(joined.sketches) == len(berlin.sketches) + len(quick.sketches)
    assert sum(item.label == 0 for item in joined.sketches) == 6 + 8
    assert len({item.id for item in joined.sketches}) == len(joined.sketches)
    assert list(joined.sketches) == sorted(joined.sketches, key=lambda item: (item.label, item.id))


def test_items_remember_where_they_came_from(berlin, quick):
    joined = join([berlin, quick])
    assert [collection(joined, item) for item in joined.sketches].count("quick") == len(quick.sketches)
    assert {collection(joined, photo) for photo in joined.photos} == {"berlin"}
    assert collection(berlin, berlin.photos[0]) == "berlin"


def test_a_joined_split_asks_what_each_datasets_own_split_asks(berlin, quick):
    split = draw_joined_split([berlin, quick], 2, seed=5, unseen_photos=0.2)
    own = draw_split(berlin, 2, 5, 0.2)
    assert {name for name in split.query_sketches if name.startswith("berlin")} == {
        f"berlin: {name}" for name in own.query_sketches
    }
    assert split.held_out_photos == tuple(f"berlin: {name}" for name in own.held_out_photos)
    parts = split.apply(join([berlin, quick]))
    asking = set(split.query_sketches)
    assert not any(sketch.id in asking for sketch in parts.training_sketches)


def test_unseen_categories_train_in_no_dataset(berlin, quick):
    joined = join([berlin, quick])
    parts = draw_joined_split([berlin, quick], 2, unseen_categories=["Car"]).apply(joined)
    unseen = joined.categories.index("car (sedan)")
    assert all(item.label != unseen for item in (*parts.training_sketches, *parts.training_photos))
    assert {photo.label for photo in parts.gallery} == {unseen}
    assert len(parts.gallery) == 10


def test_a_joined_split_trains_on_all_sketches_where_a_dataset_has_few(berlin, quick):
    first = [item for item in quick.sketches if item.label == 0]
    few = replace(quick, sketches=(*first[:3], *(item for item in quick.sketches if item.label != 0)))
    drawn = Counter(name.rpartition("/")[0] for name in draw_joined_split([berlin, few], 3).query_sketches)
    assert f"quick: {first[0].id.rpartition('/')[0]}" not in drawn
    assert set(drawn.values()) == {3}


def test_a_joined_split_validates_on_what_each_datasets_own_split_does(berlin, quick):
    joined = join([berlin, quick])
    split = draw_joined_split([berlin, quick], 2, seed=5, unseen_categories=["Car"], validation=2)
    own = [(dataset, draw_split(dataset, 2, 5, validation=2)) for dataset in (berlin, quick)]
    cars = ("berlin: car (sedan)/", "quick: car/")
    names = (f"{dataset.name}: {name}" for dataset, drawn in own for name in drawn.validation_sketches)
    assert split.validation_sketches == tuple(sorted(name for name in names if not name.startswith(cars)))
    parts = split.apply(joined)
    assert {joined.categories[item.label] for item in parts.validation_queries} == {"cat"}
    assert {photo.id for photo in parts.validation_gallery} == set(split.validation_photos)
    assert draw_joined_split([berlin], 2, validation=1) == draw_split(berlin, 2, validation=1)


def test_an_unseen_category_must_exist(berlin):
    with pytest.raises(SplitProblem, match=r"berlin has no category 'dragon'"):
        draw_joined_split([berlin], 2, unseen_categories=["cat", "dragon"])


def test_a_dataset_cannot_be_joined_with_itself(berlin):
    with pytest.raises(BadArgument, match="berlin is given twice"):
        join([berlin, berlin])
    with pytest.raises(BadArgument, match="berlin is given twice"):
        draw_joined_split([berlin, berlin], 2)


def test_two_datasets_of_one_name_are_numbered(quick):
    more = dataset("quick", {"cat": 5, "owl": 5})
    joined = join([quick, more])
    assert joined.name == "quick + quick #2"
    assert [collection(joined, item) for item in joined.sketches].count("quick #2") == 10
    split = draw_joined_split([quick, more], 2)
    assert split.dataset == joined.name
    assert len(split.apply(joined).training_sketches) == len(joined.sketches) - 2 * 5
