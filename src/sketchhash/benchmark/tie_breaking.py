"""Put tied photos in an order: the best one, the worst one, or one by chance.

Each gives tie groups in which nothing is left to chance (a group is all relevant or all irrelevant), so the
metrics of one order are computed by the very code that computes the expectation over all of them.
"""

from __future__ import annotations

import numpy as np

from sketchhash.benchmark.ties import Counts, TieGroups


def best_case(groups: TieGroups) -> TieGroups:
    """Put the relevant photos of each group first: no way to break ties scores higher."""
    return _split(groups, np.arange(len(groups.sizes)), groups.relevant, groups.relevant).merged()


def worst_case(groups: TieGroups) -> TieGroups:
    """Put the relevant photos of each group last: no way to break ties scores lower."""
    irrelevant = groups.sizes - groups.relevant
    return _split(groups, np.arange(len(groups.sizes)), irrelevant, np.zeros_like(irrelevant)).merged()


def by_chance(groups: TieGroups, rng: np.random.Generator) -> TieGroups:
    """Draw one order of the tied photos, every order being equally likely and each query on its own.

    Halves the mixed groups until none is left: of n shuffled photos, p of them relevant, the first half holds
    a hypergeometric number of relevant ones. The cost grows with the relevant photos, not with the gallery.
    """
    while True:
        groups = groups.merged()
        mixed = np.flatnonzero((groups.relevant > 0) & (groups.relevant < groups.sizes))
        if not len(mixed):
            return groups
        sizes, relevant = groups.sizes[mixed], groups.relevant[mixed]
        halves = sizes // 2
        groups = _split(groups, mixed, halves, rng.hypergeometric(relevant, sizes - relevant, halves))


def _split(groups: TieGroups, chosen: Counts, sizes: Counts, relevant: Counts) -> TieGroups:
    """Take ``sizes`` photos, ``relevant`` of them relevant, out of each ``chosen`` group into one before."""
    left_sizes, left_relevant = groups.sizes.copy(), groups.relevant.copy()
    left_sizes[chosen] -= sizes
    left_relevant[chosen] -= relevant
    return TieGroups(
        sizes=np.insert(left_sizes, chosen, sizes),
        relevant=np.insert(left_relevant, chosen, relevant),
        starts=groups.starts + np.searchsorted(chosen, groups.starts),
        labels=groups.labels,
    )
