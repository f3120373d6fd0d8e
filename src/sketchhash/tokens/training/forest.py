"""Training a forest: from traced photos to trees, in a work folder from which a stopped run goes on.

    WORK/<fingerprint>/classes.npz      the token classes
    WORK/<fingerprint>/tree-00.npz …    a forest of one tree each, complete or not there

The fingerprint is of the photos, the preset and the seed, so different runs never share files. Each tree draws
from a generator of its own, seeded by the run's seed and its number: it comes out the same whatever was grown
before it.

scikit-learn finds the splits, and only what detection needs is kept. As in the paper (Lim, Zitnick and Dollár, CVPR
2013, section 2.2.2), every node tries the square root of all features, drawn for it, and takes the split of least
Gini impurity over all classes, tokens and background; no leaf has fewer than five pixels. The authors grow to the end
and then prune smaller leaves; here no split that would leave one is considered.
"""

from __future__ import annotations

import hashlib
import math
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from multiprocessing.pool import ThreadPool
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import DamagedState, NotFitted, require
from sketchhash.files import replacing
from sketchhash.tokens.channels import FEATURES
from sketchhash.tokens.sketch_tokens import LEAF, Forest
from sketchhash.tokens.training.bsds import TracedPhoto
from sketchhash.tokens.training.samples import (
    BACKGROUND,
    Preset,
    Sample,
    TokenClasses,
    draw_pixels,
    find_classes,
    measure,
)

_TRIED_FEATURES = round(math.sqrt(FEATURES))
_FEWEST_PIXELS = 5


def grow(sample: Sample, rng: np.random.Generator) -> Forest:
    """Grow a forest of one tree."""
    tree = require("sklearn.tree", "train")
    classifier = tree.DecisionTreeClassifier(
        criterion="gini",
        max_features=min(_TRIED_FEATURES, len(sample.features)),
        min_samples_leaf=_FEWEST_PIXELS,
        random_state=int(rng.integers(2**31)),
    )
    classifier.fit(sample.values, sample.classes)
    background = np.flatnonzero(classifier.classes_ == BACKGROUND)
    return _convert(classifier.tree_, sample.features, background)


def join(trees: Sequence[Forest]) -> Forest:
    """Put the trees of several forests into one, in their order."""
    starts = np.cumsum([0, *(len(tree.left) for tree in trees[:-1])], dtype=np.int32)
    lefts = [np.where(tree.left == LEAF, LEAF, tree.left + start) for tree, start in zip(trees, starts, strict=True)]
    return Forest(
        roots=np.concatenate([tree.roots + start for tree, start in zip(trees, starts, strict=True)]),
        feature=np.concatenate([tree.feature for tree in trees]),
        threshold=np.concatenate([tree.threshold for tree in trees]),
        left=np.concatenate(lefts),
        contour=np.concatenate([tree.contour for tree in trees]),
    )


_VERSION = 1  # raise whenever training would grow another forest from the same photos, preset and seed
_CLASSES, _TREES = 0, 1  # streams of random numbers of one seed


@dataclass(frozen=True, eq=False)
class ForestTrainer:
    """Grows the trees of one forest; trainers of other photos, presets and seeds may share the ``work`` folder."""

    photos: Sequence[TracedPhoto]
    preset: Preset
    seed: int
    work: Path

    @cached_property
    def folder(self) -> Path:
        """The folder of finished classes and trees."""
        content = hashlib.sha256(repr((_VERSION, self.preset, self.seed)).encode())
        for traced in self.photos:
            content.update(repr((traced.photo.shape, traced.contours.shape)).encode())
            content.update(traced.photo.tobytes())
            content.update(np.packbits(traced.contours).tobytes())
        return self.work / content.hexdigest()[:16]

    def find_classes(self, advance: Callable[[], None] = lambda: None) -> TokenClasses:
        """Return the token classes, read if they were found before; ``advance`` is called after each photo."""
        path = self.folder / "classes.npz"
        if path.exists():
            return _read_classes(path)
        found = find_classes(self.photos, self.preset, np.random.default_rng((self.seed, _CLASSES)), advance)
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            np.savez_compressed(file, **vars(found))
        return found

    def missing_trees(self) -> list[int]:
        """Return the numbers of the trees that are still to be grown."""
        return [number for number in range(self.preset.trees) if not self._path(number).exists()]

    def grow(self, jobs: int = 1) -> Iterator[int]:
        """Grow the missing trees, and yield the number of each once it is on disk.

        They grow in threads, because scikit-learn releases the GIL. An interrupt stops them at once, and only the
        trees that were growing are lost.

        Args:
            jobs: Trees to grow at the same time, each with the memory of its own sample.
        """
        found = self.find_classes()
        with ThreadPool(jobs) as threads:
            yield from threads.imap_unordered(partial(self._grow, found), self.missing_trees())

    def forest(self) -> Forest:
        """Join the trees of a finished run.

        Raises:
            NotFitted: If trees are missing.
        """
        if missing := self.missing_trees():
            raise NotFitted(f"{len(missing)} of {self.preset.trees} trees are still to be grown: call grow first.")
        return join([Forest.load(self._path(number)) for number in range(self.preset.trees)])

    def _path(self, number: int) -> Path:
        return self.folder / f"tree-{number:02}.npz"

    def _grow(self, found: TokenClasses, number: int) -> int:
        rng = np.random.default_rng((self.seed, _TREES, number))
        pixels = draw_pixels(self.photos, found, self.preset, rng)
        tree = grow(measure(self.photos, pixels, self.preset, rng), rng)
        tree.save(self._path(number))
        return number


def _convert(tree: Any, features: NDArray[np.int32], background: NDArray[np.intp]) -> Forest:  # noqa: ANN401
    """Renumber scikit-learn's nodes level by level, so that siblings lie side by side and after their parent."""
    level = np.zeros(1, dtype=np.intp)
    levels = []
    while len(level):
        levels.append(level)
        inner = level[tree.children_left[level] != LEAF]
        level = np.stack((tree.children_left[inner], tree.children_right[inner]), axis=1).ravel()
    order = np.concatenate(levels)

    is_inner = tree.children_left[order] != LEAF
    inner = order[is_inner]
    left = np.full(len(order), LEAF, dtype=np.int32)
    left[is_inner] = 1 + 2 * np.arange(len(inner))
    feature = np.zeros(len(order), dtype=np.int32)
    feature[is_inner] = features[tree.feature[inner]]
    threshold = np.zeros(len(order), dtype=np.float32)
    threshold[is_inner] = _strict(tree.threshold[inner])
    contour = 1 - tree.value[order, 0][:, background].sum(axis=1)
    return Forest(
        roots=np.zeros(1, dtype=np.int32),
        feature=feature,
        threshold=threshold,
        left=left,
        contour=contour.astype(np.float32).clip(0, 1),  # shares add up to 1 but for rounding
    )


def _strict(threshold: NDArray[np.float64]) -> NDArray[np.float32]:
    """Turn scikit-learn's ``x <= threshold`` into our ``x < threshold``: the same answer for every float32 x."""
    nearest = threshold.astype(np.float32)
    return np.where(nearest > threshold, nearest, np.nextafter(nearest, np.float32(np.inf)))


def _read_classes(path: Path) -> TokenClasses:
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            return TokenClasses(arrays["places"], arrays["tokens"], arrays["pictures"])
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error) as problem:
        raise DamagedState(f"{path} cannot be read: remove it to find the token classes anew.") from problem
