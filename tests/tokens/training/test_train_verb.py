import signal
import subprocess
import sys
from dataclasses import replace
from functools import partial

import pytest
from PIL import Image
from typer.testing import CliRunner

from sketchhash.cli import app
from sketchhash.tokens import training
from sketchhash.tokens.contour_net import ContourNet
from sketchhash.tokens.sketch_tokens import Forest
from sketchhash.tokens.training import samples
from sketchhash.tokens.training.forest import join


@pytest.fixture
def train(bsds_folder, tmp_path, tiny, monkeypatch):
    monkeypatch.setattr(samples, "PRESETS", {"tiny": tiny})
    options = ("tokens", "train", "--data", str(bsds_folder), "--out", str(tmp_path / "new" / "forest.npz"))
    return lambda *more: CliRunner().invoke(app, [*options, *map(str, more)])


def test_a_forest_and_a_picture_of_the_tokens_are_written(train, tmp_path, photos, tiny):
    result = train("--preset", "tiny")
    assert result.exit_code == 0, result.output
    assert result.stdout.strip() == str(tmp_path / "new" / "forest.npz")
    assert "tree 3 of 3" in result.stderr
    run = training.ForestTrainer(photos, tiny, 0, tmp_path / "new" / "forest.npz.work")
    assert Forest.load(tmp_path / "new" / "forest.npz").fingerprint == run.forest().fingerprint
    with Image.open(run.folder / "tokens.png") as sheet:
        assert sheet.size == (15 * 38, 38)


def test_an_interrupted_command_leaves_whole_trees_to_go_on_with(bsds_folder, tmp_path, photos, tiny):
    many = replace(tiny, trees=10_000)
    script = (
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it\n"
        "from sketchhash.tokens.training import Preset, samples\n"
        "from sketchhash.cli import main\n"
        f"samples.PRESETS = {{'many': {many!r}}}\n"
        "main()\n"
    )
    out, work = tmp_path / "many.npz", tmp_path / "kept"
    command = ("tokens", "train", "--preset", "many", "--data", bsds_folder, "--out", out, "--work", work)
    with subprocess.Popen([sys.executable, "-c", script, *command], stderr=subprocess.PIPE, text=True) as started:
        try:
            assert any(line.startswith("tree 2 ") for line in started.stderr)
            started.send_signal(signal.SIGINT)
            _, last_words = started.communicate(timeout=120)
        finally:
            started.kill()
    assert started.returncode != 0
    assert "Traceback" not in last_words
    assert not out.exists()

    kept = training.ForestTrainer(photos, many, 0, work)
    trees = [Forest.load(kept.folder / f"tree-{number:02}.npz") for number in range(2)]
    afresh = training.ForestTrainer(photos, replace(tiny, trees=2), 0, tmp_path / "afresh")
    list(afresh.grow())
    assert join(trees).fingerprint == afresh.forest().fingerprint


def test_the_same_command_grows_only_what_is_missing(train, tmp_path, photos, tiny):
    run = training.ForestTrainer(photos, tiny, 0, tmp_path / "kept")
    list(run.grow())
    (run.folder / "tree-01.npz").unlink()
    result = train("--preset", "tiny", "--work", run.work)
    assert result.exit_code == 0, result.output
    assert [line for line in result.stderr.splitlines() if line.startswith("tree")] == ["tree 2 of 3"]


def test_an_unknown_preset_starts_nothing(train, tmp_path):
    result = train("--preset", "tinny")
    assert result.exit_code == 2
    assert "Did you mean 'tiny'" in result.stderr
    assert not (tmp_path / "new").exists()


def test_a_folder_that_is_not_bsds_exits_with_1(train, tmp_path):
    result = train("--preset", "tiny", "--data", tmp_path)
    assert result.exit_code == 1
    assert "no photos" in result.stderr


def test_a_network_is_trained_from_outlines_and_a_teacher(bsds_folder, tmp_path, monkeypatch):
    from sketchhash.tokens.training import contour_layers

    tiny_plan = partial(contour_layers.Plan, widths=(4,) * 5, repeats=(0,) * 5, merged=4, batch=2, crop=32)
    monkeypatch.setattr(contour_layers, "Plan", tiny_plan)
    (tmp_path / "others").mkdir()
    Image.effect_noise((120, 90), 50).save(tmp_path / "others" / "noise.png")
    options = ("--data", bsds_folder, "--photos", tmp_path / "others", "--teacher", "gradient", "--steps", 2)
    command = ["tokens", "train-network", *map(str, options), "--out", str(tmp_path / "net.npz")]
    result = CliRunner().invoke(app, command)
    assert result.exit_code == 0, result.output
    trained = ContourNet.load(tmp_path / "net.npz")
    assert CliRunner().invoke(app, command).exit_code == 0
    assert ContourNet.load(tmp_path / "net.npz").fingerprint == trained.fingerprint
    labels = list((tmp_path / "net.npz.work").rglob("label-*.npy"))
    assert len(labels) == 5
