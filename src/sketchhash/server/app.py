"""The application: routes behind a row of middleware, and one form for every error."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.types import Scope

from sketchhash import __version__
from sketchhash.server.access import Access, Doorkeeper
from sketchhash.server.failures import explain_errors
from sketchhash.server.headers import SecurityHeaders
from sketchhash.server.limits import BoundedExchange, Patience
from sketchhash.server.metrics import Meter
from sketchhash.server.routes.gallery import gallery_routes
from sketchhash.server.routes.operations import operation_routes
from sketchhash.server.routes.photos import photo_routes
from sketchhash.server.routes.search import search_routes
from sketchhash.server.service import Service

_STATIC = Path(__file__).with_name("static")
_ASK_AGAIN = {"Cache-Control": "no-cache"}


def create_app(service: Service, access: Access, patience: Patience | None = None) -> FastAPI:
    """Put the routes of a ``service`` behind the door that ``access`` describes."""
    # FastAPI's own pages for the OpenAPI document load scripts from elsewhere.
    app = FastAPI(
        title="sketchhash",
        version=__version__,
        summary="Draw something, and find the photos that show it.",
        docs_url=None,
        redoc_url=None,
    )
    app.include_router(search_routes(service))
    app.include_router(photo_routes(service))
    app.include_router(gallery_routes(service))
    app.include_router(operation_routes(service, access))
    app.add_api_route("/", _page, include_in_schema=False)
    app.mount("/static", _Static(directory=_STATIC, check_dir=False))

    explain_errors(app)

    # The last is the first to see a request.
    app.add_middleware(BoundedExchange, patience=patience or Patience())
    app.add_middleware(Doorkeeper, access=access)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(Meter, metrics=service.metrics)
    return app


class _Static(StaticFiles):
    """The page's modules: browsers keep them, and ask whether they are still the same."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(_ASK_AGAIN)
        return response


async def _page() -> FileResponse:
    return FileResponse(_STATIC / "index.html", headers=_ASK_AGAIN)
