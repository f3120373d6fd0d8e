"""Open a gallery wherever it is kept: in a file, or at an engine's address."""

from __future__ import annotations

from pathlib import Path

from sketchhash.engines.addresses import Address, is_address
from sketchhash.engines.milvus_gallery import MilvusGallery
from sketchhash.engines.postgres_gallery import PostgresGallery
from sketchhash.gallery.database import GalleryFile
from sketchhash.gallery.protocol import GalleryModel, OpenGallery
from sketchhash.model import Model


def open_gallery(place: str | Path, model: Model | None = None, latest: bool = False) -> OpenGallery:
    """Open the gallery in a file or at an engine's address.

    Args:
        place: A path, or an address: ``milvus://host:port/collection``, ``postgresql://host/database``.
        model: The model that the gallery must be made with; any, if None.
        latest: See all that was ever acknowledged, as copying must. Otherwise a server of Milvus may be some seconds
            behind, which is much faster.

    Raises:
        BadArgument: If there is no gallery.
        IncompatibleGallery: If its codes come from another model than ``model``: they would not compare.
    """
    if isinstance(place, Path) or not is_address(place):
        return GalleryFile.open(Path(place), model)
    gallery: MilvusGallery | PostgresGallery
    if _is_milvus(place):
        gallery = MilvusGallery.open(place, "Strong" if latest else "Bounded")
    else:
        gallery = PostgresGallery.open(place)
    try:
        gallery.require(model)
    except BaseException:
        gallery.close()
        raise
    return gallery


def create_gallery(place: str | Path, model: Model | GalleryModel) -> OpenGallery:
    """Open the gallery at ``place`` to write to it; it is made for codes of ``model`` if it is not there.

    Only a file is required to be of that model.
    """
    if isinstance(place, Path) or not is_address(place):
        return GalleryFile.create(Path(place), model)
    described = GalleryModel.of(model) if isinstance(model, Model) else model
    return (MilvusGallery if _is_milvus(place) else PostgresGallery).create(place, described)


def _is_milvus(address: str) -> bool:
    return Address.parse(address).scheme == "milvus"
