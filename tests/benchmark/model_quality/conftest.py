"""Two small collections of the same world by other people, and a model that encodes them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sketchhash.datasets import Dataset, draw_joined_split, synthetic

CATEGORIES = ("cat", "key", "snowman", "umbrella")


@pytest.fixture(scope="session")
def berlin() -> Dataset:
    """6 sketches and 5 photos of each of four categories."""
    return replace(synthetic.load(6, 5, seed=1, categories=CATEGORIES, size=32), name="berlin")


@pytest.fixture(scope="session")
def quick() -> Dataset:
    """Sketches alone, 5 each, also of a category that the other collection does not have."""
    return replace(synthetic.load(5, 0, seed=2, categories=(*CATEGORIES, "apple")), name="quick")


@pytest.fixture(scope="session")
def elsewhere() -> Dataset:
    """Photos alone, 3 each, of two shared categories and of one that nobody draws; spelt in their own way."""
    world = synthetic.load(0, 3, seed=3, categories=("cat", "key", "banana"), size=32)
    names = {"banana": "banana", "cat": "Cat", "key": "KEY"}
    return replace(world, name="elsewhere", categories=tuple(names[name] for name in world.categories))


@pytest.fixture(scope="session")
def split(berlin, quick):
    return draw_joined_split([berlin, quick], queries=2, seed=0, unseen_photos=0.4, unseen_categories=["umbrella"])
