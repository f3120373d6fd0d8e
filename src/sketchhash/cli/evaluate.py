"""``sketchhash evaluate``: measure how well a model folder finds photos."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sketchhash.cli.console import progress, say, write
from sketchhash.cli.options import AsJson, CacheFolder, MoreDatasets, PhotosFolder
from sketchhash.files import user_cache


def evaluate(
    data: Annotated[str, typer.Option(metavar="DIR", help="The dataset that the model was trained on, or another.")],
    model: Annotated[
        Path | None, typer.Argument(help="The model folder; otherwise $SKETCHHASH_MODEL, or the one shipped.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FOLDER", help="Write scores.json and scores.md here.")] = None,
    photos: PhotosFolder = None,
    also: MoreDatasets = None,
    split: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The training's split.json; otherwise that of MODEL.run, or all sketches are queries."
        ),
    ] = None,
    search: Annotated[
        list[str] | None,
        typer.Option(metavar="DIR", help="Search the photos of this other dataset too; repeat for several."),
    ] = None,
    most: Annotated[int | None, typer.Option(min=1, help="Search at most so many photos a category.")] = None,
    seed: Annotated[int, typer.Option(help="Seed that draws them.")] = 0,
    threads: Annotated[int | None, typer.Option(min=1, help="Pictures to encode at once.  [default: cores]")] = None,
    cache: CacheFolder = None,
    json: AsJson = False,
) -> None:
    """Measure a model folder: mAP in each setting, by category, and what is found instead; Ctrl-C at any time."""
    from sketchhash import datasets, evaluation
    from sketchhash.model.folder import default_model_folder

    found = evaluation.evaluate(
        default_model_folder() if model is None else model,
        [datasets.open_dataset(data, photos), *(datasets.open_dataset(more) for more in also or ())],
        split=datasets.Split.read(split) if split else None,
        searched=[datasets.open_dataset(other) for other in search or ()],
        limit=evaluation.PhotoLimit(most, seed) if most else None,
        cache=cache or user_cache(),
        threads=threads,
        progress=progress,
    )
    if found.unreadable:
        say(f"{len(found.unreadable)} pictures could not be read and were left out; scores.md names some.")
    if out is not None:
        found.write(out)
        say(f"Written: {out / 'scores.json'} and scores.md")
    write(found.to_json() if json else found.table(), nl=not json)
