"""Figures 5, 6 and 7: curves of the hashing methods, examples of what sketches find, and codes laid out by t-SNE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines import CATALOGUE
from sketchhash.codes import unpack
from sketchhash.datasets import Dataset, photo_pixels, sketch_ink
from sketchhash.errors import DatasetProblem, require
from sketchhash.imaging import contact_sheet, fit_square
from sketchhash.paper.entries import DSH
from sketchhash.paper.records import CodeSample, Example
from sketchhash.paper.tables import Runs
from sketchhash.results import write_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Picture = NDArray[np.uint8]

_CURVE_BITS = 64  # as in the paper
_STYLE = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "font.size": 9,
    "grid.alpha": 0.3,
    "legend.fontsize": 8,
    "legend.frameon": False,
}
_MARKERS = "osv^D<>Phx"
_PERPLEXITY = 30
_CELL, _FRAME = 72, 3
_FALSE, _TRUE = (220, 20, 30), (255, 255, 255)


def draw_curves(runs: Runs, path: Path) -> int:
    """Draw precision over recall at one code length, and precision within radius 2 over code lengths (Figure 5).

    Draws all methods with binary codes; returns that length: 64 bits as in the paper, or the nearest there is.
    """
    hashing = runs.hashing
    bits = min({run.size for run in hashing}, key=lambda size: (abs(size - _CURVE_BITS), size))
    names = list(dict.fromkeys(run.method for run in hashing))

    def draw(figure: Figure) -> None:
        curves, balls = figure.subplots(1, 2)
        for place, name in enumerate(names):
            look = _look(name, place)
            own = [run for run in hashing if run.method == name]
            for run in own:
                if run.size == bits and (curve := run.scores.radius_curve):
                    curves.plot(curve.recall, curve.precision, **{**look, "marker": ""})
            balls.plot([run.size for run in own], [run.scores.ball.value for run in own if run.scores.ball], **look)
        curves.set(title=f"Precision-recall at {bits} bits", xlabel="recall", ylabel="precision")
        balls.set(title="Precision within Hamming radius 2", xlabel="bits", ylabel="precision")
        balls.set_xticks(sorted({run.size for run in hashing}))
        for axes in (curves, balls):
            axes.set_ylim(-0.02, 1.02)
        figure.legend(*balls.get_legend_handles_labels(), loc="outside right upper")

    _save(draw, path, (10.5, 4))
    return bits


@dataclass(frozen=True, eq=False)
class CodeMap:
    """Codes on a plane: points ``(n, 2)``, their rows of ``categories`` ``(n,)``, and which are photos ``(n,)``."""

    points: NDArray[np.float32]
    labels: NDArray[np.int64]
    are_photos: NDArray[np.bool_]
    categories: tuple[str, ...]


def lay_out(sample: CodeSample, categories: Sequence[str], seed: int = 0) -> CodeMap:
    """Lay out codes by t-SNE (van der Maaten and Hinton, JMLR 2008), photos and sketches together.

    Between codes of ±1 the squared Euclidean distance is four times Hamming's.
    """
    values = unpack(sample.packed).astype(np.float32)
    chosen, labels = np.unique(sample.labels, return_inverse=True)
    perplexity = min(_PERPLEXITY, (len(values) - 1) / 3)
    tsne = require("sklearn.manifold", "bench").TSNE(perplexity=perplexity, init="pca", random_state=seed)
    return CodeMap(
        points=tsne.fit_transform(values),
        labels=labels.astype(np.int64),
        are_photos=np.arange(len(values)) < sample.photos,
        categories=tuple(categories[label] for label in chosen),
    )


def draw_code_map(codes: CodeMap, path: Path) -> None:
    """Draw codes by category, photos and sketches side by side in one frame (Figure 7)."""

    def draw(figure: Figure) -> None:
        panels: Sequence[Axes] = figure.subplots(1, 2, sharex=True, sharey=True)
        views = {"Photos": codes.are_photos, "Query sketches": ~codes.are_photos}
        for axes, (title, shown) in zip(panels, views.items(), strict=True):
            for label, name in enumerate(codes.categories):
                across, up = codes.points[shown & (codes.labels == label)].T
                axes.scatter(across, up, s=8, color=f"C{label}", label=name)
            axes.set(title=title, xticks=[], yticks=[])
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper")

    _save(draw, path, (9.5, 4))


def draw_examples(examples: Sequence[Example], categories: Sequence[str], dataset: Dataset) -> Picture:
    """Return a picture with a row for each query: the sketch, then its photos, wrong ones framed in red (Figure 6)."""
    sketches = {item.id: item for item in dataset.sketches}
    photos = {item.id: item for item in dataset.photos}
    rows, captions = [], []
    try:
        for example in examples:
            pictures = [_framed(_grey(sketch_ink(sketches[example.query], _CELL)), is_false=False)]
            for name, label in zip(example.photos, example.labels, strict=True):
                photo = fit_square(photo_pixels(photos[name], 2 * _CELL), _CELL)
                pictures.append(_framed(photo, is_false=label != example.label))
            right = sum(label == example.label for label in example.labels)
            rows.append(pictures)
            captions.append(f"{categories[example.label]}: {right} of {len(example.labels)}")
    except KeyError as missing:
        raise DatasetProblem(f"{dataset.name} has no {missing}: give the data that the runs were made on.") from missing
    return contact_sheet(rows, captions, _CELL + 2 * _FRAME)


def _look(method: str, place: int) -> dict[str, Any]:
    """Return how a method is drawn: DSH stands out, the others differ by colour and marker."""
    if method == DSH:
        return {"label": "DSH", "color": "black", "linewidth": 2.5, "marker": "*", "markersize": 10}
    title = next(card.title for card in CATALOGUE if card.name == method)
    return {"label": title, "color": f"C{place % 10}", "marker": _MARKERS[place % len(_MARKERS)], "markersize": 5}


def _save(draw: Callable[[Figure], None], path: Path, inches: tuple[float, float]) -> None:
    matplotlib = require("matplotlib", "bench")
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=inches, layout="constrained")
        draw(figure)
        write_figure(path, figure.savefig, dpi=130)


def _framed(picture: Picture, is_false: bool) -> Picture:
    framed = np.empty((_CELL + 2 * _FRAME, _CELL + 2 * _FRAME, 3), dtype=np.uint8)
    framed[:] = _FALSE if is_false else _TRUE
    framed[_FRAME:-_FRAME, _FRAME:-_FRAME] = picture
    return framed


def _grey(ink: Picture) -> Picture:
    return np.repeat(ink[:, :, None], 3, axis=2)
