import pytest

from sketchhash.errors import BadArgument, SplitProblem, UnknownName
from sketchhash.paper.heads.bench import Task
from sketchhash.paper.heads.splits import draw_head_split, draw_unseen_split, listed_categories


@pytest.fixture
def splits(dataset, kept_out):
    return [draw_head_split(dataset, kept_out, validation=1, seed=seed) for seed in range(3)]


def test_queries_and_validation_divide_what_the_trunks_have_not_seen(dataset, kept_out, splits):
    for split in splits:
        assert sorted((*split.query_sketches, *split.validation_sketches)) == sorted(kept_out.query_sketches)
        task = Task.of(split, dataset)
        assert len(task.queries) == 3 * 3
        assert len(task.validation_sketches) == 3 * 1
        assert not {item.id for item in task.training_sketches} & set(kept_out.query_sketches)


def test_a_seed_draws_other_photos_but_never_other_queries(splits):
    assert len({split.query_sketches for split in splits}) == 1
    assert len({split.validation_sketches for split in splits}) == 1
    assert len({split.held_out_photos for split in splits}) == 3


def test_no_photo_is_in_two_parts(dataset, splits):
    for split in splits:
        task = Task.of(split, dataset)
        parts = [task.training_photos, task.validation_photos, task.galleries["unseen photos"]]
        ids = [item.id for part in parts for item in part]
        assert len(ids) == len(set(ids)) == len(dataset.photos)
        assert task.galleries["seen photos"] == task.training_photos


def test_unseen_categories_are_in_no_training(dataset):
    task = Task.of(draw_unseen_split(dataset, ["key"]), dataset)
    key = dataset.categories.index("key")
    assert {item.label for item in (*task.queries, *task.galleries["unseen categories"])} == {key}
    assert key not in {item.label for item in (*task.training_photos, *task.training_sketches)}
    assert list(task.galleries) == ["unseen categories"]


def test_of_a_published_list_a_dataset_gives_what_it_has_and_names_the_rest(dataset):
    found, absent = listed_categories(dataset, "tuberlin-sempcyc")
    assert found == ("snowman", "umbrella")
    assert len(absent) == 28 and "duck" in absent


def test_a_published_list_of_which_a_dataset_has_nothing_is_refused(dataset):
    with pytest.raises(SplitProblem, match="no category of the list quickdraw-doodle2search"):
        listed_categories(dataset, "quickdraw-doodle2search")
    with pytest.raises(UnknownName, match="tuberlin-sake"):
        listed_categories(dataset, "tuberlin-sak")


@pytest.mark.parametrize("validation", [0, 4])
def test_a_validation_part_that_leaves_nothing_is_refused(dataset, kept_out, validation):
    with pytest.raises(BadArgument, match="validation"):
        draw_head_split(dataset, kept_out, validation, 0)
