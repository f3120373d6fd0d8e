"""The options that say which gallery and which model, and what they open."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.errors import BadArgument

if TYPE_CHECKING:
    from sketchhash.model import Model


def default_gallery() -> Path:
    """Give the gallery of a person who names none, in the folder where their system keeps programs' data."""
    from platformdirs import user_data_path

    return user_data_path("sketchhash") / "photos.gallery"


def _require_file(place: Path) -> Path:
    from sketchhash.index.addresses import SCHEMES

    if str(place).startswith(tuple(f"{scheme}:" for scheme in SCHEMES)):
        raise BadArgument(
            "This is done on a gallery's file, and not on an engine. Copy the gallery to a file first, "
            "with: sketchhash gallery copy ADDRESS FILE"
        )
    return place


GalleryFile = Annotated[
    Path,
    typer.Option(
        "--gallery",
        metavar="FILE",
        envvar="SKETCHHASH_GALLERY",
        default_factory=default_gallery,
        show_default="photos.gallery in your data folder",
        callback=_require_file,
        help="The file that the gallery is kept in.",
    ),
]
GalleryPlace = Annotated[
    str,
    typer.Option(
        "--gallery",
        metavar="FILE|ADDRESS",
        envvar="SKETCHHASH_GALLERY",
        default_factory=lambda: str(default_gallery()),
        show_default="photos.gallery in your data folder",
        help="The file of the gallery, or its address on an engine: milvus://... or postgresql://...",
    ),
]
ModelFolder = Annotated[
    Path | None,
    typer.Option(
        "--model", metavar="FOLDER", help="The model folder; otherwise $SKETCHHASH_MODEL, or the one shipped."
    ),
]


def load_model(folder: Path | None) -> Model:
    """Load the model in ``folder``, or the default one."""
    from sketchhash.model import Model
    from sketchhash.model.shipped import default_model_folder

    return Model.load(default_model_folder() if folder is None else folder)
