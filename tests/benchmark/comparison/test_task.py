import pytest

from sketchhash.benchmark.comparison.task import Task, with_at_most
from sketchhash.datasets import Dataset, Item, draw_split, synthetic
from sketchhash.errors import BadArgument, DamagedState
from sketchhash.imaging.ink import Drawing


def a_dataset(*photo_counts):
    photos = [
        Item(f"{label}/{n:03}", label, Drawing(())) for label, count in enumerate(photo_counts) for n in range(count)
    ]
    return Dataset("zoo", tuple("abc"[: len(photo_counts)]), (), photos)


def a_task(seed=0, protocol="seen"):
    world = synthetic.load(4, 5, categories=("key", "snowman"), size=32)
    split = draw_split(world, 2, seed, {"seen": 0.0, "unseen": 0.2}[protocol])
    return Task.of(split, protocol, split.apply(world))


def test_a_task_survives_its_file(tmp_path):
    task = a_task()
    task.begin(tmp_path / "results")
    assert Task.read(tmp_path / "results") == task
    task.begin(tmp_path / "results")  # again, to go on
    assert len(task.queries.ids) == len(task.queries.labels) == 4
    assert len(task.gallery.ids) == task.training_photos == 10


@pytest.mark.parametrize("other", [{"seed": 1}, {"protocol": "unseen"}])
def test_a_folder_holds_one_task(tmp_path, other):
    a_task().begin(tmp_path)
    with pytest.raises(BadArgument, match="Give another --out"):
        a_task(**other).begin(tmp_path)
    assert Task.read(tmp_path) == a_task()


def test_a_folder_without_a_task_says_what_to_type(tmp_path):
    with pytest.raises(BadArgument, match="sketchhash benchmark run"):
        Task.read(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99}', '{"format": 1, "queries": {}}'])
def test_a_damaged_task_is_refused(tmp_path, text):
    (tmp_path / "task.json").write_text(text)
    with pytest.raises(DamagedState, match=r"task\.json"):
        Task.read(tmp_path)


def test_photos_are_kept_evenly_over_each_category():
    capped = with_at_most(a_dataset(10, 3), 5)
    assert [photo.id for photo in capped.photos if photo.label == 0] == ["0/000", "0/002", "0/004", "0/006", "0/008"]
    assert [photo.id for photo in capped.photos if photo.label == 1] == ["1/000", "1/001", "1/002"]
    assert capped.name == "zoo, at most 5 photos a category"


def test_without_a_limit_a_dataset_stays_as_it_is():
    dataset = a_dataset(4)
    assert with_at_most(dataset, None) is dataset
    with pytest.raises(BadArgument, match="at least"):
        with_at_most(dataset, 0)
