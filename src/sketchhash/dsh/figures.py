"""A run's objective as a picture."""

from __future__ import annotations

import json
from math import nan
from pathlib import Path

from sketchhash.errors import require

_TERMS = {
    "pairwise": "pairwise, Eq. 1",
    "semantic_photos": "semantic, photos, Eq. 2",
    "semantic_sketches": "semantic, sketches, Eq. 2",
    "basis": "size of the basis, ||D||²",
    "quantisation_photos": "quantisation, photos",
    "quantisation_sketches": "quantisation, sketches",
    "total": "whole objective J, Eq. 4",
}


def draw_log(run: Path) -> Path:
    """Draw every term of the objective over the epochs of a run, from its log, and give the picture's path."""
    require("matplotlib", "train")
    from matplotlib.figure import Figure

    lines = [json.loads(line) for line in (run / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    epochs = [line["epoch"] for line in lines]
    figure = Figure(figsize=(13, 5), layout="constrained")
    *panels, unused = figure.subplots(2, 4).flat
    unused.set_axis_off()
    for axes, (term, title) in zip(panels, _TERMS.items(), strict=True):
        values = [line.get(term, nan) for line in lines]  # a log begun before a term was added has none of it
        axes.plot(epochs, values, marker=".", color="tab:blue")
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("epoch")
        axes.ticklabel_format(axis="y", useOffset=False)
        axes.grid(alpha=0.3)
    path = run / "objective.png"
    figure.savefig(path, dpi=110)
    return path
