"""``sketchhash demo``: the synthetic world at a glance."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sketchhash.cli.console import say


def demo(
    sheet: Annotated[Path, typer.Option(help="Where to paint the contact sheet.")] = Path("synthetic-world.png"),
    each: Annotated[int, typer.Option(min=1, max=20, help="Sketches and photos a category on the sheet.")] = 4,
) -> None:
    """Make the synthetic world, count it and paint its contact sheet: needs no download."""
    from sketchhash import datasets, imaging

    world = datasets.open_dataset("synthetic")
    imaging.write_png(sheet, datasets.contact_sheet(world, each))
    say(
        f"The synthetic world has {len(world.categories)} categories, {len(world.sketches)} sketches and "
        f"{len(world.photos)} photos: {', '.join(world.categories)}."
    )
    say("Its contact sheet:")
    typer.echo(sheet)
