import pytest

from sketchhash.datasets import Dataset, Item, draw_split, synthetic
from sketchhash.errors import BadArgument, DamagedState
from sketchhash.imaging.ink import Drawing
from sketchhash.paper import Experiment, Records, limit_photos
from sketchhash.paper.records import FILE


def a_dataset(*photo_counts):
    photos = [
        Item(f"{label}/{n:03}", label, Drawing(())) for label, count in enumerate(photo_counts) for n in range(count)
    ]
    return Dataset("zoo", tuple("abc"[: len(photo_counts)]), (), photos)


def an_experiment(seed=0, protocol="seen"):
    world = synthetic.load(4, 5, categories=("key", "snowman"), size=32)
    split = draw_split(world, 2, seed, {"seen": 0.0, "unseen": 0.2}[protocol])
    return Experiment.of(split, protocol, split.apply(world))


def test_an_experiment_survives_its_file(tmp_path):
    experiment, records = an_experiment(), Records(tmp_path / "results")
    records.begin(experiment)
    assert records.experiment() == experiment
    records.begin(experiment)  # again, to go on
    assert len(records.path.read_text().splitlines()) == 1
    assert (experiment.queries, experiment.gallery) == ((2, 2), (5, 5))
    assert experiment.training_photos == 10
    assert experiment.relevant.tolist() == [5] * 4


@pytest.mark.parametrize("other", [{"seed": 1}, {"protocol": "unseen"}])
def test_a_folder_holds_one_experiment(tmp_path, other):
    records = Records(tmp_path)
    records.begin(an_experiment())
    with pytest.raises(BadArgument, match="Give another --out"):
        records.begin(an_experiment(**other))
    assert records.experiment() == an_experiment()


def test_a_folder_without_a_comparison_says_what_to_type(tmp_path):
    with pytest.raises(BadArgument, match="sketchhash paper run"):
        Records(tmp_path).experiment()


@pytest.mark.parametrize(
    "text", ["", "[]\n", "{}\n{}", '{"experiment": {"format": 99}}', '{"experiment": {"format": 2}}', "junk\n{}"]
)
def test_a_damaged_file_is_refused(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(DamagedState, match=r"comparison\.jsonl"):
        Records(tmp_path).experiment()


def test_photos_are_kept_evenly_over_each_category():
    capped = limit_photos(a_dataset(10, 3), 5)
    assert [photo.id for photo in capped.photos if photo.label == 0] == ["0/000", "0/002", "0/004", "0/006", "0/008"]
    assert [photo.id for photo in capped.photos if photo.label == 1] == ["1/000", "1/001", "1/002"]
    assert capped.name == "zoo, at most 5 photos a category"


def test_without_a_limit_a_dataset_stays_as_it_is():
    dataset = a_dataset(4)
    assert limit_photos(dataset, None) is dataset
    with pytest.raises(BadArgument, match="at least"):
        limit_photos(dataset, 0)
