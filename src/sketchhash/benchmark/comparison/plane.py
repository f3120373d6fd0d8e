"""Codes on a plane by t-SNE (van der Maaten and Hinton, JMLR 2008): photos and sketches of ten categories together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sketchhash.benchmark.comparison.records import Codes
from sketchhash.benchmark.comparison.task import Task
from sketchhash.codes import unpack
from sketchhash.errors import require

_CATEGORIES = 10  # as in the paper
_PHOTOS_EACH = 100
_PERPLEXITY = 30


@dataclass(frozen=True, eq=False)
class Plane:
    """Places ``(n, 2)``, with rows of ``categories`` as labels ``(n,)`` and which of them are photos ``(n,)``."""

    places: NDArray[np.float32]
    labels: NDArray[np.int64]
    are_photos: NDArray[np.bool_]
    categories: tuple[str, ...]


def lay_out(task: Task, codes: Codes, seed: int = 0) -> Plane:
    """Place the codes of the ten categories with the most photos, at most 100 photos of each.

    Between codes of ±1 the squared Euclidean distance is four times Hamming's.
    """
    gallery, queries = task.gallery.label_array, task.queries.label_array
    asked = np.unique(queries)
    counts = (gallery[:, None] == asked).sum(axis=0)
    chosen = np.sort(asked[np.argsort(-counts, kind="stable")][:_CATEGORIES])
    photo_rows = np.concatenate([_evenly(np.flatnonzero(gallery == label)) for label in chosen])
    sketch_rows = np.flatnonzero(np.isin(queries, chosen))
    values = unpack(np.concatenate([codes.gallery[photo_rows], codes.queries[sketch_rows]])).astype(np.float32)
    labels = np.concatenate([gallery[photo_rows], queries[sketch_rows]])

    perplexity = min(_PERPLEXITY, (len(values) - 1) / 3)
    tsne = require("sklearn.manifold", "bench").TSNE(perplexity=perplexity, init="pca", random_state=seed)
    return Plane(
        places=tsne.fit_transform(values),
        labels=np.searchsorted(chosen, labels),
        are_photos=np.arange(len(values)) < len(photo_rows),
        categories=tuple(task.categories[label] for label in chosen),
    )


def _evenly(rows: NDArray[np.intp]) -> NDArray[np.intp]:
    return rows[np.arange(min(_PHOTOS_EACH, len(rows))) * len(rows) // min(_PHOTOS_EACH, len(rows))]
