"""``sketchhash bench index``: how fast photos are indexed, and how it would go on."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sketchhash.cli.console import print_json, say
from sketchhash.cli.options import ModelFolder


def index(
    model: ModelFolder = None,
    photos: Annotated[
        Path | None,
        typer.Option(metavar="DIR", exists=True, file_okay=False, help="Measure with photos below this folder."),
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="How many different photos.")] = 32,
    count: Annotated[int, typer.Option(min=1, help="How many photos each run indexes.")] = 320,
    workers: Annotated[list[int] | None, typer.Option(min=0, help="Processes; 0: none. May be given again.")] = None,
    seconds: Annotated[float, typer.Option(min=0, help="How long each stage is measured.")] = 2.0,
    recorded: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Measure nothing: print the tables of an earlier --json.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Time indexing by stage and by number of processes, and compute where the writer or the disk is the limit."""
    from sketchhash.benchmark import index_speed
    from sketchhash.benchmark.model_speed import take_samples
    from sketchhash.model.folder import default_model_folder

    if recorded is not None:
        figures = index_speed.IndexingFigures.read(recorded)
    else:
        folder = default_model_folder() if model is None else model
        chosen = take_samples(samples, photos)
        # The writer of a run without workers cannot be told from its readers.
        tried = workers if workers and any(workers) else [*(workers or [0]), 1, 2]
        figures = index_speed.measure(folder, chosen, count, tried, seconds, say)
    if json:
        print_json(asdict(figures))
    else:
        typer.echo(index_speed.page(figures))
