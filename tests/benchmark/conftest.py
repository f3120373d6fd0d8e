"""Small rankings written out by hand, and every order their ties allow."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain, combinations, product

import numpy as np
import pytest

from sketchhash.benchmark import TieGroups


@pytest.fixture(scope="session")
def tie_groups() -> Callable[..., TieGroups]:
    """Give a function that builds tie groups from one list of (photos, relevant photos) a query."""

    def build(*queries, labels=None, bits=None):
        sizes, relevant = np.array(list(chain(*queries)), dtype=np.int64).T
        starts = np.cumsum([0] + [len(query) for query in queries])
        return TieGroups(sizes, relevant, starts, np.array(labels or [0] * len(queries)), bits)

    return build


@pytest.fixture(scope="session")
def orders() -> Callable[[list[tuple[int, int]]], list[list[bool]]]:
    """Give a function that lists the relevance of every equally likely ranking of a query."""

    def enumerate_orders(query):
        arrangements = [
            [[place in chosen for place in range(size)] for chosen in combinations(range(size), relevant)]
            for size, relevant in query
        ]
        return [list(chain(*groups)) for groups in product(*arrangements)]

    return enumerate_orders


@pytest.fixture(scope="session")
def average_precision() -> Callable[[list[bool], int], float]:
    """Give a function that follows the definition along one ranking, rank by rank."""

    def follow(order, depth):
        hits = np.cumsum(order)
        precisions = [hits[rank] / (rank + 1) for rank in range(min(depth, len(order))) if order[rank]]
        return sum(precisions) / min(sum(order), depth)

    return follow
