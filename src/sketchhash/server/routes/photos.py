"""The photos themselves, by id and never by path."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse

from sketchhash.server.routes import PhotoId, problems
from sketchhash.server.schemas import DetailsAnswer
from sketchhash.server.service import Service

# Sent in pieces, a picture that its client is slow to take waits here, and not in the buffers of the connection.
_PIECE = 1 << 18

_FOR_EVER = "private, max-age=31536000, immutable"
_ASK_AGAIN = "private, no-cache"

Version = Annotated[str | None, Query(description="The edition of the gallery: then the picture may be kept for ever.")]


def photo_routes(service: Service) -> APIRouter:
    """Make the routes that show photos."""
    router = APIRouter(prefix="/api/photos/{photo_id}", tags=["photos"])
    photos, reading = service.photos, service.reading

    def caching(etag: str, version: str | None) -> dict[str, str]:
        # Another gallery, served at the same address later, gives the same ids to other photos.
        return {"ETag": etag, "Cache-Control": _FOR_EVER if version == service.edition else _ASK_AGAIN}

    @router.get(
        "",
        response_class=Response,
        responses={**problems(404), 200: {"content": {"image/*": {}}}, 304: {"description": "As it was."}},
    )
    async def picture(request: Request, photo_id: PhotoId, v: Version = None) -> Response:
        """Give the photo's own file; formats that browsers do not show come as JPEG."""
        record = await reading.run(partial(photos.record, photo_id))
        headers = caching(f'"{record.sha256}"', v)
        if _has_it(request, headers["ETag"]):
            return Response(status_code=304, headers=headers)
        shown = await reading.run(partial(photos.picture, record))
        headers["Content-Length"] = str(len(shown.content))
        return StreamingResponse(_pieces(shown.content), media_type=shown.media_type, headers=headers)

    @router.get(
        "/thumbnail",
        response_class=Response,
        responses={**problems(404), 200: {"content": {"image/jpeg": {}}}, 304: {"description": "As it was."}},
    )
    async def thumbnail(request: Request, photo_id: PhotoId, v: Version = None) -> Response:
        """Give a JPEG of at most 256 pixels a side."""
        record = await reading.run(partial(photos.record, photo_id))
        headers = caching(f'"{record.sha256}-thumbnail"', v)
        if _has_it(request, headers["ETag"]):
            return Response(status_code=304, headers=headers)
        jpeg = await reading.run(partial(photos.thumbnail, photo_id))
        return Response(jpeg, media_type="image/jpeg", headers=headers)

    @router.get("/details", responses=problems(404))
    async def details(photo_id: PhotoId) -> DetailsAnswer:
        """Tell all there is to know about the photo."""
        return await reading.run(partial(photos.details, photo_id))

    return router


def _has_it(request: Request, etag: str) -> bool:
    known = request.headers.get("if-none-match", "")
    return etag in (tag.strip().removeprefix("W/") for tag in known.split(","))


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(content), _PIECE):
        yield content[start : start + _PIECE]
