"""Virtual photos for categories that have few.

A category with five photos is learned badly, but ImageNet's classifier may know it: the weights with which it scores a
class point to where photos of that class lie among the features of its trunk. From the categories that have photos
enough we learn where the mean of a category's photos lies, given the weights of its classes; for a thin category this
guess and the mean of its few photos are averaged. A virtual photo is that mean plus what tells a real photo of another
category from the mean of its own. In place of contours it has a sketch of its category.

`datasets/lists/imagenet_categories.tsv` says which classes show a category; one that is not in it gets nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import numpy as np
import torch
from numpy.typing import NDArray

from sketchhash.datasets.names import meaning
from sketchhash.dsh.sources import Features

_ENOUGH = 25  # photos of a category whose mean is learned from
_WEIGHT_OF_A_GUESS = 5  # photos that a guessed mean counts as much as
_RIDGE = 0.01  # of the mean variance; chosen by leaving out one category after the other

Rows = NDArray[np.float32]


def imagenet_classes() -> dict[str, list[int]]:
    """Return the ImageNet classes that show a category, by what its name means."""
    lines = (
        (files("sketchhash.datasets") / "lists" / "imagenet_categories.tsv").read_text(encoding="utf-8").splitlines()
    )
    rows = (line.split("\t") for line in lines[1:])
    return {meaning(category): [int(number) for number in classes.split(",")] for category, classes in rows}


def category_weights(categories: Sequence[str], weights: Rows) -> Rows:
    """Average the classifier's ``weights`` (classes, features) of each category's classes; unknown ones get zeros."""
    classes = imagenet_classes()
    known = (classes.get(meaning(category), []) for category in categories)
    return np.stack([weights[rows].mean(axis=0) if rows else np.zeros_like(weights[0]) for rows in known])


def guessed_means(weights: Rows, means: Rows, is_rich: NDArray[np.bool_]) -> Rows:
    """Predict the mean features of each category from its ``weights``, by ridge regression over the rich categories.

    Both are ``(categories, features)``. There are fewer categories than features, so the dual form is solved.
    """
    centre, middle = weights[is_rich].mean(axis=0), means[is_rich].mean(axis=0)
    known, wanted = weights[is_rich] - centre, means[is_rich] - middle
    products = known @ known.T
    ridge = _RIDGE * np.trace(products) / len(products)
    solved = np.linalg.solve(products + ridge * np.eye(len(products), dtype=products.dtype), wanted)
    guesses: Rows = (weights - centre) @ known.T @ solved + middle
    return guesses


def virtual_photos(
    photos: Features,
    labels: NDArray[np.int64],
    weights: Rows,
    fewest: int,
    rng: np.random.Generator,
) -> tuple[Features, NDArray[np.int64]]:
    """Return features of virtual photos, and their labels: categories with ``weights`` then have ``fewest`` in all.

    Args:
        photos: Of real photos, ``(views, n, features)``, none of them negative.
        labels: Of the real photos, ``(n,)``; every category has one.
        weights: As `category_weights` returns them, by label.
        fewest: How many photos a category should have.
        rng: Where the photos come from that lend their differences.
    """
    views = photos.in_memory().numpy()
    counts = np.bincount(labels, minlength=len(weights))
    sums = np.zeros_like(weights)
    np.add.at(sums, labels, views[0])
    means: Rows = (sums / counts[:, None]).astype(np.float32)
    is_known = weights.any(axis=1)
    guesses = guessed_means(weights, means, is_known & (counts >= _ENOUGH))
    share = (counts / (counts + _WEIGHT_OF_A_GUESS))[:, None].astype(np.float32)
    centres = share * means + (1 - share) * guesses
    made = np.repeat(np.arange(len(weights)), np.where(is_known, np.maximum(fewest - counts, 0), 0))
    lenders = rng.integers(0, len(labels), len(made))
    features = np.maximum(centres[made] + views[:, lenders] - means[labels[lenders]], 0).astype(np.float32)
    return Features(torch.from_numpy(features)), made
