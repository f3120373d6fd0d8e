"""Reading what networks see: by processes as by threads, and every unreadable picture named."""

import shutil

import numpy as np
import pytest

from sketchhash.datasets import open_dataset
from sketchhash.dsh import inputs
from sketchhash.dsh.inputs import Reader
from sketchhash.dsh.networks import network_spec
from sketchhash.errors import DatasetProblem

SPEC = network_spec("tiny", 8)


@pytest.fixture
def reader(tmp_path):
    return Reader.for_network(SPEC, "gradient", tmp_path)


def test_processes_read_the_same_ink_in_the_same_order(shapes, reader, monkeypatch):
    sketches = open_dataset(shapes).sketches
    by_threads, redrawn = reader.sketches(sketches), reader.redrawn(sketches, 2, lambda: None)
    monkeypatch.setattr(inputs, "_MANY", 1)
    steps = []
    by_processes = reader.sketches(sketches, lambda: steps.append(None))
    np.testing.assert_array_equal(by_processes, by_threads)
    assert len(steps) == len(sketches)
    for ours, theirs in zip(reader.redrawn(sketches, 2, lambda: None), redrawn, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_processes_name_every_sketch_that_cannot_be_read(shapes, reader, tmp_path, monkeypatch):
    folder = tmp_path / "damaged"
    shutil.copytree(shapes, folder)
    sketches = open_dataset(folder).sketches
    for name in ("bar/0.png", "disc/3.png"):
        (folder / "sketches" / name).write_bytes(b"not a picture")
    monkeypatch.setattr(inputs, "_MANY", 1)
    with pytest.raises(DatasetProblem, match=r"2 pictures cannot be read.*\n.*bar/0.*\n.*disc/3"):
        reader.sketches(sketches)
