"""Rank a gallery for many queries, by binary codes or by any distance, and return the tie groups.

A photo is relevant to a query when their labels are equal; smaller distances are nearer, everywhere. Queries
are taken in blocks, so that the pairs of a large benchmark never have to fit in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import hamming, pack
from sketchhash.datasets import Item, Partition
from sketchhash.errors import BadArgument
from sketchhash.evaluation.metrics import DEPTH, mean_average_precision, precision_at
from sketchhash.evaluation.ties import Counts, TieGroups

LabelArray = NDArray[np.integer[Any]]
Vectors = NDArray[np.floating[Any]]
Distance = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]]
# Few codes keep the XORed words of a large gallery near the cache; BLAS is faster on more vectors.
CODES_AT_ONCE = 4
VECTORS_AT_ONCE = 128
PHOTOS_AT_ONCE = 4096


def rank_codes(
    queries: NDArray[np.uint8], gallery: NDArray[np.uint8], query_labels: LabelArray, gallery_labels: LabelArray
) -> TieGroups:
    """Rank packed codes ``(gallery, bits // 8)`` by Hamming distance from ``(queries, bits // 8)``."""
    _check_labels(queries, gallery, query_labels, gallery_labels)
    bits = gallery.shape[1] * 8
    members = _members(query_labels, gallery_labels)

    sizes = np.empty((len(queries), bits + 1), dtype=np.int64)
    relevant = np.empty_like(sizes)
    for start in range(0, len(queries), CODES_AT_ONCE):
        for query, distances in enumerate(hamming(queries[start : start + CODES_AT_ONCE], gallery), start):
            sizes[query] = np.bincount(distances, minlength=bits + 1)
            relevant[query] = np.bincount(distances[members[int(query_labels[query])]], minlength=bits + 1)

    starts = np.arange(len(queries) + 1) * (bits + 1)
    return TieGroups(sizes.ravel(), relevant.ravel(), starts, query_labels.astype(np.int64), bits)


def rank_cosine(queries: Vectors, gallery: Vectors, query_labels: LabelArray, gallery_labels: LabelArray) -> TieGroups:
    """Rank vectors ``(gallery, dimensions)`` by their angle to each query; a zero vector is at 90° to all."""
    return rank_vectors(_opposite_cosine, queries, gallery, query_labels, gallery_labels)


def rank_euclidean(
    queries: Vectors, gallery: Vectors, query_labels: LabelArray, gallery_labels: LabelArray
) -> TieGroups:
    """Rank vectors ``(gallery, dimensions)`` by Euclidean distance from each query."""
    return rank_vectors(_squared_euclidean, queries, gallery, query_labels, gallery_labels)


def rank_vectors(
    distance: Distance, queries: Vectors, gallery: Vectors, query_labels: LabelArray, gallery_labels: LabelArray
) -> TieGroups:
    """Rank vectors ``(gallery, dimensions)`` by a function that returns distances ``(some queries, some photos)``."""
    _check_labels(queries, gallery, query_labels, gallery_labels)
    return rank_distances(_in_blocks(distance, queries, gallery), query_labels, gallery_labels)


def rank_distances(blocks: Iterable[NDArray[Any]], query_labels: LabelArray, gallery_labels: LabelArray) -> TieGroups:
    """Rank by any distance, given in blocks ``(some queries, gallery)`` in the order of the query labels.

    Equal distances are ties. To rank by a similarity, give its negative.
    """
    members = _members(query_labels, gallery_labels)
    rankings: list[Counts] = []
    for block in blocks:
        labels = query_labels[len(rankings) : len(rankings) + len(block)]
        if block.shape != (len(labels), len(gallery_labels)):
            raise BadArgument(
                f"A block of distances has shape {block.shape} where {len(labels)} queries are left and the "
                f"gallery has {len(gallery_labels)} photos: give one row a query and one column a photo."
            )
        rankings.extend(
            _tie_groups(distances, members[label]) for distances, label in zip(block, labels.tolist(), strict=True)
        )
    if len(rankings) != len(query_labels) or not rankings:
        raise BadArgument(f"Distances of {len(rankings)} queries for {len(query_labels)} labels: give one row each.")

    sizes, relevant = np.concatenate(rankings, axis=1)
    starts = np.cumsum([0] + [ranking.shape[1] for ranking in rankings])
    return TieGroups(sizes, relevant, starts, query_labels.astype(np.int64)).merged()


class Encoder(Protocol):
    """A fitted model that returns values ``(n, bits)`` whose signs are codes."""

    def photo_values(self, items: Sequence[Item]) -> NDArray[np.floating]:
        """Encode photos."""
        ...

    def sketch_values(self, items: Sequence[Item]) -> NDArray[np.floating]:
        """Encode sketches."""
        ...


def rank_partition(encoder: Encoder, parts: Partition) -> TieGroups:
    """Rank the gallery of a partition for each of its queries, by Hamming distance."""
    queries, gallery = pack(encoder.sketch_values(parts.queries)), pack(encoder.photo_values(parts.gallery))
    return rank_codes(queries, gallery, labels(parts.queries), labels(parts.gallery))


def card_scores(encoder: Encoder, parts: Partition) -> dict[str, float]:
    """Return tie-aware mAP@all and precision at 200 of a split's queries, by the names they have on a model card."""
    groups = rank_partition(encoder, parts)
    return {"mAP@all": mean_average_precision(groups).value, f"P@{DEPTH}": precision_at(groups, DEPTH).value}


def labels(items: Sequence[Item]) -> NDArray[np.int64]:
    """Return the labels of items ``(items,)``."""
    return np.array([item.label for item in items], dtype=np.int64)


def _tie_groups(distances: NDArray[Any], members: NDArray[np.intp]) -> Counts:
    """Count photos and relevant photos ``(2, groups)`` at the relevant distances and in the gaps."""
    ordered = np.sort(distances)
    if np.isnan(ordered[-1:]).any():
        raise BadArgument("A distance is not a number (NaN): check the vectors it was computed from.")
    values, counts = np.unique(distances[members], return_counts=True)
    edges = np.stack([np.searchsorted(ordered, values, side) for side in ("left", "right")], axis=1).ravel()
    sizes = np.diff(edges, prepend=0, append=len(ordered))
    relevant = np.zeros_like(sizes)
    relevant[1::2] = counts
    return np.stack([sizes, relevant])


def _in_blocks(distance: Distance, queries: Vectors, gallery: Vectors) -> Iterator[NDArray[np.float32]]:
    # BLAS may round one photo differently at two places of the gallery. Computed in double and kept in single
    # precision, the distances to a duplicated photo agree, and a block's size does not show.
    for start in range(0, len(queries), VECTORS_AT_ONCE):
        some = queries[start : start + VECTORS_AT_ONCE].astype(np.float64)
        block = np.empty((len(some), len(gallery)), dtype=np.float32)
        for first in range(0, len(gallery), PHOTOS_AT_ONCE):
            photos = slice(first, first + PHOTOS_AT_ONCE)
            block[:, photos] = distance(some, gallery[photos].astype(np.float64))
        yield block


def _opposite_cosine(queries: NDArray[np.float64], gallery: NDArray[np.float64]) -> NDArray[np.float64]:
    # A query's own length scales all its distances alike, so it need not be divided out.
    lengths = np.linalg.norm(gallery, axis=1, keepdims=True)
    cosines: NDArray[np.float64] = queries @ (gallery / np.where(lengths > 0, lengths, 1)).T
    return -cosines


def _squared_euclidean(queries: NDArray[np.float64], gallery: NDArray[np.float64]) -> NDArray[np.float64]:
    squares = np.square(queries).sum(axis=1)[:, None] + np.square(gallery).sum(axis=1)
    distances: NDArray[np.float64] = squares - 2 * queries @ gallery.T
    return distances


def _members(query_labels: LabelArray, gallery_labels: LabelArray) -> dict[int, NDArray[np.intp]]:
    """Find the rows of the gallery that carry each label asked for."""
    return {label: np.flatnonzero(gallery_labels == label) for label in np.unique(query_labels).tolist()}


def _check_labels(
    queries: NDArray[Any], gallery: NDArray[Any], query_labels: LabelArray, gallery_labels: LabelArray
) -> None:
    for rows, labels, kind in ((queries, query_labels, "queries"), (gallery, gallery_labels, "photos")):
        if rows.ndim != 2 or labels.shape != (len(rows),) or not len(rows):
            raise BadArgument(
                f"The {kind} have shape {rows.shape} and their labels {labels.shape}: give one row and one label each."
            )
    if queries.shape[1] != gallery.shape[1]:
        raise BadArgument(
            f"Queries have width {queries.shape[1]} and photos {gallery.shape[1]}: encode both with the same model."
        )
