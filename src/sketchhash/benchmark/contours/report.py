"""Judged detectors on paper: a table beside the published numbers, and the curves of precision over recall."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

import numpy as np

from sketchhash.benchmark.contours.counting import Counts
from sketchhash.benchmark.contours.summary import Summary, summarise
from sketchhash.errors import require
from sketchhash.files import replacing


@dataclass(frozen=True)
class Judgement:
    """What came of judging a detector; recall and precision at each threshold, ascending."""

    detector: str
    fingerprint: str
    photos: int
    summary: Summary
    recall: tuple[float, ...]
    precision: tuple[float, ...]

    @classmethod
    def of(cls, detector: str, fingerprint: str, counts: Sequence[Counts]) -> Self:
        """Judge by the counts of all photos."""
        total = Counts.total(counts)
        recall, precision = tuple(total.recall.tolist()), tuple(total.precision.tolist())
        return cls(detector, fingerprint, len(counts), summarise(counts), recall, precision)


# ODS, OIS and average precision on the 200 photos of the test split, as far as they were published.
PUBLISHED = {
    "Canny": (0.60, None, None),
    "Sketch Tokens (Lim et al., 2013)": (0.73, 0.75, 0.78),
    "Sketch Tokens, the authors' small forest": (0.721, None, None),
    "HED (Xie and Tu), the authors' weights": (0.79, None, None),
    "people, against each other": (0.80, None, None),
}


def table(judgements: Sequence[Judgement]) -> str:
    """Set the judgements beside what was published, as a table in Markdown."""
    lines = ["| detector | photos | ODS | OIS | AP |", "|---|---|---|---|---|"]
    for judged in judgements:
        scores = (judged.summary.ods, judged.summary.ois, judged.summary.average_precision)
        lines.append(_row(judged.detector, str(judged.photos), scores))
    lines += [_row(f"published: {name}", "200", scores) for name, scores in PUBLISHED.items()]
    return "\n".join(lines)


def write(judgements: Sequence[Judgement], folder: Path) -> None:
    """Write ``scores.json`` and ``precision_recall.png``."""
    with replacing(folder / "scores.json") as file:
        file.write(json.dumps([asdict(judged) for judged in judgements], indent=2).encode())
    draw_curves(judgements, folder / "precision_recall.png")


def draw_curves(judgements: Sequence[Judgement], path: Path) -> None:
    """Draw precision over recall, one curve a detector, over faint lines of equal F, as a PNG."""
    require("matplotlib", "bench")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 6), layout="constrained")
    axes = figure.subplots()
    for f in np.arange(1, 10) / 10:
        recall = np.linspace(f / (2 - f), 1, 500)  # where precision comes down to 1
        axes.plot(recall, f * recall / (2 * recall - f), color="tab:green", alpha=0.3, linewidth=0.8)
        axes.text(1.01, f / (2 - f), f"F = {f:.1f}", fontsize=7, color="tab:green", va="center")
    for judged in judgements:
        seen = np.array(judged.precision) > 0  # above its highest score a detector shows nothing
        label = f"{judged.detector}, ODS {judged.summary.ods:.3f}"
        axes.plot(np.array(judged.recall)[seen], np.array(judged.precision)[seen], label=label)
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="recall", ylabel="precision", aspect="equal")
    axes.legend(loc="lower left")
    with replacing(path) as file:
        figure.savefig(file, format="png", dpi=110)


def _row(name: str, photos: str, scores: Sequence[float | None]) -> str:
    cells = " | ".join("–" if score is None else f"{score:.3f}" for score in scores)
    return f"| {name} | {photos} | {cells} |"
