import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.datasets import Dataset, Item, Split, draw_split, draw_zero_shot_split
from sketchhash.errors import BadArgument, SplitProblem
from sketchhash.imaging.strokes import Drawing


def make(sketches: list[int], photos: list[int]) -> Dataset:
    """Build a dataset with so many sketches and photos in each category."""
    names = tuple(f"c{label}" for label in range(len(sketches)))

    def items(counts: list[int], kind: str) -> tuple[Item, ...]:
        return tuple(
            Item(f"c{label}/{kind}{n}", label, Drawing(())) for label, count in enumerate(counts) for n in range(count)
        )

    return Dataset("made", names, items(sketches, "s"), items(photos, "p"))


counts = st.lists(st.tuples(st.integers(4, 12), st.integers(0, 9)), min_size=2, max_size=5)


@given(counts, st.integers(1, 3), st.integers(0, 5), st.sampled_from([0.0, 0.2, 0.5]))
def test_nobody_trains_on_what_asks_or_on_what_is_kept_unseen(counts, queries, seed, share):
    dataset = make([sketches for sketches, _ in counts], [photos for _, photos in counts])
    split = draw_split(dataset, queries, seed, share)
    parts = split.apply(dataset)
    assert set(split.query_sketches).isdisjoint(sketch.id for sketch in parts.training_sketches)
    assert len(split.query_sketches) + len(parts.training_sketches) == len(dataset.sketches)
    assert {query.id for query in parts.queries} <= set(split.query_sketches)
    for label, (_, photos) in enumerate(counts):
        assert sum(photo.label == label for photo in parts.training_photos) == photos - round(share * photos)
    if split.held_out_photos:
        assert {photo.id for photo in parts.gallery} == set(split.held_out_photos)
        assert {photo.id for photo in parts.gallery}.isdisjoint(photo.id for photo in parts.training_photos)


def test_the_papers_gallery_is_every_photo_and_every_photo_trains():
    dataset = make([12, 12], [5, 7])
    parts = draw_split(dataset, queries=10).apply(dataset)
    assert parts.gallery == parts.training_photos == dataset.photos
    assert len(parts.queries) == 20
    assert len(parts.training_sketches) == 4


def test_the_same_seed_draws_the_same_split_and_another_another():
    dataset = make([40, 40], [3, 3])
    assert draw_split(dataset, seed=1) == draw_split(dataset, seed=1)
    assert draw_split(dataset, seed=1).query_sketches != draw_split(dataset, seed=2).query_sketches


def test_keeping_photos_out_does_not_change_who_asks():
    dataset = make([40, 40], [10, 10])
    assert draw_split(dataset).query_sketches == draw_split(dataset, unseen_photos=0.2).query_sketches


def test_queries_of_categories_without_photos_neither_train_nor_ask():
    dataset = make([12, 12], [5, 0])
    parts = draw_split(dataset, queries=10).apply(dataset)
    assert {query.label for query in parts.queries} == {0}
    assert sum(sketch.label == 1 for sketch in parts.training_sketches) == 2


def test_zero_shot_categories_are_absent_from_training_and_alone_in_the_gallery():
    dataset = make([4, 4, 4], [2, 3, 4])
    parts = draw_zero_shot_split(dataset, ["C-1"]).apply(dataset)
    assert {item.label for item in parts.training_sketches + parts.training_photos} == {0, 2}
    assert {item.label for item in parts.queries + parts.gallery} == {1}
    assert (len(parts.queries), len(parts.gallery)) == (4, 3)


def test_zero_shot_needs_known_categories_and_leaves_some_to_train():
    dataset = make([4, 4], [2, 2])
    with pytest.raises(SplitProblem, match="no category 'unicorn'"):
        draw_zero_shot_split(dataset, ["unicorn"])
    with pytest.raises(SplitProblem, match="at least one"):
        draw_zero_shot_split(dataset, ["c0", "c1"])


def test_a_category_with_too_few_sketches_is_named():
    with pytest.raises(SplitProblem, match=r"c1.*--queries"):
        draw_split(make([12, 10], [1, 1]), queries=10)


@pytest.mark.parametrize(("queries", "share"), [(0, 0.0), (1, 1.0), (1, -0.1)])
def test_senseless_numbers_are_refused(queries, share):
    with pytest.raises(BadArgument):
        draw_split(make([4, 4], [2, 2]), queries=queries, unseen_photos=share)


def test_a_split_file_gives_back_the_same_split(tmp_path):
    split = draw_split(make([12, 12], [5, 5]), unseen_photos=0.2)
    split.write(tmp_path / "split.json")
    assert Split.read(tmp_path / "split.json") == split
    assert [path.name for path in tmp_path.iterdir()] == ["split.json"]


def test_a_tampered_split_file_is_refused(tmp_path):
    split = draw_split(make([12, 12], [5, 5]))
    split.write(tmp_path / "split.json")
    document = json.loads((tmp_path / "split.json").read_text())
    document["query_sketches"].pop()
    (tmp_path / "split.json").write_text(json.dumps(document))
    with pytest.raises(SplitProblem, match="changed after it was written"):
        Split.read(tmp_path / "split.json")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1, "hash": "", "surprise": 1}'])
def test_what_is_no_split_file_is_refused(tmp_path, text):
    (tmp_path / "split.json").write_text(text)
    with pytest.raises(SplitProblem, match="not a split file"):
        Split.read(tmp_path / "split.json")


def test_a_newer_format_is_refused(tmp_path):
    split = draw_split(make([12, 12], [5, 5]))
    split.write(tmp_path / "split.json")
    text = (tmp_path / "split.json").read_text().replace('"format": 1', '"format": 2')
    (tmp_path / "split.json").write_text(text)
    with pytest.raises(SplitProblem, match="format 2"):
        Split.read(tmp_path / "split.json")


def test_a_split_does_not_fit_a_changed_dataset():
    dataset = make([12, 12], [5, 5])
    split = draw_split(dataset)
    with pytest.raises(SplitProblem, match="another state"):
        split.apply(replace(dataset, photos=dataset.photos[1:]))


def test_a_split_that_cannot_be_written_says_so_and_leaves_nothing(tmp_path):
    with pytest.raises(SplitProblem, match="cannot be written"):
        draw_split(make([12, 12], [5, 5])).write(tmp_path / "nowhere" / "split.json")
    assert not list(tmp_path.iterdir())
