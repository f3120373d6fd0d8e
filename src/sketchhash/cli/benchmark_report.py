"""``sketchhash benchmark report``: the paper's tables and figures from finished runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sketchhash.cli.benchmark_run import RESULTS
from sketchhash.cli.console import say


def report(
    results: Annotated[Path, typer.Option(help="The folder that 'benchmark run' filled.")] = RESULTS,
    out: Annotated[Path | None, typer.Option(help="Where to write.  [default: RESULTS/report]")] = None,
    data: Annotated[str | None, typer.Option(metavar="DIR", help="The runs' dataset, to show photos.")] = None,
    photos: Annotated[str | None, typer.Option(metavar="DIR", help="Where its photos were taken from.")] = None,
    without_photos: Annotated[
        bool, typer.Option("--without-photos", help="Leave out Figure 6, which shows photos.")
    ] = False,
) -> None:
    """Write the tables beside the paper's numbers, the figures and a page; photos go to a folder of their own."""
    from sketchhash import datasets
    from sketchhash.benchmark.comparison.report import write_report

    if not without_photos and data is None:
        say("Figure 6 shows photos and is left out: give their dataset with --data to have it.")
    shown = None if without_photos or data is None else datasets.open_dataset(data, photos)
    for path in write_report(results, out or results / "report", shown):
        typer.echo(path)
