"""The gallery as a whole."""

from __future__ import annotations

from fastapi import APIRouter

from sketchhash import __version__
from sketchhash.server.routes import problems
from sketchhash.server.schemas import GalleryAnswer, MapPoint
from sketchhash.server.service import Service


def gallery_routes(service: Service) -> APIRouter:
    """Make the routes that describe the gallery."""
    router = APIRouter(prefix="/api/gallery", tags=["gallery"], responses=problems())

    @router.get("")
    async def gallery() -> GalleryAnswer:
        """Count photos, labels and folders, and describe the model."""
        census = await service.reading.run(service.census.take)
        return GalleryAnswer(
            photos=census.photos,
            bits=census.bits,
            memory_bytes=census.memory_bytes,
            labels=census.labels,
            folders=census.folders,
            model=service.model,
            version=__version__,
            edition=service.edition,
            last_indexed=census.last_indexed,
        )

    @router.get("/map")
    async def gallery_map() -> list[MapPoint]:
        """Lay some of the photos out on a plane, alike ones close together."""
        return (await service.reading.run(service.census.take)).map

    return router
