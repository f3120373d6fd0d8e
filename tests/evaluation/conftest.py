"""Small rankings written out by hand, and two small collections with a split."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import chain, combinations, product

import numpy as np
import pytest

from sketchhash.datasets import Dataset, draw_joined_split, synthetic
from sketchhash.evaluation import TieGroups


@pytest.fixture(scope="session")
def tie_groups() -> Callable[..., TieGroups]:
    """Return a function that builds tie groups from one list of (photos, relevant photos) a query."""

    def build(*queries, labels=None, bits=None):
        sizes, relevant = np.array(list(chain(*queries)), dtype=np.int64).T
        starts = np.cumsum([0] + [len(query) for query in queries])
        return TieGroups(sizes, relevant, starts, np.array(labels or [0] * len(queries)), bits)

    return build


@pytest.fixture(scope="session")
def orders() -> Callable[[list[tuple[int, int]]], list[list[bool]]]:
    """Return a function that lists the relevance of every equally likely ranking of a query."""

    def enumerate_orders(query):
        arrangements = [
            [[place in chosen for place in range(size)] for chosen in combinations(range(size), relevant)]
            for size, relevant in query
        ]
        return [list(chain(*groups)) for groups in product(*arrangements)]

    return enumerate_orders


@pytest.fixture(scope="session")
def average_precision() -> Callable[[list[bool], int], float]:
    """Return a function that follows the definition along one ranking, rank by rank."""

    def follow(order, depth):
        hits = np.cumsum(order)
        precisions = [hits[rank] / (rank + 1) for rank in range(min(depth, len(order))) if order[rank]]
        return sum(precisions) / min(sum(order), depth)

    return follow


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
