"""A small world, quick eyes in the place of Sketch-a-Net, and a DSH that is known to be good."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from sketchhash.baselines import CATALOGUE, Card, card_of
from sketchhash.datasets import synthetic
from sketchhash.dsh.progress import Silent
from sketchhash.paper import Entry
from sketchhash.paper.runner import run_entries
from sketchhash.paper.workbench import Workbench

QUICK = """
base = "tiny"
description = "a few steps"
frozen_trunks = true
words = "wordnet-free"
[pretrain_photos]
epochs = 2
[pretrain_sketches]
epochs = 2
[hashing]
epochs = 3
"""
CATEGORIES = ("key", "snowman", "umbrella")
ENTRIES = (
    Entry("sketch-a-net", 49),
    Entry("class-codes", 8),
    Entry("class-codes", 16),
    Entry("cca", 8),
    Entry("dsh", 8),
    Entry("dsh", 16),
    Entry("without-tokens", 16),
)


@dataclass
class QuickEyes:
    """Sees a picture as 7 × 7 shades of grey, and remembers which labels it was taught."""

    size: int
    seed: int = 0
    taught = ()

    def fit(self, views):
        type(self).taught = (*type(self).taught, tuple(np.unique(views.sketch_labels).tolist()))
        return self

    def encode_photos(self, photos):
        return np.stack([self._shades(photo.mean(axis=2)) for photo in photos])

    def encode_sketches(self, sketches):
        return np.stack([self._shades(sketch) for sketch in sketches])

    def classify(self, sketches):
        return np.zeros(len(sketches), dtype=np.int64)

    def state(self):
        return {"nothing": np.zeros(1)}

    def restore(self, state):
        return self

    def _shades(self, grey):
        parts = np.array_split(grey.astype(float), 7)
        return np.array([part.mean() for row in parts for part in np.array_split(row, 7, axis=1)])


class QuickCard(Card):
    """The card of quick eyes."""

    def build(self, size, seed):
        return QuickEyes(size, seed=seed)


class GoodEncoder:
    """An encoder with a random code for every category, of which it flips a few bits for each item."""

    def __init__(self, bits):
        self.bits = bits

    def photo_values(self, items):
        return self._values(items, 0.05)

    def sketch_values(self, items):
        return self._values(items, 0.1)

    def _values(self, items, flips):
        codes = np.random.default_rng(0).choice([-1.0, 1.0], (9, self.bits))[[item.label for item in items]]
        return np.where(np.random.default_rng(1).random(codes.shape) < flips, -codes, codes)


@pytest.fixture(scope="session")
def world():
    return synthetic.load(8, 10, categories=CATEGORIES, size=48)


@pytest.fixture(scope="session")
def quick_recipe(tmp_path_factory):
    path = tmp_path_factory.mktemp("recipes") / "quick.toml"
    path.write_text(QUICK)
    return str(path)


def use_fakes(patch):
    """Put quick eyes into the catalogue, and a good DSH in the place of a trained one."""
    card = card_of("sketch-a-net")
    facts = {name: getattr(card, name) for name in Card.__dataclass_fields__}
    eyes = replace(QuickCard(**facts), sizes=(49,))
    cards = tuple(eyes if each is card else each for each in CATALOGUE)
    patch.setattr("sketchhash.baselines.catalogue.CATALOGUE", cards)
    patch.setattr("sketchhash.paper.entries.CATALOGUE", cards)
    patch.setattr(Workbench, "train", lambda self, recipe, name, bits, repeat=0: GoodEncoder(bits))
    patch.setattr(QuickEyes, "taught", ())


@pytest.fixture
def fakes(monkeypatch):
    use_fakes(monkeypatch)
    return QuickEyes


@pytest.fixture
def make_bench(world, quick_recipe, tmp_path):
    """Return a function that makes workbenches with one cache."""

    def make(dataset=world, protocol="seen"):
        return Workbench(dataset, protocol, quick_recipe, 0, 3, tmp_path / "cache", Silent())

    return make


@pytest.fixture(scope="session")
def finished(world, quick_recipe, tmp_path_factory):
    """Return a folder with a finished comparison; not to be changed."""
    folder = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        use_fakes(patch)
        bench = Workbench(world, "seen", quick_recipe, 0, 3, folder / "cache", Silent())
        for outcome in run_entries(bench, folder / "results", ENTRIES):
            assert not hasattr(outcome, "problem"), outcome.path.read_text()
    return folder / "results"
