"""``sketchhash bench model``: how fast and how large a model folder is."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import print_json, progress, say
from sketchhash.cli.options import ModelFolder
from sketchhash.cli.train import prepare_torch

if TYPE_CHECKING:
    from sketchhash.benchmark.model_speed import PeerFigures

_SERVED_SECONDS = 5.0


def model(
    model: ModelFolder = None,
    photos: Annotated[
        Path | None,
        typer.Option(metavar="DIR", exists=True, file_okay=False, help="Time with photos below this folder."),
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="How many different sketches and photos.")] = 32,
    seconds: Annotated[float, typer.Option(min=0, help="How long each number is measured.")] = 2.0,
    codes: Annotated[int, typer.Option(min=1, max=10_000_000, help="Codes in the gallery that is served.")] = 1_000_000,
    run: Annotated[
        Path | None, typer.Option(metavar="RUN", help="A run's folder: compare number formats, and PyTorch.")
    ] = None,
    data: Annotated[str | None, typer.Option(metavar="DIR", help="The dataset that run was trained on.")] = None,
    data_photos: Annotated[
        str | None, typer.Option(metavar="DIR", help="Its photos, if they are another dataset's.")
    ] = None,
    also: Annotated[
        list[str] | None, typer.Option(metavar="DIR", help="A dataset that was joined with it; may be given again.")
    ] = None,
    most: Annotated[int, typer.Option(min=1, help="Photos a category for the mAP of number formats.")] = 20,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the tables here too.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure a model folder: bytes, milliseconds by stage, photos a second, memory, and number formats."""
    from sketchhash.benchmark import model_speed
    from sketchhash.errors import BadArgument
    from sketchhash.files import replacing
    from sketchhash.model.folder import default_model_folder

    if (run is None) != (data is None):
        raise BadArgument("--run and --data go together: the run's networks are measured on its data.")
    folder = default_model_folder() if model is None else model
    say("Timing the stages ...")
    speed = model_speed.measure(folder, model_speed.take_samples(samples, photos), seconds)
    say(f"Serving {codes:,} random codes ...")
    service = model_speed.serve_random_codes(folder, codes, min(_SERVED_SECONDS, 1 + seconds))
    memory = model_speed.Memory(model_speed.bare_bytes(), model_speed.model_bytes(folder))
    report = model_speed.Report(speed, memory, service)
    if run is not None and data is not None:
        torch_bytes, peers = _compare(run, [data, *(also or ())], data_photos, most, seconds)
        report = replace(report, memory=replace(memory, torch=torch_bytes), peers=tuple(peers))
    if out is not None:
        with replacing(out) as file:
            file.write(report.page().encode())
    if json:
        print_json(asdict(report))
    else:
        typer.echo(report.page(), nl=False)


def _compare(
    run: Path, data: list[str], photos: str | None, most: int, seconds: float
) -> tuple[int, list[PeerFigures]]:
    """Give the memory that the run's networks take in PyTorch, and the figures of all their forms."""
    prepare_torch()
    from sketchhash import datasets
    from sketchhash.benchmark import model_speed
    from sketchhash.benchmark.model_speed.run_peers import compare
    from sketchhash.dsh import runs
    from sketchhash.evaluation import EvaluationData, PhotoLimit

    first, *more = data
    collections = [datasets.open_dataset(first, photos), *map(datasets.open_dataset, more)]
    job, network = runs.reopen(run, datasets.join(collections))
    settings = EvaluationData(collections, job.split, PhotoLimit(most)).settings()
    items = {(side, item.id) for each in settings for side in ("queries", "gallery") for item in getattr(each, side)}
    say("Exporting, scoring and timing the run's networks in several number formats ...")
    with progress("encoding with all of them", len(items)) as advance:
        figures = compare(job, network, settings, seconds, advance)
    return model_speed.torch_bytes(network), figures
