"""Whole runs on four shapes, each trained once."""

import shutil
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from sketchhash.datasets import draw_split, open_dataset
from sketchhash.dsh import training
from sketchhash.dsh.checkpoints import read_checkpoint
from sketchhash.dsh.optimisation import Processes
from sketchhash.dsh.progress import Silent
from sketchhash.dsh.recipe import load_recipe
from sketchhash.dsh.runs import Job
from sketchhash.dsh.training import train

TINY = load_recipe("tiny")
QUICK = replace(
    TINY,
    pretrain_photos=replace(TINY.pretrain_photos, epochs=2, batch=8),
    pretrain_sketches=replace(TINY.pretrain_sketches, epochs=2, batch=8),
    hashing=replace(TINY.hashing, epochs=3, batch=8),
)
FROZEN = replace(QUICK, frozen_trunks=True, photo_views=2, sketch_views=2)
MODES = pytest.mark.parametrize("recipe", [QUICK, FROZEN], ids=["all weights", "frozen trunks"])
BITS = 16


@pytest.fixture(autouse=True, scope="module")
def small_words():
    """Replace word vectors by random unit vectors: GloVe and WordNet take seconds to load."""

    def embed(categories, source, path):
        vectors = np.random.default_rng(0).normal(size=(len(categories), 12))
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training.words, "embed", embed)
        yield


@pytest.fixture
def dataset(shapes):
    return open_dataset(shapes)


@pytest.fixture(scope="session")
def finished(shapes, tmp_path_factory):
    """Return a function that names the folder of a finished run and its cache: a recipe is trained once."""
    folders = {}

    def folder_of(recipe):
        if recipe.hash not in folders:
            folders[recipe.hash] = tmp_path_factory.mktemp("finished")
            start(open_dataset(shapes), folders[recipe.hash], recipe)
        return folders[recipe.hash]

    return folder_of


@pytest.fixture
def run(dataset, finished, tmp_path):
    """Return a function that trains in a folder of the test's own; only token maps are there already."""
    shutil.copytree(finished(QUICK) / "cache" / "tokens", tmp_path / "cache" / "tokens", dirs_exist_ok=True)
    return partial(start, dataset, tmp_path)


@pytest.fixture
def done(finished, tmp_path):
    """Put a finished run of the quick recipe, and its cache, into the test's own folder."""
    shutil.copytree(finished(QUICK), tmp_path, dirs_exist_ok=True)
    return tmp_path / "run"


def start(dataset, folder, recipe=QUICK, *, name="run", progress=None, resume=False, bits=BITS, seed=0):
    job = Job(dataset, draw_split(dataset, queries=2), recipe, bits, seed)
    return train(job, folder / name, folder / "cache", progress or Silent(), Processes(), resume)


class Listening(Silent):
    """Remembers what a run told."""

    def __init__(self):
        self.stages, self.entries = [], []

    @contextmanager
    def stage(self, name, steps):
        self.stages.append(name)
        yield lambda: None

    def report(self, entry):
        self.entries.append(dict(entry))


class Interrupting(Silent):
    """Presses Ctrl-C in the middle of a stage."""

    def __init__(self, stage):
        self.wanted = stage

    @contextmanager
    def stage(self, name, steps):
        done = 0

        def advance():
            nonlocal done
            done += 1
            if name.startswith(self.wanted) and done == max(1, steps // 2):
                raise KeyboardInterrupt

        yield advance


def codes(values):
    return np.where(values >= 0, 1, -1)


def state_of(folder):
    state = read_checkpoint(folder / "checkpoint.pt")
    return {**state["weights"], "photo codes": state["photo_codes"], "sketch codes": state["sketch_codes"]}
