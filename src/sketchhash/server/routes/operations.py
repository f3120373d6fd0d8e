"""For those who run the service, and for the session of those who use it."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4

from sketchhash.server.access import Access
from sketchhash.server.routes import problems
from sketchhash.server.schemas import HealthAnswer
from sketchhash.server.service import Service


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
