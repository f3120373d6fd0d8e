"""``sketchhash model calibrate`` and ``sureness``, and what a calibrated model says of a search."""

import json
import re
import shutil

import pytest

from sketchhash import Gallery
from sketchhash.datasets import draw_split, keep_nothing_out, open_dataset
from sketchhash.evaluation import calibrate_export
from sketchhash.model import Model, read_manifest


@pytest.fixture
def data(tmp_path, paint_photo, paint_sketch):
    """Write sketches and photos of two things that the tiny model knows, and sketches of two that it does not."""
    for number, name in enumerate(("cat", "dog", "yak", "zebra")):
        for seed in range(36):
            paint_sketch(tmp_path / "data" / "sketches" / name / f"{seed}.png", 100 * number + seed)
            if number < 2:
                paint_photo(tmp_path / "data" / "photos" / name / f"{seed}.jpg", 100 * number + seed)
    return tmp_path / "data"


@pytest.fixture
def own_model(tmp_path, model_folder, monkeypatch):
    folder = shutil.copytree(model_folder, tmp_path / "own")
    monkeypatch.setenv("SKETCHHASH_MODEL", str(folder))
    return folder


@pytest.fixture
def tell(run, tmp_path):
    def tell(*arguments):
        result = run(*arguments, "--cache", tmp_path / "cache", "--threads", "1")
        assert result.exit_code == 0, result.output
        return result

    return tell


def test_a_model_is_calibrated_measured_and_searched_with(run, tell, gallery, own_model, data, sketch, tmp_path):
    before = read_manifest(own_model).fingerprint
    split = tmp_path / "split.json"
    draw_split(open_dataset(data), queries=12, unseen_photos=0.5).write(split)
    tell("model", "calibrate", own_model, "--data", data, "--split", split)
    assert read_manifest(own_model).fingerprint == before

    told = tell("model", "sureness", own_model, "--data", data, "--split", split, "--out", tmp_path / "report")
    assert "| scribble |" in told.stdout
    recorded = json.loads((tmp_path / "report" / "sureness.json").read_text())
    assert {"present", "absent", "untaught", "scribble"} <= recorded["kinds"].keys()
    assert recorded["split_hash"]

    result = run("search", sketch, "--gallery", gallery, "--model", own_model, "--json")
    hits = json.loads(result.stdout)
    assert [hit["chance"] for hit in hits] == sorted((hit["chance"] for hit in hits), reverse=True)
    assert [hit["likely"] for hit in hits] == sorted((hit["likely"] for hit in hits), reverse=True)
    assert re.search(r"\(\d+%\)", result.stderr)

    by_name = run("search", "--category", "dog", "--gallery", gallery, "--model", own_model)
    assert len(by_name.stdout.splitlines()) == 5
    assert "dog 100%" in by_name.stderr
    by_word = run("search", "--category", "puppies", "--gallery", gallery, "--model", own_model)
    assert by_word.stdout == by_name.stdout
    assert "puppies is taken for: dog" in by_word.stderr
    unknown = run("search", "--category", "xyzzy", "--gallery", gallery, "--model", own_model)
    assert unknown.exit_code == 2
    assert "'xyzzy'" in unknown.stderr
    with Gallery(gallery, own_model) as opened:
        answer = opened.search(sketch, 2)
        assert len(answer) == 2
        assert answer.verdict in ("sure", "unsure", "unknown")
        assert [hit.chance for hit in answer] == [hit["chance"] for hit in hits[:2]]
        assert answer.chance == opened.search(sketch, 5).chance
        paths = [str(hit.path) for hit in opened.search_category("dog")]
        assert paths == [line.split("\t")[2] for line in by_name.stdout.splitlines()]
        first = answer[0].id
        assert first not in {hit.id for hit in opened.similar(first)}


def test_coefficients_are_taken_from_a_twin(tell, own_model, data, tmp_path):
    twin = shutil.copytree(own_model, tmp_path / "twin")
    told = tell("model", "calibrate", twin, "--data", data)
    assert "Without --split" in told.stderr
    tell("model", "calibrate", own_model, "--data", data, "--like", twin)
    own, other = Model.load(own_model).calibration, Model.load(twin).calibration
    assert (own.drawing == other.drawing).all()
    assert (own.drawn != other.drawn).any()


def test_an_exported_model_is_calibrated_by_what_its_training_kept_out(own_model, data, tmp_path):
    dataset = open_dataset(data)
    nothing = keep_nothing_out(dataset)
    assert calibrate_export(Model.load(own_model), [dataset], nothing, tmp_path / "cache") is False
    assert Model.load(own_model).calibration is None
    some = draw_split(dataset, queries=20, unseen_photos=0.5)
    assert calibrate_export(Model.load(own_model), [dataset], some, tmp_path / "cache") is True
    assert Model.load(own_model).calibration.categories == ("cat", "dog")


def test_what_is_not_calibrated_says_what_to_type(run, own_model, data, gallery):
    for arguments in (
        ("model", "sureness", own_model, "--data", data),
        ("model", "calibrate", own_model, "--data", data, "--like", own_model),
        ("search", "--category", "cat", "--gallery", gallery, "--model", own_model),
    ):
        result = run(*arguments)
        assert result.exit_code != 0
        assert "sketchhash model calibrate" in result.stderr


@pytest.mark.parametrize("arguments", [(), ("sketch.png", "--category", "cat")])
def test_a_search_has_a_sketch_or_a_category(run, gallery, arguments):
    result = run("search", *arguments, "--gallery", gallery)
    assert result.exit_code == 2
    assert "--category NAME" in result.stderr
