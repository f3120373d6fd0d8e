"""Searching: by a drawing, by a picture, and by a photo of the gallery."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response, StreamingResponse
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from pydantic import ValidationError
from starlette.datastructures import UploadFile

from sketchhash import __version__
from sketchhash.errors import BadArgument
from sketchhash.server.access import Access
from sketchhash.server.errors import UnsupportedContent, invalid
from sketchhash.server.metrics import Stopwatch, server_timing
from sketchhash.server.schemas import (
    DetailsAnswer,
    DrawingQuery,
    Folder,
    GalleryAnswer,
    HealthAnswer,
    HitCount,
    Label,
    MapPoint,
    PictureQuery,
    ProblemAnswer,
    SearchAnswer,
    Wanted,
)
from sketchhash.server.search import Answer
from sketchhash.server.service import Service


def search_routes(service: Service) -> APIRouter:
    """Make the routes that find photos."""
    router = APIRouter(prefix="/api", tags=["search"])
    finder = service.finder

    async def answer(find: Callable[[Stopwatch], Answer], response: Response) -> SearchAnswer:
        watch = Stopwatch()
        found = (await service.inference.run(partial(find, watch))).with_timings(watch)
        service.metrics.count_search(watch)
        response.headers["Server-Timing"] = server_timing(found.timings_ms.model_dump())
        return found

    @router.post("/search", openapi_extra=REQUEST_BODY, responses=problems(408, 413, 415))
    async def search(request: Request, response: Response) -> SearchAnswer:
        """Find the photos that show what was drawn, or that look like a picture."""
        query = await read_query(request)
        if isinstance(query, DrawingQuery):
            return await answer(partial(finder.find_by_drawing, query), response)
        return await answer(partial(finder.find_by_picture, query.content, query.query), response)

    @router.get("/photos/{photo_id}/similar", responses=problems(404))
    async def similar(
        photo_id: PhotoId,
        response: Response,
        k: Annotated[HitCount, Query()] = 40,
        folder: Annotated[Folder | None, Query()] = None,
        label: Annotated[Label | None, Query()] = None,
    ) -> SearchAnswer:
        """Find other photos that look like one of the gallery."""
        wanted = Wanted(k=k, folder=folder, label=label)
        return await answer(partial(finder.find_similar, photo_id, wanted), response)

    return router


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


def operation_routes(service: Service, access: Access) -> APIRouter:
    """Make the routes for health, metrics and sessions."""
    router = APIRouter(tags=["operations"], responses=problems())

    @router.get("/health")
    async def health() -> HealthAnswer:
        """Say that the service is there."""
        return HealthAnswer(status="ok", photos=len(service.finder))

    @router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """Give counts and times for Prometheus."""
        text = service.metrics.text(len(service.finder), (service.inference, service.reading))
        return Response(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)

    @router.post("/api/session", status_code=204, response_class=Response)
    async def session() -> Response:
        """Exchange the token for a cookie, which images on a page need."""
        response = Response(status_code=204)
        access.open_session(response)
        return response

    return router


_DESCRIPTIONS = {
    400: "The request is not for this service, or cannot be read.",
    401: "The token is missing or wrong.",
    404: "There is no such photo.",
    408: "The request took too long to arrive.",
    413: "The request is too large.",
    415: "The body is of another type.",
    422: "Something in the request cannot be used.",
    503: "The service is busy: try again after as many seconds as Retry-After says.",
}

PhotoId = Annotated[int, Path(ge=1, le=2**63 - 1)]


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the errors of a route for the OpenAPI document; some may happen anywhere."""
    return {
        status: {"model": ProblemAnswer, "description": _DESCRIPTIONS[status]}
        for status in sorted({400, 401, 422, 503, *statuses})
    }


_FIELDS = 8
_FIELD_BYTES = 10_000


@dataclass(frozen=True)
class Upload:
    """A picture, and what to find by it."""

    content: bytes
    query: PictureQuery


async def read_query(request: Request) -> DrawingQuery | Upload:
    """Read the body of a search; which of the two it is, its type tells."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if content_type == "application/json":
            return DrawingQuery.model_validate_json(await request.body())
        if content_type == "multipart/form-data":
            return await _read_form(request)
    except ValidationError as problem:
        raise invalid(problem.errors(include_url=False, include_input=False, include_context=False)) from problem
    raise UnsupportedContent(
        "A search is application/json with strokes, or multipart/form-data with a picture. "
        "What they hold is in /openapi.json."
    )


async def _read_form(request: Request) -> Upload:
    async with request.form(max_files=1, max_fields=_FIELDS, max_part_size=_FIELD_BYTES) as form:
        picture = form.get("picture")
        if not isinstance(picture, UploadFile):
            raise BadArgument("The form has no file in its field picture. Attach one.")
        # What is left empty in a form was not asked for.
        fields = {name: value for name, value in form.items() if name != "picture" and value != ""}
        return Upload(await picture.read(), PictureQuery.model_validate(fields))


def _form_schema() -> dict[str, Any]:
    schema = PictureQuery.model_json_schema()
    schema["properties"]["picture"] = {"type": "string", "format": "binary", "description": "A photo or a sketch."}
    return {**schema, "required": ["picture"]}


REQUEST_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": DrawingQuery.model_json_schema()},
            "multipart/form-data": {"schema": _form_schema()},
        },
    }
}
"""For the OpenAPI document, which FastAPI cannot write for a body of two types."""
