"""``sketchhash bench serve``: how the service holds up while people draw."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import typer

from sketchhash.cli.console import print_json, say
from sketchhash.cli.options import ModelFolder


def serve(
    seconds: Annotated[float, typer.Option(min=1, max=3600, help="How long they draw.")] = 60,
    drawers: Annotated[int, typer.Option(min=1, max=64, help="How many people draw at once.")] = 8,
    photos: Annotated[int, typer.Option(min=1, max=10_000_000, help="How many random codes to search.")] = 1_000_000,
    model: ModelFolder = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Let people draw against a server on this machine, and time its answers as they see them."""
    from sketchhash.benchmark.serving import figures_table, fill_with_random_codes, measure
    from sketchhash.gallery import GalleryFile
    from sketchhash.model import Model
    from sketchhash.model.folder import default_model_folder

    folder = default_model_folder() if model is None else model
    with TemporaryDirectory() as place:
        path = Path(place) / "random.gallery"
        say(f"Making a gallery of {photos:,} random codes ...")
        with GalleryFile.create(path, Model.load(folder)) as gallery:
            fill_with_random_codes(gallery, photos)
        say(f"{drawers} people draw for {seconds:g} seconds ...")
        figures = measure(path, folder, drawers, seconds)
    if json:
        print_json(asdict(figures))
    else:
        typer.echo(figures_table(figures))
