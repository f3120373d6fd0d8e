"""Growing trees: scikit-learn finds the splits, and what detection needs of them is kept.

As in the paper (Lim, Zitnick and Dollár, CVPR 2013, section 2.2.2): every node tries the square root of all
features, drawn for it, and takes the split of least Gini impurity over all classes, tokens and background; no
leaf has fewer than five pixels. The authors grow to the end and then prune smaller leaves; here no split that
would leave one is considered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import require
from sketchhash.tokens.features import FEATURES
from sketchhash.tokens.forest import LEAF, Forest
from sketchhash.tokens.training.sampling import BACKGROUND, Sample

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
