"""``sketchhash benchmark trunks``: Deep Sketch Hashing beside plain methods on the trunks of a run."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sketchhash.cli.console import TrainingProgress, print_json
from sketchhash.cli.options import CacheFolder
from sketchhash.errors import require_torch
from sketchhash.files import user_cache


def trunks(
    run: Annotated[list[Path], typer.Option(metavar="RUN", help="A run's folder; may be given again, for other bits.")],
    data: Annotated[str, typer.Option(metavar="DIR", help="The dataset that the runs were trained on.")],
    photos: Annotated[
        str | None, typer.Option(metavar="DIR", help="Its photos, if they are another dataset's.")
    ] = None,
    also: Annotated[
        list[str] | None, typer.Option(metavar="DIR", help="A dataset that was joined with it; may be given again.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table here too.")] = None,
    cache: CacheFolder = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Fit plain methods to the features that runs have frozen, and score them beside the runs' own codes."""
    require_torch()
    from sketchhash import datasets
    from sketchhash.benchmark import same_trunks
    from sketchhash.dsh import runs
    from sketchhash.dsh.checkpoints import write_text
    from sketchhash.dsh.inputs import NetworkInputs
    from sketchhash.evaluation.settings import EvaluationData

    collections = [datasets.open_dataset(data, photos), *(datasets.open_dataset(more) for more in also or ())]
    dataset = datasets.join(collections)
    progress, lines = TrainingProgress(), []
    for folder in run:
        job, network = runs.reopen(folder, dataset)
        inputs = NetworkInputs(dataset, network, job.recipe, job.seed, cache or user_cache(), progress)
        settings = EvaluationData(collections, job.split).settings()
        with progress.stage(f"{job.bits} bits", len(same_trunks.METHODS) * len(settings)) as advance:
            for line in same_trunks.compare(job, inputs, settings):
                lines.append(line)
                advance()
    table = same_trunks.table(lines)
    if out is not None:
        write_text(out, table + "\n")
    if json:
        print_json([asdict(line) for line in lines])
    else:
        typer.echo(table)
