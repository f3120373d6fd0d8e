"""The paper's Tables 2, 3 and 4 from finished runs, beside the paper's own numbers, and a list of all runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sketchhash.baselines import CATALOGUE, Card, Input, Kind, Reported
from sketchhash.benchmark.comparison.entries import ABLATIONS, DSH, method_names
from sketchhash.benchmark.comparison.grids import Cell, Column, Grid
from sketchhash.benchmark.comparison.records import Record
from sketchhash.evaluation.metrics import BallScore, Scores
from sketchhash.paper import published as paper

_PAPERS_BITS = (32, 64, 128)
_MEGABYTE = 2**20


@dataclass(frozen=True)
class Run:
    """A finished run, and what it scored."""

    record: Record
    scores: Scores

    @property
    def map(self) -> float:
        """Tie-aware mAP@all."""
        return self.scores.mean_average_precision.value

    @property
    def precision(self) -> float:
        """Precision at 200."""
        return self.scores.precision_at_200.value

    @property
    def ball(self) -> BallScore | None:
        """Precision within Hamming radius 2; nothing for real values."""
        return self.scores.radius.precision_within_2 if self.scores.radius else None


class Runs:
    """Finished runs by method and size, in the order of the tables."""

    def __init__(self, runs: Sequence[Run]) -> None:
        """Sort the runs."""
        order = {name: place for place, name in enumerate(method_names())}
        known = (run for run in runs if run.record.method in order)
        self.all = sorted(known, key=lambda run: (order[run.record.method], run.record.size))

    @property
    def hashing(self) -> list[Run]:
        """The runs with binary codes, but for the ablations."""
        return [run for run in self.all if run.scores.radius and run.record.method not in ABLATIONS]

    def of(self, method: str) -> list[Run]:
        """Give the runs of a method, by size."""
        return [run for run in self.all if run.record.method == method]

    def get(self, method: str, size: int) -> Run | None:
        """Give one run, if it is there."""
        return next((run for run in self.of(method) if run.record.size == size), None)


def table_2(runs: Runs) -> Grid:
    """Compare with earlier methods of sketch-based retrieval: quality, time and memory."""
    columns = [Column("method"), Column("dimensions", "d"), *_quality_and_cost("")]
    for gallery in paper.GALLERIES:
        columns += _quality_and_cost(f"{gallery.short}: ")
    rows: list[tuple[Cell, ...]] = []
    for card in CATALOGUE:
        if card.kind in (Kind.HANDCRAFTED, Kind.DEEP):
            rows += (_line_2(card.title, card.name, size, runs, _reported(card)) for size in card.sizes)
    sizes = sorted({*_PAPERS_BITS, *(run.record.size for run in runs.of(DSH))})
    rows += (_line_2("DSH (bits)", DSH, size, runs, _reported(None)) for size in sizes)
    return Grid(
        "table-2",
        "Table 2: earlier methods of sketch-based image retrieval",
        "The first numbers are from this comparison, the others from the paper, on its own galleries "
        f"({', '.join(f'{gallery.name}: {gallery.photos:,} photos' for gallery in paper.GALLERIES)}) and machines. "
        "Memory here is 4 bytes a dimension, in the paper 8; a bit is a bit in both.",
        tuple(columns),
        tuple(rows),
    )


def table_3(runs: Runs) -> Grid:
    """Compare with cross-modality hashing and cross-view feature learning, over code lengths."""
    # As in the paper: within a family, what learns from pictures comes last, and after it what the paper has not.
    cards = sorted(
        (card for card in CATALOGUE if card.kind in (Kind.HASHING, Kind.CROSSVIEW)),
        key=lambda card: (card.tuberlin is None, card.sees is Input.PICTURES),
    )
    lengths = sorted({run.record.size for card in cards if not card.sizes for run in runs.of(card.name)})
    lengths = sorted({*lengths, *(run.record.size for run in runs.of(DSH))}) or list(_PAPERS_BITS)
    columns = [Column("family"), Column("method"), *_qualities("", lengths)]
    for gallery in paper.GALLERIES:
        columns += _qualities(f"{gallery.short}: ", _PAPERS_BITS)
    hashing = (_line_3(card, runs, lengths) for card in cards if card.kind is Kind.HASHING)
    crossview = (_line_3(card, runs, lengths) for card in cards if card.kind is Kind.CROSSVIEW)
    return Grid(
        "table-3",
        "Table 3: cross-modality hashing and cross-view features",
        "The first numbers are from this comparison, the others from the paper, on its own galleries and features. "
        "A method of a fixed dimension has its number in the first column of each group.",
        tuple(columns),
        (*hashing, _line_3(None, runs, lengths), *crossview),
    )


def table_4(runs: Runs) -> Grid:
    """Compare DSH with what is left of it without one component."""
    bits = next((run.record.size for run in runs.all if run.record.method in ABLATIONS), _PAPERS_BITS[-1])
    columns = (
        Column("method"),
        Column(f"mAP ({bits} bits)"),
        *(Column(f"{gallery.short}: mAP (128 bits)") for gallery in paper.GALLERIES),
    )
    lines = [(line, runs.get(line.name, bits)) for line in paper.ABLATIONS] + [(paper.FULL, runs.get(DSH, bits))]
    rows = tuple((line.title, run.map if run else None, *line.mean_average_precision) for line, run in lines)
    note = "The first numbers are from this comparison, the others from the paper."
    return Grid("table-4", "Table 4: components of DSH", note, columns, rows)


def all_runs(runs: Runs) -> Grid:
    """List every run with all that was measured."""
    measured: dict[Column, Callable[[Run], Cell]] = {
        Column("method"): lambda run: run.record.method,
        Column("size", "d"): lambda run: run.record.size,
        Column("mAP"): lambda run: run.map,
        Column("seeded mAP"): lambda run: run.scores.seeded.value,
        Column("optimistic mAP"): lambda run: run.scores.optimistic.value,
        Column("pessimistic mAP"): lambda run: run.scores.pessimistic.value,
        Column("P@200"): lambda run: run.precision,
        Column("HD2 precision"): lambda run: run.ball.value if run.ball else None,
        Column("empty balls"): lambda run: run.ball.empty if run.ball else None,
        Column("learning, s", ".1f"): lambda run: run.record.fit_seconds,
        Column("encoding photos, s", ".1f"): lambda run: run.record.photo_seconds,
        Column("encoding sketches, s", ".1f"): lambda run: run.record.sketch_seconds,
        Column("the whole run, s", ".1f"): lambda run: run.record.seconds,
        Column("query, s", ".3g"): lambda run: run.record.query_seconds,
        Column("memory, MB", ".2f"): lambda run: run.record.gallery_bytes / _MEGABYTE,
    }
    rows = tuple(tuple(measure(run) for measure in measured.values()) for run in runs.all)
    note = (
        "Seeded, optimistic and pessimistic mAP break ties by chance, relevant photos first, and last. Seconds of "
        "learning and encoding leave out what is extracted once for many methods, and what DSH found in its cache; the "
        "whole run has all that it had to do itself."
    )
    return Grid("runs", "All runs", note, tuple(measured), rows)


def _quality_and_cost(whose: str) -> list[Column]:
    return [
        Column(f"{whose}mAP"),
        Column(f"{whose}P@200"),
        Column(f"{whose}query, s", ".3g"),
        Column(f"{whose}memory, MB", ",.2f"),
    ]


def _qualities(whose: str, lengths: Sequence[int]) -> list[Column]:
    return [Column(f"{whose}{metric} {bits}") for metric in ("mAP", "P@200") for bits in lengths]


def _reported(card: Card | None) -> dict[paper.PaperGallery, Reported | None]:
    if card is None:
        return dict(paper.DSH)
    return {paper.TU_BERLIN: card.tuberlin, paper.SKETCHY: card.sketchy}


def _line_2(
    title: str, method: str, size: int, runs: Runs, reported: dict[paper.PaperGallery, Reported | None]
) -> tuple[Cell, ...]:
    run = runs.get(method, size)
    cells: list[Cell] = [title, size]
    if run:
        cells += [run.map, run.precision, run.record.query_seconds, run.record.gallery_bytes / _MEGABYTE]
    else:
        cells += [None] * 4
    for gallery, numbers in reported.items():
        cost = paper.cost(method, size, gallery)
        cells += [
            numbers.mean_average_precision.get(size) if numbers else None,
            numbers.precision_at_200.get(size) if numbers else None,
            cost.seconds if cost else None,
            cost.megabytes if cost else None,
        ]
    return tuple(cells)


def _line_3(card: Card | None, runs: Runs, lengths: Sequence[int]) -> tuple[Cell, ...]:
    """Set a line of a method, or of DSH."""
    method, title, family = (card.name, card.title, card.kind.value) if card else (DSH, "DSH", "proposed")
    fixed = card.sizes if card else ()
    own = {run.record.size: run for run in runs.of(method)}
    if fixed and own:
        title += f" ({own[fixed[0]].record.columns}-d here, {fixed[0]}-d in the paper)"
    elif fixed:
        title += f" ({fixed[0]}-d in the paper)"
    cells: list[Cell] = [family, title]
    cells += _spread({size: run.map for size, run in own.items()}, lengths, fixed)
    cells += _spread({size: run.precision for size, run in own.items()}, lengths, fixed)
    for numbers in _reported(card).values():
        cells += _spread(numbers.mean_average_precision if numbers else {}, _PAPERS_BITS, fixed)
        cells += _spread(numbers.precision_at_200 if numbers else {}, _PAPERS_BITS, fixed)
    return tuple(cells)


def _spread(numbers: Mapping[int, float], lengths: Sequence[int], fixed: Sequence[int]) -> Iterator[Cell]:
    for place, length in enumerate(lengths):
        yield (numbers.get(fixed[0]) if place == 0 else None) if fixed else numbers.get(length)
