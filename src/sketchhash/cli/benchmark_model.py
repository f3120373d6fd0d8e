"""``sketchhash benchmark model``: how well a model folder finds photos."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import progress, say
from sketchhash.cli.options import CacheFolder, ModelFolder, default_cache, load_model

if TYPE_CHECKING:
    from sketchhash.benchmark.model_quality import Encodings, Setting


def model(
    data: Annotated[str, typer.Option(metavar="DIR", help="The dataset that the model was trained on, or another.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="Where to write scores.json and scores.md.")],
    model: ModelFolder = None,
    photos: Annotated[str | None, typer.Option(metavar="DIR", help="Take the photos from this other dataset.")] = None,
    also: Annotated[
        list[str] | None, typer.Option(metavar="DIR", help="A dataset to join with it; may be given again.")
    ] = None,
    split: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The run's split.json; without one all sketches ask.")
    ] = None,
    search: Annotated[
        list[str] | None,
        typer.Option(metavar="DIR", help="Search the photos of this other dataset too; may be given again."),
    ] = None,
    most: Annotated[int | None, typer.Option(min=1, help="Search at most so many photos a category.")] = None,
    seed: Annotated[int, typer.Option(help="Seed that draws them.")] = 0,
    threads: Annotated[int | None, typer.Option(min=1, help="Pictures to encode at once.  [default: cores]")] = None,
    cache: CacheFolder = None,
    json: Annotated[bool, typer.Option("--json", help="Print what scores.json holds.")] = False,
) -> None:
    """Judge a model folder: settings, categories and what they are taken for; Ctrl-C and again at any time."""
    from sketchhash import datasets
    from sketchhash.benchmark import model_quality

    collections = [datasets.open_dataset(data, photos), *(datasets.open_dataset(more) for more in also or ())]
    searched = [datasets.open_dataset(other) for other in search or ()]
    drawn = datasets.Split.read(split) if split else None
    cap = model_quality.Most(most, seed) if most else None
    material = model_quality.Material(collections, drawn, cap)
    settings = material.settings(searched)
    _require_settings(settings)

    judged = load_model(model)
    encodings = model_quality.Encodings(judged, cache or default_cache(), threads)
    _encode(settings, encodings)
    verdicts = [model_quality.judge(setting, encodings, material.categories) for setting in settings]
    judgement = model_quality.Judgement(
        model=judged.manifest.name,
        bits=judged.bits,
        fingerprint=judged.fingerprint,
        data=material.whole.name,
        split_hash=drawn.hash if drawn else None,
        searched=tuple(other.name for other in searched),
        most=cap,
        unreadable=encodings.unreadable,
        verdicts=tuple(verdict for verdict in verdicts if verdict is not None),
    )
    model_quality.write(judgement, out)
    if encodings.unreadable:
        say(f"{len(encodings.unreadable)} pictures could not be read and were left out; scores.md names some.")
    say(f"Written: {out / 'scores.json'} and scores.md")
    typer.echo(judgement.to_json() if json else model_quality.settings_table(judgement.verdicts), nl=not json)


def _require_settings(settings: list[Setting]) -> None:
    from sketchhash.errors import BadArgument

    if not settings:
        raise BadArgument("No sketch here can find a photo: give data with sketches, and photos of the same things.")


def _encode(settings: list[Setting], encodings: Encodings) -> None:
    from sketchhash.benchmark.model_quality import Medium

    for medium, items in (
        (Medium.SKETCH, [item for setting in settings for item in setting.queries]),
        (Medium.PHOTO, [item for setting in settings for item in setting.gallery]),
    ):
        missing = encodings.missing(medium, items)
        with progress(f"encoding {medium}s", len(missing)) as advance:
            encodings.make(medium, missing, advance)
