"""Rankings as tie groups, and ways to break the ties.

Photos at the same distance from a query have no order of their own, and with binary codes hundreds of them
share one distance. So a ranking is kept as tie groups, nearest first: how many photos each holds, and how
many of those are relevant. Every metric follows from these counts, so a new metric needs no new run.

`best_case`, `worst_case` and `by_chance` return tie groups in which nothing is left to chance (a group is all
relevant or all irrelevant), so the metrics of one order are computed by the same code as the expectation over all.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument
from sketchhash.files import replacing

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TieGroups:
    """The ranked gallery of every query, as tie groups from nearest to farthest.

    All queries lie end to end: query i owns the groups ``starts[i]:starts[i + 1]``. Groups may be empty.

    Attributes:
        sizes: Photos in each group ``(groups,)``.
        relevant: Those among them that share the query's label ``(groups,)``.
        starts: First group of each query, and one past the last group ``(queries + 1,)``.
        labels: Label of each query ``(queries,)``.
        bits: For binary codes, their length: group d of a query then holds the photos at Hamming distance d,
            for d from 0 to ``bits``. None where the groups do not stand for distances.
    """

    sizes: Counts
    relevant: Counts
    starts: Counts
    labels: Counts
    bits: int | None = None

    def __post_init__(self) -> None:
        """Raise if no ranking can have these counts."""
        is_laid_out = (
            len(self.labels) > 0
            and self.sizes.shape == self.relevant.shape
            and self.starts.shape == (len(self.labels) + 1,)
            and (self.starts[0], self.starts[-1]) == (0, len(self.sizes))
            and np.diff(self.starts).min() > 0
            and (self.bits is None or bool((np.diff(self.starts) == self.bits + 1).all()))
        )
        if not is_laid_out:
            raise BadArgument("Tie groups need at least one query, and at least one group for each.")
        if (self.relevant < 0).any() or (self.relevant > self.sizes).any():
            raise BadArgument("A tie group cannot hold more relevant photos than photos.")
        photos = self.per_query(self.sizes)
        if photos.min() != photos.max() or photos[0] == 0:
            raise BadArgument(f"Queries rank from {photos.min()} to {photos.max()} photos: give all the same gallery.")

    @property
    def gallery(self) -> int:
        """Number of photos every query ranks."""
        return int(self.sizes[: self.starts[1]].sum())

    @property
    def relevant_per_query(self) -> Counts:
        """Number of relevant photos in the gallery for each query ``(queries,)``."""
        return self.per_query(self.relevant)

    def per_query(self, values: NDArray[Any]) -> NDArray[Any]:
        """Sum a value per group ``(groups,)`` over the groups of each query ``(queries,)``."""
        return np.add.reduceat(values, self.starts[:-1])

    def before(self, counts: Counts) -> Counts:
        """Sum a count per group over the nearer groups of the same query ``(groups,)``."""
        before = np.cumsum(counts) - counts
        return before - np.repeat(before[self.starts[:-1]], np.diff(self.starts))

    def answerable(self) -> TieGroups:
        """Return the queries that have a relevant photo in the gallery: the others have no right answer."""
        kept = self.relevant_per_query > 0
        if kept.all():
            return self
        if not kept.any():
            raise BadArgument("No query shares its label with a photo: check that both use the same categories.")
        lengths = np.diff(self.starts)
        chosen = np.repeat(kept, lengths)
        starts = np.concatenate([[0], np.cumsum(lengths[kept])])
        return TieGroups(self.sizes[chosen], self.relevant[chosen], starts, self.labels[kept], self.bits)

    def merged(self) -> TieGroups:
        """Drop empty groups and join neighbours that are all relevant or all irrelevant.

        The order inside a run of equally relevant photos changes no hit count at any rank, so every metric of
        ranks stays as it is. Distances are lost.
        """
        filled = self.sizes > 0
        sizes, relevant = self.sizes[filled], self.relevant[filled]
        queries = np.concatenate([[0], np.cumsum(filled)])[self.starts[:-1]]

        is_pure = (relevant == 0) | (relevant == sizes)
        opens = np.ones(len(sizes), dtype=bool)
        opens[1:] = ~(is_pure[1:] & is_pure[:-1] & ((relevant[1:] == 0) == (relevant[:-1] == 0)))
        opens[queries] = True
        first = np.flatnonzero(opens)
        return TieGroups(
            sizes=np.add.reduceat(sizes, first),
            relevant=np.add.reduceat(relevant, first),
            starts=np.append(np.searchsorted(first, queries), len(first)),
            labels=self.labels,
        )

    def save(self, path: Path) -> None:
        """Write the groups to an ``.npz`` file, whole or not at all."""
        arrays = {name: getattr(self, name) for name in ("sizes", "relevant", "starts", "labels")}
        bits = [] if self.bits is None else [self.bits]
        with replacing(path) as file:
            np.savez_compressed(file, bits=np.array(bits, dtype=np.int64), **arrays)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote; nothing in the file is ever executed."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                (bits,) = stored["bits"].tolist() or [None]
                return cls(stored["sizes"], stored["relevant"], stored["starts"], stored["labels"], bits)
        except (BadZipFile, EOFError, KeyError, TypeError, ValueError, zlib.error) as cause:
            raise BadArgument(f"{path} does not hold tie groups: run the benchmark again to write it.") from cause


def best_case(groups: TieGroups) -> TieGroups:
    """Put the relevant photos of each group first: no way to break ties scores higher."""
    return _split(groups, np.arange(len(groups.sizes)), groups.relevant, groups.relevant).merged()


def worst_case(groups: TieGroups) -> TieGroups:
    """Put the relevant photos of each group last: no way to break ties scores lower."""
    irrelevant = groups.sizes - groups.relevant
    return _split(groups, np.arange(len(groups.sizes)), irrelevant, np.zeros_like(irrelevant)).merged()


def unordered(groups: TieGroups) -> TieGroups:
    """Return the same queries and photos with all photos tied: a ranking without information."""
    queries = len(groups.labels)
    return TieGroups(
        sizes=np.full(queries, groups.gallery),
        relevant=groups.relevant_per_query,
        starts=np.arange(queries + 1),
        labels=groups.labels,
    )


def by_chance(groups: TieGroups, rng: np.random.Generator) -> TieGroups:
    """Draw one order of the tied photos at random, for each query independently.

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
