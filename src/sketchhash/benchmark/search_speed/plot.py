"""The run as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sketchhash.benchmark.search_speed.comparison import Comparison
from sketchhash.errors import require


def plot(comparisons: Sequence[Comparison], path: Path) -> None:
    """Draw the median time of one query over the size of the gallery: a row a kind of codes, a column a width."""
    require("matplotlib", "bench")
    from matplotlib.figure import Figure

    kinds = list(dict.fromkeys(comparison.kind for comparison in comparisons))
    widths = sorted({comparison.bits for comparison in comparisons})
    figure = Figure(figsize=(4 * len(widths), 3.5 * len(kinds)), layout="constrained")
    panels = figure.subplots(len(kinds), len(widths), sharex=True, sharey=True, squeeze=False)
    for kind, row in zip(kinds, panels, strict=True):
        for bits, panel in zip(widths, row, strict=True):
            some = sorted((c for c in comparisons if (c.kind, c.bits) == (kind, bits)), key=lambda c: c.size)
            sizes = [comparison.size for comparison in some]
            panel.loglog(sizes, [1000 * c.read.p50 for c in some], "k--", label="read")
            for name in dict.fromkeys(result.engine for c in some for result in c.results):
                points = [(c.size, 1000 * result.one.p50) for c in some if (result := c.result(name))]
                panel.loglog(*zip(*points, strict=True), "o-", label=name)
            panel.set_title(f"{kind} codes, {bits} bits")
            panel.grid(alpha=0.3)
    for panel in panels[-1]:
        panel.set_xlabel("codes")
    for panel in panels[:, 0]:
        panel.set_ylabel("ms for one query, median")
    panels[0, 0].legend()
    figure.savefig(path, dpi=120)
