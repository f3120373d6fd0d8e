import json

import pytest

from sketchhash.datasets import draw_split, open_dataset
from sketchhash.errors import BadArgument
from sketchhash.evaluation import ModelEvaluation, PhotoLimit, evaluate


@pytest.fixture(scope="module")
def found(model, berlin, quick, elsewhere, split, tmp_path_factory) -> ModelEvaluation:
    cache = tmp_path_factory.mktemp("cache")
    return evaluate(model, [berlin, quick], split=split, searched=[elsewhere], cache=cache, threads=1)


@pytest.fixture
def zoo(tmp_path, paint_photo, paint_sketch):
    for category in ("cat", "dog"):
        for number in range(4):
            paint_sketch(tmp_path / "zoo" / "sketches" / category / f"{number}.png", number)
            paint_photo(tmp_path / "zoo" / "photos" / category / f"{number}.jpg", number)
    return tmp_path / "zoo"


def test_the_first_setting_is_the_one_to_quote(found, split, model):
    first = found.settings[0]
    assert (first.kind, first.sketches, first.photos) == ("seen photos", "berlin", "berlin")
    assert found.map == first.codes.mean_average_precision.value
    assert found.chance == first.chance
    assert found.precision == first.codes.precision_at_200.value
    assert found.interval.low <= found.map <= found.interval.high
    assert (found.model, found.bits, found.split_hash) == (model.manifest.name, model.bits, split.hash)
    assert found.searched == ("elsewhere",)


def test_an_evaluation_is_written_as_numbers_and_as_tables(found, tmp_path):
    found.write(tmp_path / "out")
    document = json.loads((tmp_path / "out" / "scores.json").read_text())
    assert document["split_hash"] == found.split_hash
    assert document["versions"]["onnxruntime"]
    written = document["settings"][0]["codes"]["mean_average_precision"]["value"]
    assert written == pytest.approx(found.map, rel=1e-5)
    text = (tmp_path / "out" / "scores.md").read_text()
    assert found.table() in text
    assert text.count("\n## ") == len(found.settings)
    row = found.table().splitlines()[2]
    assert row.startswith("| berlin | berlin | seen photos | 6 | 9 | 3 (2 not learnt) | ")
    assert row.split(" | ")[8:10] == ["–", "–"]  # 9 photos have no first 10 ranks


def test_a_folder_and_a_path_are_enough(zoo, model_folder, tmp_path):
    found = evaluate(str(model_folder), str(zoo), cache=tmp_path / "cache")
    (setting,) = found.settings
    assert (setting.kind, setting.queries, setting.gallery) == ("all photos", 8, 8)
    assert found.split_hash is None
    assert 0 < found.map <= 1


def test_the_split_that_training_left_beside_a_model_is_used(zoo, make_model_folder, tmp_path):
    folder = make_model_folder()
    run = folder.with_name(f"{folder.name}.run")
    run.mkdir()
    split = draw_split(open_dataset(zoo), queries=1)
    split.write(run / "split.json")
    found = evaluate(folder, zoo, cache=tmp_path / "cache")
    assert (found.split_hash, found.settings[0].queries) == (split.hash, 2)
    (zoo / "sketches" / "cat" / "0.png").unlink()
    assert evaluate(folder, zoo, cache=tmp_path / "cache").split_hash is None


def test_unreadable_pictures_are_counted_and_named(zoo, model, tmp_path):
    (zoo / "photos" / "cat" / "0.jpg").write_bytes(b"junk")
    found = evaluate(model, zoo, cache=tmp_path / "cache", limit=PhotoLimit(4))
    assert list(found.unreadable) == ["zoo: cat/0.jpg"]
    assert found.settings[0].gallery == 7
    assert "1 items could not be read" in found.markdown()


def test_data_without_anything_to_find_is_refused(model, tmp_path, paint_sketch):
    paint_sketch(tmp_path / "drawn" / "sketches" / "cat" / "1.png")
    with pytest.raises(BadArgument, match="No sketch here"):
        evaluate(model, tmp_path / "drawn", cache=tmp_path / "cache")
