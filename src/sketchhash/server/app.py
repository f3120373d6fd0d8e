"""The application: routes behind a row of middleware, and one form for every error."""

from __future__ import annotations

from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sketchhash import __version__
from sketchhash.server.access import Access, Doorkeeper
from sketchhash.server.errors import explain_errors
from sketchhash.server.limits import BoundedExchange, Patience
from sketchhash.server.metrics import Meter
from sketchhash.server.routes import gallery_routes, operation_routes, photo_routes, search_routes
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


_ALWAYS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' blob: data:; style-src 'self'; script-src 'self'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}
_UNLESS_SAID = {"Cache-Control": "no-store"}


class SecurityHeaders:
    """Middleware that adds them; nothing is cached unless a route says so."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap ``app``."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers to the answer."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_ALWAYS)
                for name, value in _UNLESS_SAID.items():
                    headers.setdefault(name, value)
            await send(message)

        await self._app(scope, receive, send_with_headers)
