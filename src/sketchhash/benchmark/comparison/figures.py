"""Figures 5 and 7 as pictures: curves of the hashing methods, and codes laid out on a plane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sketchhash.baselines import CATALOGUE
from sketchhash.benchmark.comparison.entries import DSH
from sketchhash.benchmark.comparison.plane import Plane
from sketchhash.benchmark.comparison.tables import Runs
from sketchhash.errors import require
from sketchhash.files import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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


def draw_curves(runs: Runs, path: Path) -> int:
    """Draw precision over recall at one code length, and precision within radius 2 over code lengths (Figure 5).

    Of all methods with binary codes; gives that length: 64 bits as in the paper, or the nearest there is.
    """
    hashing = runs.hashing
    bits = min({run.record.size for run in hashing}, key=lambda size: (abs(size - _CURVE_BITS), size))
    names = list(dict.fromkeys(run.record.method for run in hashing))

    def draw(figure: Figure) -> None:
        curves, balls = figure.subplots(1, 2)
        for place, name in enumerate(names):
            look = _look(name, place)
            own = [(run, run.scores.radius) for run in hashing if run.record.method == name and run.scores.radius]
            for run, radius in own:
                if run.record.size == bits:
                    curves.plot(radius.pooled_curve.recall, radius.pooled_curve.precision, **{**look, "marker": ""})
            balls.plot([run.record.size for run, _ in own], [r.precision_within_2.value for _, r in own], **look)
        curves.set(title=f"Precision-recall at {bits} bits", xlabel="recall", ylabel="precision")
        balls.set(title="Precision within Hamming radius 2", xlabel="bits", ylabel="precision")
        balls.set_xticks(sorted({run.record.size for run in hashing}))
        for axes in (curves, balls):
            axes.set_ylim(-0.02, 1.02)
        figure.legend(*balls.get_legend_handles_labels(), loc="outside right upper")

    _save(draw, path, (10.5, 4))
    return bits


def draw_plane(plane: Plane, path: Path) -> None:
    """Draw codes by category, photos and sketches side by side in one frame (Figure 7)."""

    def draw(figure: Figure) -> None:
        panels: Sequence[Axes] = figure.subplots(1, 2, sharex=True, sharey=True)
        views = {"Photos": plane.are_photos, "Sketches that ask": ~plane.are_photos}
        for axes, (title, shown) in zip(panels, views.items(), strict=True):
            for label, name in enumerate(plane.categories):
                across, up = plane.places[shown & (plane.labels == label)].T
                axes.scatter(across, up, s=8, color=f"C{label}", label=name)
            axes.set(title=title, xticks=[], yticks=[])
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper")

    _save(draw, path, (9.5, 4))


def _look(method: str, place: int) -> dict[str, Any]:
    """Draw DSH so that it stands out, and the others told apart by colour and marker."""
    if method == DSH:
        return {"label": "DSH", "color": "black", "linewidth": 2.5, "marker": "*", "markersize": 10}
    title = next(card.title for card in CATALOGUE if card.name == method)
    return {"label": title, "color": f"C{place % 10}", "marker": _MARKERS[place % len(_MARKERS)], "markersize": 5}


def _save(draw: Callable[[Figure], None], path: Path, inches: tuple[float, float]) -> None:
    matplotlib = require("matplotlib", "bench")
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE), replacing(path) as file:
        figure = Figure(figsize=inches, layout="constrained")
        draw(figure)
        figure.savefig(file, format="png", dpi=130)
