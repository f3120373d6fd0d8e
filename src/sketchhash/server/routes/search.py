"""Searching: by a drawing, by a picture, and by a photo of the gallery."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from sketchhash.server.finding import Answer
from sketchhash.server.queries import REQUEST_BODY, read_query
from sketchhash.server.routes import PhotoId, problems
from sketchhash.server.schemas import DrawingQuery, Folder, HitCount, Label, SearchAnswer, Wanted
from sketchhash.server.service import Service
from sketchhash.server.timing import Stopwatch, server_timing


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
