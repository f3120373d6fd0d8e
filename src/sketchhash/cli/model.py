"""``sketchhash model``: look at a model folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import print_json

if TYPE_CHECKING:
    from sketchhash.model import Manifest

app = typer.Typer(help="Look at a model folder.", no_args_is_help=True)


@app.callback()
def _model() -> None:
    """Look at a model folder."""


@app.command()
def info(
    folder: Annotated[
        Path | None, typer.Argument(help="The model folder; otherwise $SKETCHHASH_MODEL, or the one shipped.")
    ] = None,
    card: Annotated[bool, typer.Option("--card", help="Print the model card.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what a model is: bits, categories, inputs, sizes, how it was made and what was measured."""
    from sketchhash.model import layout, read_manifest, verify
    from sketchhash.model.shipped import default_model_folder

    place = default_model_folder() if folder is None else folder
    manifest, inspection = read_manifest(place), verify(place)
    if card:
        typer.echo((place / layout.CARD).read_text(encoding="utf-8"), nl=False)
    elif json:
        print_json({**asdict(manifest), "fingerprint": manifest.fingerprint, "is_intact": inspection.is_intact})
    else:
        for what, which in _facts(manifest):
            typer.echo(f"{what:<14}{which}")
        damaged = ", ".join((*inspection.missing, *inspection.changed))
        typer.echo(f"{'state':<14}{f'damaged: {damaged}' if damaged else 'intact'}")


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
