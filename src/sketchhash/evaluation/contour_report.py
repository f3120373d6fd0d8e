"""Scores of contour detectors as a table beside published numbers and as curves, and contours to look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.datasets import Dataset, Item, photo_pixels, sketch_ink
from sketchhash.errors import DatasetProblem, require
from sketchhash.evaluation.contours import ContourSummary, Counts, summarise
from sketchhash.files import replacing
from sketchhash.imaging import contact_sheet, shrink
from sketchhash.results import NO_VALUE, compact_json, markdown_table, write_figure
from sketchhash.tokens import Detector, token_map

# ODS, OIS and average precision on the 200 photos of the test split, as far as they were published.
PUBLISHED = {
    "Canny": (0.60, None, None),
    "Sketch Tokens (Lim et al., 2013)": (0.73, 0.75, 0.78),
    "Sketch Tokens, the authors' small forest": (0.721, None, None),
    "HED (Xie and Tu), the authors' weights": (0.79, None, None),
    "people, against each other": (0.80, None, None),
}
_CELL = 128
_WORKING_SIZE = 256  # the longest side at which token maps are made
_COLUMNS = 3


@dataclass(frozen=True)
class DetectorScore:
    """The score of a detector; recall and precision at each threshold, ascending."""

    detector: str
    fingerprint: str
    photos: int
    summary: ContourSummary
    recall: tuple[float, ...]
    precision: tuple[float, ...]

    @classmethod
    def of(cls, detector: str, fingerprint: str, counts: Sequence[Counts]) -> Self:
        """Score a detector by the counts of all photos."""
        total = Counts.total(counts)
        recall, precision = tuple(total.recall.tolist()), tuple(total.precision.tolist())
        return cls(detector, fingerprint, len(counts), summarise(counts), recall, precision)


def detector_table(detectors: Sequence[DetectorScore]) -> str:
    """Return scores beside published ones, as a Markdown table."""
    measured = [
        _table_row(each.detector, each.photos, (each.summary.ods, each.summary.ois, each.summary.average_precision))
        for each in detectors
    ]
    published = [_table_row(f"published: {name}", 200, scores) for name, scores in PUBLISHED.items()]
    return markdown_table(("detector", "photos", "ODS", "OIS", "AP"), [*measured, *published])


def write_scores(detectors: Sequence[DetectorScore], folder: Path) -> None:
    """Write ``scores.json`` and ``precision_recall.png``."""
    with replacing(folder / "scores.json") as file:
        file.write((compact_json({each.detector: asdict(each) for each in detectors}) + "\n").encode())
    draw_curves(detectors, folder / "precision_recall.png")


def draw_curves(detectors: Sequence[DetectorScore], path: Path) -> None:
    """Draw precision over recall, one curve a detector, over faint lines of equal F, as a PNG."""
    require("matplotlib", "bench")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 6), layout="constrained")
    axes = figure.subplots()
    for f in np.arange(1, 10) / 10:
        recall = np.linspace(f / (2 - f), 1, 500)  # where precision comes down to 1
        axes.plot(recall, f * recall / (2 * recall - f), color="tab:green", alpha=0.3, linewidth=0.8)
        axes.text(1.01, f / (2 - f), f"F = {f:.1f}", fontsize=7, color="tab:green", va="center")
    for each in detectors:
        seen = np.array(each.precision) > 0  # above its highest score a detector shows nothing
        label = f"{each.detector}, ODS {each.summary.ods:.3f}"
        axes.plot(np.array(each.recall)[seen], np.array(each.precision)[seen], label=label)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="recall", ylabel="precision", aspect="equal")
    axes.legend(loc="lower left")
    write_figure(path, figure.savefig, dpi=110)


def token_sheet(dataset: Dataset, detector: Detector, count: int) -> NDArray[np.uint8]:
    """Return one picture of ``count`` photos: each with its scores (dark is high), its token map and a sketch.

    Photos are spread over the categories that have sketches too; the sketch is of the photo's category.
    """
    pairs = _pairs(dataset, count)
    captions = [photo.id for photo, _ in pairs]
    rows = [_sheet_row(photo, sketch, detector) for photo, sketch in pairs]
    length = -(-count // _COLUMNS)
    columns = [
        contact_sheet(rows[start : start + length], captions[start : start + length], _CELL)
        for start in range(0, count, length)
    ]
    height = max(len(column) for column in columns)
    padded = [np.pad(c, ((0, height - len(c)), (0, _CELL // 4), (0, 0)), constant_values=255) for c in columns]
    return np.concatenate(padded, axis=1)


def _table_row(name: str, photos: int, scores: Sequence[float | None]) -> list[str]:
    return [name, str(photos), *(NO_VALUE if score is None else f"{score:.3f}" for score in scores)]


def _sheet_row(photo: Item, sketch: Item, detector: Detector) -> list[NDArray[np.uint8]]:
    pixels = shrink(photo_pixels(photo, longest=_WORKING_SIZE), _WORKING_SIZE)
    scores = np.rint(255 - 255 * detector.detect(pixels)).astype(np.uint8)
    return [pixels, scores, token_map(pixels, detector, _CELL), sketch_ink(sketch, _CELL)]


def _pairs(dataset: Dataset, count: int) -> list[tuple[Item, Item]]:
    """Choose photos, and a sketch for each: one a category, evenly over the categories, then a second of each."""
    photos, sketches = _by_label(dataset.photos), _by_label(dataset.sketches)
    labels = sorted(photos.keys() & sketches.keys())
    if not labels:
        raise DatasetProblem(f"{dataset.name} has no category with both sketches and photos to show.")
    chosen = [labels[i * len(labels) // count] for i in range(count)] if len(labels) > count else labels
    pairs = []
    for place in range(count):
        turn, label = place // len(chosen), chosen[place % len(chosen)]
        pairs.append((photos[label][turn % len(photos[label])], sketches[label][turn % len(sketches[label])]))
    return pairs


def _by_label(items: Sequence[Item]) -> dict[int, list[Item]]:
    grouped = defaultdict(list)
    for item in items:
        grouped[item.label].append(item)
    return grouped
