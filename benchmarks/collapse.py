"""What the objective asks of codes when W = ±1 as published: the smallest cost there is, and where Algorithm 1 ends.

    python benchmarks/collapse.py --out results/collapse.json --figure docs/collapse.png

docs/collapse.md proves the bound.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from sketchhash.dsh.discrete import random_codes, solve_basis, update_codes
from sketchhash.dsh.objective import Problem, Samples, objective, orthogonal_similarity, paper_similarity
from sketchhash.results import markdown_table
from timing import RecordFile, finish, run, say

PAPER, FEASIBLE = "as published", "that can be met"
SMALL = [(3, 4), (4, 4), (5, 3), (6, 3), (7, 2), (8, 2), (9, 2)]
CATEGORIES = (2, 3, 4, 5, 6, 7, 8, 10, 15, 20, 40, 80, 125, 250)
BITS = 64
EACH = 20  # photos of a category, and sketches
EPOCHS = 15
SEEDS = 5


@dataclass(frozen=True)
class Smallest:
    """The smallest cost over all codes of a small problem, in units of m²."""

    categories: int
    bits: int
    cost: float


def lower_bound(categories: int) -> float:
    """Return what Eq. 1 costs at least, in units of m²·n₁n₂/C²."""
    return 4 * (categories - 2) ** 2 / categories


def best_products(categories: int) -> tuple[float, float]:
    """Return the bound's inner products within and across categories, in units of m."""
    share = 1 - 2 / categories
    return 1 - 2 * share**2, -1 + 4 * share / categories


def smallest(categories: int, bits: int) -> Smallest:
    """Search all codes of one photo and one sketch a category; given the photos, each sketch is searched on its own."""
    codes = np.array(list(itertools.product((-1, 1), repeat=bits)))
    wanted = bits * paper_similarity(categories)
    least = np.inf
    # The first photo may keep its code: a bit that is flipped everywhere changes nothing.
    for rest in itertools.combinations_with_replacement(range(len(codes)), categories - 1):
        photos = codes[[len(codes) - 1, *rest]]
        costs = ((wanted[:, :, None] - (photos @ codes.T)[:, None, :]) ** 2).sum(axis=0)
        least = min(least, costs.min(axis=1).sum())
    return Smallest(categories, bits, float(least) / bits**2)


@dataclass(frozen=True)
class End:
    """Where Algorithm 1's code steps end, from random codes."""

    similarity: str
    categories: int
    seed: int
    cost: float
    within: float
    across: float
    distinct_photo_codes: int


def descend(name: str, categories: int, seed: int) -> End:
    """Take B^I and B^S in turn, as the paper's weights leave them: words and networks say nothing."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(categories), EACH)
    similarity = paper_similarity(categories) if name == PAPER else orthogonal_similarity(categories, BITS)
    problem = Problem(np.zeros((categories, 1)), similarity, semantic_weight=0.0, quantisation_weight=0.0)
    photos, sketches = (
        Samples(labels, random_codes(len(labels), BITS, rng), np.zeros((len(labels), BITS))) for _ in range(2)
    )
    for _ in range(EPOCHS):
        basis = solve_basis(problem, photos, sketches)
        photos = update_codes(problem, photos, sketches, basis)
        sketches = update_codes(problem, sketches, photos, basis)
    products = (photos.codes.astype(int) @ sketches.codes.T.astype(int)) / BITS
    same = labels[:, None] == labels
    cost = objective(problem, photos, sketches, solve_basis(problem, photos, sketches)).pairwise / (BITS * EACH) ** 2
    return End(
        similarity=name,
        categories=categories,
        seed=seed,
        cost=float(cost),
        within=float(products[same].mean()),
        across=float(products[~same].mean()),
        distinct_photo_codes=len(np.unique(photos.codes, axis=0)),
    )


def draw(all_ends: Sequence[End], path: Path) -> None:
    """Plot products and distinct codes over the number of categories."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
    line = range(3, 251)
    bound = np.array([best_products(count) for count in line])
    left.plot(line, bound[:, 0], color="tab:blue", label="same category, best possible")
    left.plot(line, bound[:, 1], color="tab:red", label="other categories, best possible")
    papers = [one for one in all_ends if one.similarity == PAPER]
    counts = [one.categories for one in papers]
    left.plot(counts, [one.within for one in papers], "x", color="tab:blue", label="same category, Algorithm 1")
    left.plot(counts, [one.across for one in papers], "+", color="tab:red", label="other categories, Algorithm 1")
    left.set(xscale="log", xlabel="categories", ylabel="mean inner product of photo and sketch / m", ylim=(-1.05, 1.05))
    left.legend(fontsize=8)
    for name, colour in ((PAPER, "tab:red"), (FEASIBLE, "tab:green")):
        ends = [one for one in all_ends if one.similarity == name]
        right.plot([one.categories for one in ends], [one.distinct_photo_codes for one in ends], ".", color=colour)
    right.plot([], [], ".", color="tab:red", label="W = ±1, as published")
    right.plot([], [], ".", color="tab:green", label="S that can be met (recipe tuned)")
    right.plot(CATEGORIES, CATEGORIES, color="grey", linewidth=0.8, label="one code a category")
    right.set(xscale="log", yscale="log", xlabel="categories", ylabel="distinct photo codes")
    right.legend(fontsize=8)
    figure.savefig(path, dpi=110)


def page(whole: Sequence[Smallest], all_ends: Sequence[End]) -> str:
    """Write both tables."""
    small = [
        [one.categories, one.bits, f"{one.cost:.2f}", f"{lower_bound(one.categories):.2f}", 4 * one.categories]
        for one in whole
    ]
    large = []
    for (name, count), group in itertools.groupby(all_ends, lambda end: (end.similarity, end.categories)):
        ends = list(group)
        cost, within, across = np.mean([(end.cost, end.within, end.across) for end in ends], axis=0)
        bound = f"{lower_bound(count):.1f}" if name == PAPER else ""
        codes = ", ".join(str(end.distinct_photo_codes) for end in ends)
        large.append([name, count, f"{cost:.1f}", bound, f"{within:+.3f}", f"{across:+.3f}", codes])
    searched = markdown_table(["categories", "bits", "smallest cost", "bound", "all photos on one code"], small)
    titles = ["similarity", "categories", "cost", "bound", "same category", "others", "distinct photo codes"]
    return f"{searched}\n\n{markdown_table(titles, large)}"


def main(
    out: RecordFile = None,
    figure: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the figure here.")] = None,
) -> None:
    """Search small problems whole, and let Algorithm 1's code steps descend in large ones."""
    whole = [smallest(categories, bits) for categories, bits in SMALL]
    all_ends = []
    for name, categories in itertools.product((PAPER, FEASIBLE), CATEGORIES):
        say(f"{name}: {categories} categories")
        all_ends += [descend(name, categories, seed) for seed in range(SEEDS)]
    if figure is not None:
        draw(all_ends, figure)
    measured = {
        "bits": BITS,
        "each": EACH,
        "epochs": EPOCHS,
        "whole": [asdict(one) for one in whole],
        "ends": [asdict(end) for end in all_ends],
    }
    finish(page(whole, all_ends), measured, out)


if __name__ == "__main__":
    run(main)
