"""Options that several commands share: which gallery, which model, which dataset, which cache."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from sketchhash.model import Model


def default_gallery() -> Path:
    """Return the gallery to use when none is named, in the user's data folder."""
    from platformdirs import user_data_path

    return user_data_path("sketchhash") / "photos.gallery"


GalleryPlace = Annotated[
    str,
    typer.Option(
        "--gallery",
        metavar="FILE|ADDRESS",
        envvar="SKETCHHASH_GALLERY",
        default_factory=lambda: str(default_gallery()),
        show_default="photos.gallery in your data folder",
        help="The gallery's file, or its address on an engine: milvus://... or postgresql://...",
    ),
]
ModelFolder = Annotated[
    Path | None,
    typer.Option(
        "--model", metavar="FOLDER", help="The model folder; otherwise $SKETCHHASH_MODEL, or the shipped one."
    ),
]
CacheFolder = Annotated[
    Path | None,
    typer.Option("--cache", metavar="DIR", help="Where to keep token maps, features and pre-trained networks."),
]
DatasetFolder = Annotated[str, typer.Option("--data", metavar="DIR", help="A dataset's folder, or 'synthetic'.")]
PhotosFolder = Annotated[
    str | None, typer.Option("--photos", metavar="DIR", help="Take the photos from this other dataset, by category.")
]
MoreDatasets = Annotated[
    list[str] | None, typer.Option("--also", metavar="DIR", help="Another dataset to join; repeat for several.")
]
CardNotes = Annotated[
    Path | None, typer.Option("--notes", metavar="FILE", help="A TOML file with what the model card says of the data.")
]
DeviceName = Annotated[
    str | None,
    typer.Option(
        "--device",
        metavar="NAME",
        help="Where to compute: cpu, cuda, cuda:1, mps.  [default: cuda if there is one, else cpu]",
    ),
]
KeepPixels = Annotated[
    bool,
    typer.Option(
        "--keep-pixels",
        help="Keep resized photos in the cache, for recipes that train all weights: 195 kB a photo for 'paper'.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def load_model(folder: Path | None) -> Model:
    """Load the model in ``folder``, or the default one."""
    from sketchhash.model import Model
    from sketchhash.model.folder import default_model_folder

    return Model.load(default_model_folder() if folder is None else folder)
