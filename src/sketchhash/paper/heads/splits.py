"""Who trains, who is asked and who is searched when heads are compared.

Trunks that were taught on sketches must not have seen the queries. So queries come from the sketches that a split
kept out when the trunks were taught; some of each category are for validation, and the others are asked once, at the
end. They are the same whatever the seed: the seed draws which photos are kept out and are searched, and every other
random number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sketchhash.datasets import (
    Dataset,
    Split,
    draw_split,
    draw_zero_shot_split,
    with_validation,
    zero_shot_categories,
)
from sketchhash.datasets.names import fold
from sketchhash.errors import BadArgument, SplitProblem

UNSEEN_SHARE = 0.2
VALIDATION_PHOTOS = 10  # of a category at most, and at most a fifth of those that would train


def draw_head_split(dataset: Dataset, kept_out: Split, validation: int, seed: int) -> Split:
    """Keep out a fifth of the photos by ``seed``, and divide the sketches that are kept out already.

    Args:
        dataset: What is divided.
        kept_out: Its query sketches are those that the trunks have not seen.
        validation: How many of them of each category are for validation.
        seed: Draws the photos.
    """
    pool: dict[int, list[str]] = defaultdict(list)
    names = set(kept_out.query_sketches)
    for sketch in dataset.sketches:
        if sketch.id in names:
            pool[sketch.label].append(sketch.id)
    if not 0 < validation < min(map(len, pool.values()), default=0):
        raise BadArgument(f"{validation} validation sketches of a category leave no query, or are none.")
    rng = np.random.default_rng(0)
    shuffled = [[ids[row] for row in rng.permutation(len(ids))] for _, ids in sorted(pool.items())]
    aside = tuple(sorted(name for ids in shuffled for name in ids[:validation]))
    queries = tuple(sorted(name for ids in shuffled for name in ids[validation:]))
    drawn = draw_split(dataset, kept_out.queries_per_category, seed, UNSEEN_SHARE)
    # The photos are drawn with all of the pool as queries, so that none of it trains; then the pool is divided.
    whole = with_validation(replace(drawn, query_sketches=kept_out.query_sketches), dataset, VALIDATION_PHOTOS)
    return replace(
        whole,
        queries_per_category=kept_out.queries_per_category - validation,
        query_sketches=queries,
        validation_per_category=validation,
        validation_sketches=aside,
    )


def listed_categories(dataset: Dataset, list_name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the categories of a published list that a dataset has, and those that it does not have.

    Raises:
        SplitProblem: If it has none of them.
    """
    there = {fold(category) for category in dataset.categories}
    listed = zero_shot_categories(list_name)
    found = tuple(category for category in listed if fold(category) in there)
    if not found:
        raise SplitProblem(f"{dataset.name} has no category of the list {list_name}, such as {listed[0]!r}.")
    return found, tuple(category for category in listed if category not in found)


def draw_unseen_split(dataset: Dataset, unseen: Iterable[str]) -> Split:
    """Keep out whole categories: all their sketches are queries, and all their photos are searched."""
    return draw_zero_shot_split(dataset, unseen)
