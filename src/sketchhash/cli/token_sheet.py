"""``sketchhash tokens sheet``: look at contours with your own eyes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sketchhash.cli.token_scores import ForestFile, choose_detector


def sheet(
    data: Annotated[str, typer.Option(metavar="DIR", help="A dataset's folder, or the word 'synthetic'.")],
    out: Annotated[Path, typer.Option(metavar="FILE", help="The PNG picture to write.")],
    photos: Annotated[str | None, typer.Option(metavar="DIR", help="Take the photos from this other dataset.")] = None,
    detector: Annotated[str, typer.Option(metavar="NAME", help="Who looks for contours.")] = "sketch-tokens",
    forest: ForestFile = None,
    count: Annotated[int, typer.Option(min=1, max=240, help="How many photos.")] = 24,
) -> None:
    """Paint photos beside their scores, their token maps and a sketch of the same category."""
    from sketchhash import datasets, imaging
    from sketchhash.benchmark.contours.sheet import token_sheet

    dataset = datasets.open_dataset(data, photos)
    imaging.write_png(out, token_sheet(dataset, choose_detector(detector, forest), count))
    typer.echo(out)
