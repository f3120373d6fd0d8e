"""The tables of a comparison of heads, and its report; every number comes from the records.

A query's average precision is its mean over the seeds. An interval is of the difference between DSH and another method
on the same queries: the central 95 % of the means of 10,000 resamples of the queries. A star marks an interval without
0; several dozen are shown, so one in twenty would be marked by chance alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines import CATALOGUE, Distance, card_of
from sketchhash.evaluation.metrics import Interval, bootstrap_interval
from sketchhash.files import replacing
from sketchhash.paper.entries import DSH
from sketchhash.paper.heads.records import Choice, HeadExperiment, HeadRecords, HeadRun, HeadScores
from sketchhash.results import NO_VALUE, Cell, Column, Table

_RESAMPLES = 10_000
_SEED = 0
_MAP = "mean_average_precision"

Floats = NDArray[np.float64]


class Heads:
    """Runs by method and size, with their means over seeds.

    A method may have been run with fewer seeds than DSH: then both are compared by the seeds that both have.
    """

    def __init__(self, runs: Sequence[HeadRun]) -> None:
        """Sort the runs, by the order of the catalogue."""
        order = {card.name: place for place, card in enumerate(CATALOGUE)}
        names = sorted({run.method for run in runs}, key=lambda name: order.get(name, len(order)))
        self.methods = names
        self._runs = {run.key: run for run in runs}

    @property
    def galleries(self) -> list[str]:
        """The names of the galleries."""
        return list(next(iter(self._runs.values())).scores)

    @property
    def lengths(self) -> list[int]:
        """The lengths of DSH's codes."""
        return sorted({size for method, size, _ in self._runs if method == DSH})

    def size(self, method: str, length: int) -> int | None:
        """Return the size of a method that stands beside a code length: that length, or its only one."""
        sizes = {size for name, size, _ in self._runs if name == method}
        fixed = () if method == DSH else card_of(method).sizes
        return next(iter(fixed), None) if fixed else (length if length in sizes else None)

    def seeds(self, method: str, size: int) -> set[int]:
        """Return the seeds of a method's finished runs."""
        return {seed for name, its_size, seed in self._runs if (name, its_size) == (method, size)}

    def scores(self, method: str, size: int, gallery: str, seeds: set[int] | None = None) -> list[HeadScores]:
        """Return the scores of some seeds, or of all."""
        chosen = self.seeds(method, size) if seeds is None else seeds
        return [self._runs[method, size, seed].scores[gallery] for seed in sorted(chosen)]

    def mean(self, method: str, size: int | None, gallery: str, what: str) -> float | None:
        """Return the mean of a score over the seeds."""
        if size is None:
            return None
        values = [getattr(score, what) for score in self.scores(method, size, gallery)]
        return None if None in values else float(np.mean(values))

    def queries(self, method: str, size: int, gallery: str, seeds: set[int]) -> Floats:
        """Return each query's average precision, as its mean over some seeds."""
        scores = self.scores(method, size, gallery, seeds)
        found: Floats = np.mean([score.average_precisions for score in scores], axis=0)
        return found

    def lead(self, method: str, length: int, gallery: str) -> tuple[float, Interval] | None:
        """Return by how much DSH is above a method, with an interval."""
        size = self.size(method, length)
        if size is None:
            return None
        shared = self.seeds(DSH, length) & self.seeds(method, size)
        if not shared:
            return None
        differences = self.queries(DSH, length, gallery, shared) - self.queries(method, size, gallery, shared)
        interval = bootstrap_interval(differences, np.random.default_rng(_SEED), _RESAMPLES)
        return float(differences.mean()), interval

    def distance(self, method: str) -> Distance:
        """Return how a method's encodings are compared."""
        return next(run.distance for run in self._runs.values() if run.method == method)


def quality_table(heads: Heads, gallery: str) -> Table:
    """Compare all methods on one gallery: mAP, and what else is measured."""
    lengths = heads.lengths
    columns = [Column("method"), Column("encodings"), Column("seeds", "d")]
    columns += [Column(f"mAP {bits}") for bits in lengths]
    columns += [Column(f"DSH minus it, {bits}") for bits in lengths]
    rows = tuple(_quality_row(heads, method, gallery) for method in heads.methods)
    note = (
        "mAP is tie-aware mAP@all, the mean over the seeds. Then by how much DSH with as many bits is above it, "
        "and the interval of 95 % by bootstrap over the same queries; a star marks an interval without 0. A method of "
        "a fixed dimension has its number in the first column."
    )
    return Table(f"heads-{gallery.replace(' ', '-')}", f"Equal features: {gallery}", note, tuple(columns), rows)


def other_table(heads: Heads, gallery: str) -> Table:
    """List what else is measured on one gallery."""
    measures = {
        "mAP@200": "map_at_200",
        "P@100": "precision_at_100",
        "P@200": "precision_at_200",
        "radius 2": "ball",
        "mAP by values": "by_values",
    }
    lengths = heads.lengths
    columns = [Column("method"), *(Column(f"{name} {bits}") for name in measures for bits in lengths)]
    rows = []
    for method in heads.methods:
        cells: list[Cell] = [title(method)]
        for what in measures.values():
            cells += _spread(heads, method, gallery, what)
        rows.append(tuple(cells))
    note = (
        "mAP@200 is divided by min(relevant photos, 200), P@100 and P@200 always by 100 and 200. Radius 2: precision "
        "within that Hamming distance, an empty ball counting 0. By values: mAP by the cosine of the values before "
        "their signs, which no gallery of codes stores."
    )
    name = f"heads-more-{gallery.replace(' ', '-')}"
    return Table(name, f"Equal features, other measures: {gallery}", note, tuple(columns), tuple(rows))


def choice_table(choices: Mapping[str, Choice]) -> Table:
    """List the settings that each method tried on validation, the one that was taken first."""
    rows = []
    for method, choice in choices.items():
        if not choice.scores:
            rows.append((title(method), choice.bits, "not tuned: as it comes", ""))
            continue
        best = int(np.argmax(choice.scores))
        others = [place for place in range(len(choice.scores)) if place != best]
        texts = [f"{_settings(choice.settings[place])}: {choice.scores[place]:.3f}" for place in (best, *others)]
        rows.append((title(method), choice.bits, texts[0], "; ".join(texts[1:])))
    columns = (Column("method"), Column("size", "d"), Column("taken: validation mAP"), Column("others"))
    note = (
        "A method that was tuned had four settings to choose from, by mAP on the validation part with the first seed."
    )
    return Table("heads-choices", "What was chosen on validation", note, columns, tuple(rows))


def title(method: str) -> str:
    """Return a method's title."""
    return "DSH" if method == DSH else card_of(method).title


def verdict(heads: Heads) -> list[str]:
    """Say for each gallery and length where DSH stands among codes, and beside the best of the others."""
    lines = []
    others = [name for name in heads.methods if name != DSH and heads.distance(name) is Distance.HAMMING]
    for gallery in heads.galleries:
        for bits in heads.lengths:
            means = [(heads.mean(name, heads.size(name, bits), gallery, _MAP), name) for name in others]
            ranked = sorted(((value, name) for value, name in means if value is not None), reverse=True)
            own = heads.mean(DSH, bits, gallery, _MAP)
            if not ranked or own is None:
                continue
            value, best = ranked[0]
            lead = heads.lead(best, bits, gallery)
            if lead is None:
                continue
            place = 1 + sum(other > own for other, _ in ranked)
            lines.append(
                f"{gallery}, {bits} bits: DSH {own:.3f}, {_place(place)} of {len(ranked) + 1} methods with codes; the "
                f"best other, {title(best)}, {value:.3f}: {_difference(lead)}, {_meaning(lead[1])}."
            )
    return lines


def write_heads_report(results: Path, out: Path) -> list[Path]:
    """Write the tables of a comparison of heads, and return the files."""
    records = HeadRecords(results)
    experiment, heads = records.experiment(), Heads(records.runs())
    tables = [table(heads, gallery) for gallery in heads.galleries for table in (quality_table, other_table)]
    if choices := records.choices():
        tables.append(choice_table(choices))
    parts = [f"# Equal features: {experiment.dataset}", *_introduction(experiment)]
    parts += ["\n".join(f"- {line}" for line in verdict(heads))]
    for table in tables:
        parts += [f"## {table.title}", table.note, table.markdown()]
    texts = {"report.md": "\n\n".join(parts) + "\n", **{f"{table.name}.csv": table.csv() for table in tables}}
    out.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        with replacing(out / name) as file:
            file.write(text.encode())
    return [out / name for name in texts]


def _introduction(experiment: HeadExperiment) -> tuple[str, ...]:
    galleries = " and ".join(f"{count:,} {name}" for name, count in experiment.galleries.items())
    of = ""
    if experiment.unseen_categories:
        of = f", all of categories that {'no head was taught' if _model(experiment) else 'no training here saw'}"
    sketches, photos = experiment.validation
    chosen = f"; settings were chosen by {sketches:,} other sketches on {photos:,} other photos" if sketches else ""
    return (
        f"{experiment.queries:,} sketches of {experiment.categories} categories{of} search {galleries}. "
        f"{experiment.training_sketches:,} sketches and {experiment.training_photos:,} photos train{chosen}. "
        f"{len(experiment.splits)} seeds; recipe {experiment.recipe['name']}, data {experiment.data_hash[:12]}, splits "
        f"{', '.join(split[:8] for split in experiment.splits)}, trunk of C2 {experiment.trunks['c2'][:12]}.",
        "Every method learns from the same features of the same pictures. DSH alone also sees the photos' contours.",
        *_doubts(experiment),
    )


def _doubts(experiment: HeadExperiment) -> tuple[str, ...]:
    """Say what trunks may have seen that were not taught here: the records of a model do not tell."""
    if not (model := _model(experiment)):
        return ()
    asked = "categories" if experiment.unseen_categories else "queries"
    return (
        f"C2's trunk comes from a model ({model[:12]}), and saw what that model was taught: these {asked} too, unless "
        "its training kept them out.",
    )


def _model(experiment: HeadExperiment) -> str:
    """Return the fingerprint of the model that C2's trunk comes from; empty if it was taught here."""
    return experiment.trunks.get("model", "")


def _quality_row(heads: Heads, method: str, gallery: str) -> tuple[Cell, ...]:
    cells: list[Cell] = [title(method), "codes" if heads.distance(method) is Distance.HAMMING else "real values"]
    cells.append(min(len(heads.seeds(method, size)) for bits in heads.lengths if (size := heads.size(method, bits))))
    cells += _spread(heads, method, gallery, _MAP)
    for bits in heads.lengths:
        lead = None if method == DSH else heads.lead(method, bits, gallery)
        cells.append(NO_VALUE if lead is None else _difference(lead))
    return tuple(cells)


def _spread(heads: Heads, method: str, gallery: str, what: str) -> list[Cell]:
    fixed = () if method == DSH else card_of(method).sizes
    values: list[Cell] = [heads.mean(method, heads.size(method, bits), gallery, what) for bits in heads.lengths]
    return [values[0], *[None] * (len(values) - 1)] if fixed else values


def _difference(lead: tuple[float, Interval]) -> str:
    value, interval = lead
    star = "*" if interval.low > 0 or interval.high < 0 else ""
    return f"{_signed(value)} [{_signed(interval.low)}, {_signed(interval.high)}]{star}"


def _meaning(interval: Interval) -> str:
    if interval.low > 0:
        return "DSH leads"
    return "DSH is behind" if interval.high < 0 else "no difference that these queries could show"


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def _place(number: int) -> str:
    return {1: "first", 2: "second", 3: "third"}.get(number, f"{number}th")


def _settings(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items()) or "as in the recipe"
