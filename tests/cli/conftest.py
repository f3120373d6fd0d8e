"""A tiny model, photos, a gallery of them, and ways to run the command line."""

import json
import os
import subprocess
import sys

import pytest
from launching import after
from typer.testing import CliRunner

from sketchhash.cli import app


@pytest.fixture
def run(model_folder, monkeypatch):
    """Give a function that runs the command line with the tiny model as the default one."""
    monkeypatch.setenv("SKETCHHASH_MODEL", str(model_folder))
    return lambda *arguments, **options: CliRunner().invoke(app, [str(each) for each in arguments], **options)


@pytest.fixture
def photos(tmp_path, paint_photo):
    folder = tmp_path / "photos"
    for seed, name in enumerate(["cat/a.jpg", "cat/b.jpg", "dog/a.jpg", "dog/b.jpg", "dog/c.jpg"]):
        paint_photo(folder / name, seed)
    return folder


@pytest.fixture
def gallery(tmp_path, run, photos):
    path = tmp_path / "test.gallery"
    result = run("index", photos, "--gallery", path, "--labels", "folder")
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def sketch(tmp_path, paint_sketch):
    return paint_sketch(tmp_path / "sketch.png")


@pytest.fixture
def strokes(tmp_path):
    path = tmp_path / "sketch.json"
    path.write_text(json.dumps([[[0, 0], [9, 0], [9, 9]], [[2, 2], [3, 7]]]))
    return path


@pytest.fixture
def start(model_folder):
    """Give a function that starts the command line in a process of its own."""
    minding_ctrl_c = "signal.signal(signal.SIGINT, signal.SIG_DFL)"  # tests that run in the background ignore it
    return lambda *arguments: subprocess.Popen(
        after(minding_ctrl_c, [sys.executable, "-m", "sketchhash", *arguments]),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "SKETCHHASH_MODEL": str(model_folder)},
    )
