"""``sketchhash bench tokens``: how many photos a second the detectors of contours take."""

from __future__ import annotations

import os
from dataclasses import asdict
from typing import Annotated

import typer

from sketchhash.cli.console import print_json, say
from sketchhash.cli.tokens import ForestFile, choose_detector

_ALL = ("sketch-tokens", "gradient", "canny", "hed")


def tokens(
    data: Annotated[
        str, typer.Option(metavar="DIR", help="Take the photos from this dataset, not from the synthetic world.")
    ] = "synthetic",
    detector: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help=f"Whom to time; repeat for several. [{', '.join(_ALL)}]")
    ] = None,
    forest: ForestFile = None,
    photos: Annotated[int, typer.Option(min=1, help="How many different photos.")] = 24,
    seconds: Annotated[float, typer.Option(min=0, help="How long each number is measured.")] = 3.0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Time the detectors of contours, on one thread and on two."""
    # OpenCV reads this when it is loaded: photos are what runs in parallel here, for every detector alike.
    os.environ["OPENCV_FOR_THREADS_NUM"] = "1"
    from sketchhash import datasets
    from sketchhash.benchmark.token_speed import measure

    shown = datasets.open_dataset(data).photos
    items = shown[:: max(1, len(shown) // photos)][:photos]
    speeds = []
    for name in detector or _ALL:
        for threads in (1, 2):
            say(f"{name}, {threads} {'thread' if threads == 1 else 'threads'} ...")
            speeds.append(measure(choose_detector(name, forest), items, threads, seconds))
    if json:
        print_json([asdict(speed) for speed in speeds])
        return
    typer.echo("| detector | threads | scored, 256 × 256 | drawn, 256 × 256 | scored, 480 × 320 |")
    typer.echo("|---|---|---|---|---|")
    for speed in speeds:
        paces = (speed.scored, speed.drawn, speed.scored_large)
        cells = " | ".join(f"{pace.photos_per_second:.1f}/s, {pace.cpu_milliseconds:.0f} ms" for pace in paces)
        typer.echo(f"| {speed.detector} | {speed.threads} | {cells} |")
    typer.echo("\nPhotos a second by the clock, and processor time a photo.")
    typer.echo("The authors of Sketch Tokens report about 1 photo a second at 480 × 320.")
