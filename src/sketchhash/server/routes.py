"""The routes: searching, photos, the gallery as a whole, and operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response, StreamingResponse
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from pydantic import ValidationError
from python_multipart.multipart import parse_options_header
from starlette.datastructures import UploadFile
from starlette.types import Receive, Scope, Send

from sketchhash.errors import BadArgument
from sketchhash.imaging.ink import MAX_POINTS, MAX_STROKES
from sketchhash.server.access import Access
from sketchhash.server.errors import TooBusy, UnsupportedContent, validation_error
from sketchhash.server.limits import WorkPool
from sketchhash.server.metrics import Stopwatch, server_timing
from sketchhash.server.overview import folders_in
from sketchhash.server.photos import PictureFile
from sketchhash.server.qr import MOST_BYTES, as_path, qr_code
from sketchhash.server.schemas import (
    AddressAnswer,
    After,
    Before,
    CategoryAnswer,
    CategoryQuery,
    DetailsAnswer,
    DrawingQuery,
    ErrorAnswer,
    ExampleAnswer,
    Folder,
    FolderAnswer,
    GalleryAnswer,
    HealthAnswer,
    HitAnswer,
    HitCount,
    Label,
    MapPoint,
    PictureQuery,
    Place,
    SearchAnswer,
    SearchOptions,
    SvgAnswer,
    Word,
)
from sketchhash.server.search import SearchResult
from sketchhash.server.service import Service
from sketchhash.words import find_categories

MOST_SENT = 200  # photos at once: each holds a descriptor beside that of its connection

_CHUNK_BYTES = 1 << 18

_IMMUTABLE = "private, max-age=31536000, immutable"
_REVALIDATE = "private, no-cache"

_CHARSETS = (b"utf-8", b"utf8", b"us-ascii", b"ascii")
_MOST_FIELDS = 8
_MOST_NAMES = 3  # of drawings, before the categories that a word means
_FIELD_BYTES = 10_000

# What JSON of the largest drawing has, with room for text that is nothing but commas and colons.
_MOST_COMMAS = 2 * MAX_POINTS + MAX_STROKES + 6000
_MOST_COLONS = 6000

_ERROR_DESCRIPTIONS = {
    400: "The request is not for this service, or cannot be read.",
    401: "The token is missing or wrong.",
    404: "There is no such photo.",
    408: "The request took too long to arrive.",
    413: "The request is too large.",
    415: "The body is of another type.",
    422: "Something in the request cannot be used.",
    431: "The head of the request is too large.",
    503: "The service is busy: try again after as many seconds as Retry-After says.",
}

PhotoId = Annotated[int, Path(ge=1, le=2**63 - 1)]
Version = Annotated[str | None, Query(description="The edition of the gallery: then the picture may be kept for ever.")]


def search_routes(service: Service) -> APIRouter:
    """Return the routes that find photos."""
    router = APIRouter(prefix="/api", tags=["search"], responses=_errors())
    finder = service.finder

    async def respond(
        find: Callable[[Stopwatch], SearchResult], response: Response, pool: WorkPool = service.inference
    ) -> SearchAnswer:
        watch = Stopwatch()
        answer = (await pool.run(partial(find, watch))).answer(watch)
        service.metrics.observe_search(watch)
        response.headers["Server-Timing"] = server_timing(answer.timings_ms.model_dump())
        return answer

    @router.post("/search", openapi_extra=_SEARCH_BODY, responses=_errors(408, 413, 415))
    async def search(request: Request, response: Response) -> SearchAnswer:
        """Find the photos that show what was drawn, or that look like a picture."""
        body = await _read_body(request)
        if isinstance(body, _Upload):
            find = partial(finder.find_by_picture, body.content, body.query)
            return await respond(find, response, service.pictures)
        # JSON is parsed where the search runs: 2 MB of it would hold up the event loop.
        return await respond(lambda watch: finder.find_by_drawing(_parse_drawing(body), watch), response)

    @router.post("/search/category")
    async def search_category(query: CategoryQuery, response: Response) -> SearchAnswer:
        """Find the photos of a kind of thing that the model knows."""
        return await respond(partial(finder.find_by_category, query), response)

    @router.get("/photos/{photo_id}/similar", responses=_errors(404))
    async def similar(
        photo_id: PhotoId,
        response: Response,
        k: Annotated[HitCount, Query()] = 40,
        folder: Annotated[Folder | None, Query()] = None,
        label: Annotated[Label | None, Query()] = None,
        after: Annotated[After | None, Query()] = None,
        before: Annotated[Before | None, Query()] = None,
        near: Annotated[Place | None, Query()] = None,
    ) -> SearchAnswer:
        """Find other photos that look like one of the gallery."""
        options = SearchOptions(k=k, folder=folder, label=label, after=after, before=before, near=near)
        return await respond(partial(finder.find_similar, photo_id, options), response)

    @router.get("/photos/{photo_id}/copies", responses=_errors(404))
    async def copies(photo_id: PhotoId) -> list[HitAnswer]:
        """Find at most 200 copies of a photo of the gallery, the nearest first; ``distance`` is from its code."""
        return await service.inference.run(partial(finder.find_copies, photo_id))

    return router


def photo_routes(service: Service) -> APIRouter:
    """Return the routes that send photos, by id and never by path."""
    router = APIRouter(prefix="/api/photos/{photo_id}", tags=["photos"])
    photos, reading = service.photos, service.reading
    sending: set[_FileResponse] = set()

    def caching(etag: str, version: str | None) -> dict[str, str]:
        # Another gallery, served at the same address later, has other photos with the same ids.
        return {"ETag": etag, "Cache-Control": _IMMUTABLE if version == service.edition else _REVALIDATE}

    @router.get(
        "",
        response_class=Response,
        responses={**_errors(404), 200: {"content": {"image/*": {}}}, 304: {"description": "As it was."}},
    )
    async def picture(request: Request, photo_id: PhotoId, v: Version = None) -> Response:
        """Send the photo's own file; formats that browsers do not show are converted to JPEG."""
        record = await reading.run(partial(photos.record, photo_id))
        headers = caching(f'"{record.sha256}"', v)
        if _is_cached(request, headers["ETag"]):
            return Response(status_code=304, headers=headers)
        if len(sending) >= MOST_SENT:
            raise TooBusy("The service sends as many photos as it can. Try again in a moment.")
        shown = await reading.run(partial(photos.open, record))
        if shown.media_type is not None:
            headers["Content-Length"] = str(shown.size)
            return _FileResponse(shown, headers, sending)
        shown.file.close()
        jpeg = await service.pictures.run(partial(photos.converted, record))
        return Response(jpeg, media_type="image/jpeg", headers=headers)

    @router.get(
        "/thumbnail",
        response_class=Response,
        responses={**_errors(404), 200: {"content": {"image/jpeg": {}}}, 304: {"description": "As it was."}},
    )
    async def thumbnail(request: Request, photo_id: PhotoId, v: Version = None) -> Response:
        """Send a JPEG of at most 256 pixels a side."""
        record = await reading.run(partial(photos.record, photo_id))
        headers = caching(f'"{record.sha256}-thumbnail"', v)
        if _is_cached(request, headers["ETag"]):
            return Response(status_code=304, headers=headers)
        jpeg = await reading.run(partial(photos.thumbnail, photo_id))
        return Response(jpeg, media_type="image/jpeg", headers=headers)

    @router.get("/svg", responses=_errors(404))
    async def svg(photo_id: PhotoId) -> SvgAnswer:
        """Return the SVG of a drawing, without scripts and references to other files."""
        record = await reading.run(partial(photos.record, photo_id))
        return SvgAnswer(svg=await service.pictures.run(partial(photos.svg, record)))

    @router.get("/details", responses=_errors(404))
    async def details(photo_id: PhotoId) -> DetailsAnswer:
        """Return all that is known about the photo."""
        return await service.pictures.run(partial(photos.details, photo_id))

    return router


def gallery_routes(service: Service) -> APIRouter:
    """Return the routes that describe the gallery as a whole."""
    router = APIRouter(prefix="/api/gallery", tags=["gallery"], responses=_errors())

    @router.get("")
    async def gallery() -> GalleryAnswer:
        """Count photos, labels and folders, and describe the model."""
        return await service.reading.run(service.describe)

    @router.get("/folders")
    async def folders(below: Annotated[Folder, Query()] = "") -> list[FolderAnswer]:
        """Count the photos at any depth of the folders that lie directly in one."""
        return await service.reading.run(partial(folders_in, service.overview.gallery, below))

    @router.get("/map")
    async def gallery_map() -> list[MapPoint]:
        """Return some of the photos as points in the plane; photos with similar codes are close together."""
        return (await service.reading.run(service.overview.get)).map

    return router


def suggestion_routes(service: Service) -> APIRouter:
    """Return the routes that suggest what to search for."""
    router = APIRouter(prefix="/api", tags=["suggestions"], responses=_errors())

    @router.get("/categories")
    async def categories(word: Annotated[Word | None, Query()] = None) -> list[CategoryAnswer]:
        """List the categories that the model knows, or those that a word means, the nearest first.

        A word also means the drawings of the gallery that have it in their names, or among their tags.
        """
        known = service.model.categories
        if word is None:
            return [CategoryAnswer(category=name) for name in known]
        drawn = await service.inference.run(partial(service.finder.meanings, word, _MOST_NAMES))
        return [CategoryAnswer(category=name) for name in dict.fromkeys([*drawn, *find_categories(word, known)])]

    @router.get("/examples")
    async def examples() -> list[ExampleAnswer]:
        """Return up to six drawings of things that this gallery has photos of."""
        return await service.inference.run(service.examples.get)

    return router


def operation_routes(service: Service, access: Access, addresses: Sequence[str]) -> APIRouter:
    """Return the routes for health, metrics, sessions and the addresses of the page on other machines."""
    router = APIRouter(tags=["operations"], responses=_errors())

    @router.get("/health")
    async def health() -> HealthAnswer:
        """Report that the service is running."""
        return HealthAnswer(status="ok", photos=len(service.finder))

    @router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
    async def metrics() -> Response:
        """Return counts and times for Prometheus."""
        text = service.metrics.text(len(service.finder), (service.inference, service.reading, service.pictures))
        return Response(text, media_type=CONTENT_TYPE_PLAIN_0_0_4)

    @router.get("/api/addresses")
    async def page_addresses() -> list[AddressAnswer]:
        """Return where other machines find the page, each with a QR code; none if only this machine can."""
        codes = [(address, qr_code(address)) for address in addresses if len(address) <= MOST_BYTES]
        return [AddressAnswer(address=each, qr=as_path(code), side=len(code)) for each, code in codes]

    @router.post("/api/session", status_code=204, response_class=Response)
    async def session() -> Response:
        """Exchange the token for a cookie, which images on a page need."""
        response = Response(status_code=204)
        access.open_session(response)
        return response

    return router


@dataclass(frozen=True)
class _Upload:
    """A picture, and the fields of the form that came with it."""

    content: bytes
    query: PictureQuery


async def _read_body(request: Request) -> bytes | _Upload:
    """Read the body of a search: strokes as JSON, or a form with a picture, as its type says."""
    content_type, options = parse_options_header(request.headers.get("content-type"))
    if content_type == b"application/json":
        return await request.body()
    if content_type == b"multipart/form-data":
        # Clients do not choose the codec that decodes their text: some fail, and some are slow.
        if options.get(b"charset", b"utf-8").lower() not in _CHARSETS:
            raise UnsupportedContent("The text of a form is UTF-8. Send it without another charset.")
        return await _read_form(request)
    raise UnsupportedContent(
        "A search is application/json with strokes, or multipart/form-data with a picture. "
        "What they hold is in /openapi.json."
    )


async def _read_form(request: Request) -> _Upload:
    async with request.form(max_files=1, max_fields=_MOST_FIELDS, max_part_size=_FIELD_BYTES) as form:
        picture = form.get("picture")
        if not isinstance(picture, UploadFile):
            raise BadArgument("The form has no file in its field picture. Attach one.")
        # Browsers send fields that were left empty.
        fields = {name: value for name, value in form.items() if name != "picture" and value != ""}
        try:
            query = PictureQuery.model_validate(fields)
        except ValidationError as error:
            raise validation_error(error) from error
        return _Upload(await picture.read(), query)


def _parse_drawing(body: bytes) -> DrawingQuery:
    # Counting is a thousand times faster than an error for each of a million items.
    if body.count(b",") > _MOST_COMMAS or body.count(b":") > _MOST_COLONS:
        raise BadArgument(
            f"A drawing may have {MAX_STROKES:,} strokes and {MAX_POINTS:,} points. "
            "What is expected is in /openapi.json."
        )
    try:
        return DrawingQuery.model_validate_json(body)
    except ValidationError as error:
        raise validation_error(error) from error


def _is_cached(request: Request, etag: str) -> bool:
    cached = request.headers.get("if-none-match", "")
    return etag in (tag.strip().removeprefix("W/") for tag in cached.split(","))


class _FileResponse(StreamingResponse):
    """A file that is read while it is sent, so that a client who reads slowly holds a chunk of it in memory.

    The file was found to be the one that was indexed, and stays open: another in its place is not seen.
    """

    def __init__(self, picture: PictureFile, headers: dict[str, str], sending: set[_FileResponse]) -> None:
        chunks = iter(partial(picture.file.read, _CHUNK_BYTES), b"")
        super().__init__(chunks, media_type=picture.media_type, headers=headers)
        self._file = picture.file
        self._sending = sending
        sending.add(self)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._sending.discard(self)
            self._file.close()


def _errors(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe a route's errors for the OpenAPI document: ``statuses``, and those that any route may have."""
    return {
        status: {"model": ErrorAnswer, "description": _ERROR_DESCRIPTIONS[status]}
        for status in sorted({400, 401, 422, 431, 503, *statuses})
    }


def _form_schema() -> dict[str, Any]:
    schema = PictureQuery.model_json_schema()
    schema["properties"]["picture"] = {"type": "string", "format": "binary", "description": "A photo or a sketch."}
    return {**schema, "required": ["picture"]}


# For the OpenAPI document: FastAPI cannot describe a body of two types itself.
_SEARCH_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": DrawingQuery.model_json_schema()},
            "multipart/form-data": {"schema": _form_schema()},
        },
    }
}
