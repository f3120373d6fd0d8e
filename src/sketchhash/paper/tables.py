"""The paper's Tables 2, 3 and 4 from finished runs, beside the paper's own numbers, and a list of all runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from sketchhash.baselines import CATALOGUE, Card, Input, Kind, Reported
from sketchhash.paper import published
from sketchhash.paper.entries import ABLATIONS, DSH, method_names
from sketchhash.paper.records import RunRecord
from sketchhash.results import Cell, Column, Table

_MEGABYTE = 2**20


class Runs:
    """Finished runs by method and size, in the order of the tables; repeats are left out."""

    def __init__(self, runs: Sequence[RunRecord]) -> None:
        """Sort the runs."""
        order = {name: place for place, name in enumerate(method_names())}
        known = (run for run in runs if run.method in order and not run.repeat)
        self.all = sorted(known, key=lambda run: (order[run.method], run.size))

    @property
    def hashing(self) -> list[RunRecord]:
        """The runs with binary codes, except the ablations."""
        return [run for run in self.all if run.scores.ball and run.method not in ABLATIONS]

    def of(self, method: str) -> list[RunRecord]:
        """Return the runs of a method, by size."""
        return [run for run in self.all if run.method == method]

    def get(self, method: str, size: int) -> RunRecord | None:
        """Return one run, or None if it is not finished."""
        return next((run for run in self.of(method) if run.size == size), None)


def table_2(runs: Runs) -> Table:
    """Compare with earlier methods of sketch-based retrieval: quality, time and memory."""
    columns = [Column("method"), Column("dimensions", "d"), *_quality_and_cost("")]
    for gallery in published.GALLERIES:
        columns += _quality_and_cost(f"{gallery.short}: ")
    rows: list[tuple[Cell, ...]] = []
    for card in CATALOGUE:
        if card.kind in (Kind.HANDCRAFTED, Kind.DEEP):
            rows += (_line_2(card.title, card.name, size, runs, published.reported(card)) for size in card.sizes)
    sizes = sorted({*published.BITS, *(run.size for run in runs.of(DSH))})
    rows += (_line_2("DSH (bits)", DSH, size, runs, published.reported(None)) for size in sizes)
    return Table(
        "table-2",
        "Table 2: earlier methods of sketch-based image retrieval",
        "The first numbers are from this comparison, the others from the paper, on its own galleries "
        f"({', '.join(f'{gallery.name}: {gallery.photos:,} photos' for gallery in published.GALLERIES)}) and machines. "
        "Memory here is 4 bytes a dimension, in the paper 8; a bit is a bit in both.",
        tuple(columns),
        tuple(rows),
    )


def table_3(runs: Runs) -> Table:
    """Compare with cross-modality hashing and cross-view feature learning, over code lengths."""
    # As in the paper: within a family, methods that learn from pictures come last, then those not in the paper.
    cards = sorted(
        (
            card
            for card in CATALOGUE
            # A method that is not in the paper has a line when it was run.
            if card.kind in (Kind.HASHING, Kind.CROSSVIEW) and (card.tuberlin or runs.of(card.name))
        ),
        key=lambda card: (card.tuberlin is None, card.sees is Input.PICTURES),
    )
    lengths = sorted({run.size for card in cards if not card.sizes for run in runs.of(card.name)})
    lengths = sorted({*lengths, *(run.size for run in runs.of(DSH))}) or list(published.BITS)
    columns = [Column("family"), Column("method"), *_qualities("", lengths)]
    for gallery in published.GALLERIES:
        columns += _qualities(f"{gallery.short}: ", published.BITS)
    hashing = (_line_3(card, runs, lengths) for card in cards if card.kind is Kind.HASHING)
    crossview = (_line_3(card, runs, lengths) for card in cards if card.kind is Kind.CROSSVIEW)
    return Table(
        "table-3",
        "Table 3: cross-modality hashing and cross-view features",
        "The first numbers are from this comparison, the others from the paper, on its own galleries and features. "
        "A method of a fixed dimension has its number in the first column of each group.",
        tuple(columns),
        (*hashing, _line_3(None, runs, lengths), *crossview),
    )


def table_4(runs: Runs) -> Table:
    """Compare DSH with what is left of it without one component."""
    bits = next((run.size for run in runs.all if run.method in ABLATIONS), published.BITS[-1])
    columns = (
        Column("method"),
        Column(f"mAP ({bits} bits)"),
        *(Column(f"{gallery.short}: mAP (128 bits)") for gallery in published.GALLERIES),
    )
    lines = [
        *((line, runs.get(line.name, bits)) for line in published.ABLATIONS),
        (published.FULL, runs.get(DSH, bits)),
    ]
    rows = tuple(
        (line.title, run.scores.mean_average_precision if run else None, *line.mean_average_precision)
        for line, run in lines
    )
    note = "The first numbers are from this comparison, the others from the paper."
    return Table("table-4", "Table 4: components of DSH", note, columns, rows)


def all_runs(runs: Runs) -> Table:
    """List every run with all that was measured."""
    measured: dict[Column, Callable[[RunRecord], Cell]] = {
        Column("method"): lambda run: run.method,
        Column("size", "d"): lambda run: run.size,
        Column("mAP"): lambda run: run.scores.mean_average_precision,
        Column("seeded mAP"): lambda run: run.scores.seeded,
        Column("optimistic mAP"): lambda run: run.scores.optimistic,
        Column("pessimistic mAP"): lambda run: run.scores.pessimistic,
        Column("P@200"): lambda run: run.scores.precision_at_200,
        Column("HD2 precision"): lambda run: run.scores.ball.value if run.scores.ball else None,
        Column("empty balls"): lambda run: run.scores.ball.empty if run.scores.ball else None,
        Column("learning, s", ".1f"): lambda run: run.fit_seconds,
        Column("encoding photos, s", ".1f"): lambda run: run.photo_seconds,
        Column("encoding sketches, s", ".1f"): lambda run: run.sketch_seconds,
        Column("the whole run, s", ".1f"): lambda run: run.seconds,
        Column("query, s", ".3g"): lambda run: run.query_seconds,
        Column("memory, MB", ".2f"): lambda run: run.gallery_bytes / _MEGABYTE,
    }
    rows = tuple(tuple(measure(run) for measure in measured.values()) for run in runs.all)
    note = (
        "Seeded, optimistic and pessimistic mAP break ties by chance, relevant photos first, and last. Seconds of "
        "learning and encoding leave out what is extracted once for many methods, and what DSH found in its cache; the "
        "whole run has all that it had to do itself."
    )
    return Table("runs", "All runs", note, tuple(measured), rows)


def _quality_and_cost(whose: str) -> list[Column]:
    return [
        Column(f"{whose}mAP"),
        Column(f"{whose}P@200"),
        Column(f"{whose}query, s", ".3g"),
        Column(f"{whose}memory, MB", ",.2f"),
    ]


def _qualities(whose: str, lengths: Sequence[int]) -> list[Column]:
    return [Column(f"{whose}{metric} {bits}") for metric in ("mAP", "P@200") for bits in lengths]


def _line_2(
    title: str, method: str, size: int, runs: Runs, reported: Mapping[published.PaperGallery, Reported | None]
) -> tuple[Cell, ...]:
    run = runs.get(method, size)
    cells: list[Cell] = [title, size]
    if run:
        scores = run.scores
        memory = run.gallery_bytes / _MEGABYTE
        cells += [scores.mean_average_precision, scores.precision_at_200, run.query_seconds, memory]
    else:
        cells += [None] * 4
    for gallery, numbers in reported.items():
        cost = published.cost(method, size, gallery)
        cells += [
            numbers.mean_average_precision.get(size) if numbers else None,
            numbers.precision_at_200.get(size) if numbers else None,
            cost.seconds if cost else None,
            cost.megabytes if cost else None,
        ]
    return tuple(cells)


def _line_3(card: Card | None, runs: Runs, lengths: Sequence[int]) -> tuple[Cell, ...]:
    """Return the line of a method, or of DSH without a card."""
    method, title, family = (card.name, card.title, card.kind.value) if card else (DSH, "DSH", "proposed")
    fixed = card.sizes if card else ()
    own = {run.size: run for run in runs.of(method)}
    if fixed and own:
        title += f" ({own[fixed[0]].columns}-d here, {fixed[0]}-d in the paper)"
    elif fixed:
        title += f" ({fixed[0]}-d in the paper)"
    cells: list[Cell] = [family, title]
    cells += _spread({size: run.scores.mean_average_precision for size, run in own.items()}, lengths, fixed)
    cells += _spread({size: run.scores.precision_at_200 for size, run in own.items()}, lengths, fixed)
    for numbers in published.reported(card).values():
        cells += _spread(numbers.mean_average_precision if numbers else {}, published.BITS, fixed)
        cells += _spread(numbers.precision_at_200 if numbers else {}, published.BITS, fixed)
    return tuple(cells)


def _spread(numbers: Mapping[int, float], lengths: Sequence[int], fixed: Sequence[int]) -> Iterator[Cell]:
    for place, length in enumerate(lengths):
        yield (numbers.get(fixed[0]) if place == 0 else None) if fixed else numbers.get(length)
