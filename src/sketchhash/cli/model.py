"""``sketchhash model``: look at a model folder, or export one from a training run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import print_json
from sketchhash.cli.options import AsJson, CardNotes, DatasetFolder, MoreDatasets, PhotosFolder

if TYPE_CHECKING:
    from sketchhash.model import Manifest

app = typer.Typer(help="Look at model folders, and export them from training runs.", no_args_is_help=True)


@app.command()
def info(
    folder: Annotated[
        Path | None, typer.Argument(help="The model folder; otherwise $SKETCHHASH_MODEL, or the shipped one.")
    ] = None,
    card: Annotated[bool, typer.Option("--card", help="Print the model card.")] = False,
    json: AsJson = False,
) -> None:
    """Print what a model is: bits, categories, inputs, sizes, how it was trained and how it scored."""
    from sketchhash.model import read_manifest, verify
    from sketchhash.model.folder import default_model_folder
    from sketchhash.model.manifest import CARD

    place = default_model_folder() if folder is None else folder
    manifest, inspection = read_manifest(place), verify(place)
    if card:
        typer.echo((place / CARD).read_text(encoding="utf-8"), nl=False)
    elif json:
        print_json({**asdict(manifest), "fingerprint": manifest.fingerprint, "is_intact": inspection.is_intact})
    else:
        for what, which in _facts(manifest):
            typer.echo(f"{what:<14}{which}")
        damaged = ", ".join((*inspection.missing, *inspection.changed))
        typer.echo(f"{'state':<14}{f'damaged: {damaged}' if damaged else 'intact'}")


@app.command()
def export(
    run: Annotated[Path, typer.Option(metavar="DIR", help="A run's folder: OUT.run beside the model it trained.")],
    data: DatasetFolder,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The model folder to write.")],
    photos: PhotosFolder = None,
    also: MoreDatasets = None,
    notes: CardNotes = None,
    weights: Annotated[str, typer.Option(help="How to store weights: float32 or float16.")] = "float32",
) -> None:
    """Write the networks of a run as a model folder, for example with weights in half precision."""
    from sketchhash.errors import UnknownName, require

    require("torch", "train")
    from sketchhash import datasets
    from sketchhash.dsh import runs
    from sketchhash.dsh.export import Weights, describe, export_model, read_notes

    if weights not in list(Weights):
        raise UnknownName("kind of weights", weights, Weights)
    card_notes = read_notes(notes) if notes else None
    dataset = datasets.join(
        [datasets.open_dataset(data, photos), *(datasets.open_dataset(more) for more in also or ())]
    )
    job, network = runs.reopen(run, dataset)
    export_model(network, job, out, describe(job, card_notes), runs.read_scores(run), Weights(weights))
    typer.echo(out)


def _facts(manifest: Manifest) -> Iterator[tuple[str, str]]:
    made, photos, tokens = manifest.made_with, manifest.photos, manifest.tokens
    yield "name", manifest.name
    yield "bits", f"{manifest.bits} ({manifest.bits // 8} bytes a photo)"
    yield "fingerprint", manifest.fingerprint
    yield "photos", f"{photos.size} × {photos.size} pixels" if photos else "not looked at"
    yield (
        "sketches",
        f"{manifest.ink.size} × {manifest.ink.size} pixels, lines of {manifest.ink.line_width:g} of the side",
    )
    yield "contours", f"found by {tokens.detector}" if tokens else "not looked at"
    for name, record in manifest.files.items():
        yield name, f"{record.size:,} bytes"
    yield "made with", f"sketchhash {made.sketchhash}, recipe {made.recipe}, seed {made.seed}"
    for name, score in manifest.scores.items():
        yield name, f"{score:.4f}"
    yield "categories", f"{len(manifest.categories)}: {', '.join(manifest.categories)}"
