import json

import pytest

from sketchhash.datasets import synthetic


@pytest.fixture
def world(tmp_path):
    small = synthetic.load(6, 6, categories=("key", "snowman"), size=64)
    for _ in synthetic.write(tmp_path / "world", small, workers=1):
        pass
    return tmp_path / "world"


@pytest.mark.slow
def test_training_writes_a_model_folder(run, world, tmp_path):
    told = ("train", "--data", world, "--recipe", "tiny", "--bits", 16, "--out", tmp_path / "model")
    result = run(*told, "--cache", tmp_path / "cache", "--queries", 1)
    assert result.exit_code == 0, result.output
    assert "chance is 0.500, perfect is 1" in result.stderr
    assert f"sketchhash index FOLDER --gallery mine.gallery --model {tmp_path / 'model'}" in result.stderr
    facts = json.loads(run("model", "info", tmp_path / "model", "--json").stdout)
    assert (facts["bits"], facts["categories"], facts["is_intact"]) == (16, ["key", "snowman"], True)


def test_an_unknown_recipe_names_the_nearest(run, world, tmp_path):
    told = ("train", "--data", world, "--queries", 1, "--bits", 16, "--out", tmp_path / "model")
    result = run(*told, "--recipe", "tinny")
    assert result.exit_code != 0
    assert "Did you mean 'tiny'" in result.stderr


def test_a_device_that_is_not_there_is_answered_with_those_that_are(run, world, tmp_path):
    told = ("train", "--data", world, "--queries", 1, "--bits", 16, "--recipe", "tiny", "--out", tmp_path / "model")
    result = run(*told, "--device", "cuda:99")
    assert result.exit_code != 0
    assert "no device named 'cuda:99' here. This machine has: cpu" in result.stderr
    assert not (tmp_path / "model.run").exists()
