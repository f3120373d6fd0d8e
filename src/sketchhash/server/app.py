"""The application: routes behind a stack of middleware, and the page's static files."""

from __future__ import annotations

import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import FileResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sketchhash import __version__
from sketchhash.server.access import Access, AccessMiddleware
from sketchhash.server.errors import add_error_handlers
from sketchhash.server.limits import LimitsMiddleware, RequestLimits
from sketchhash.server.metrics import MetricsMiddleware
from sketchhash.server.routes import gallery_routes, operation_routes, photo_routes, search_routes, suggestion_routes
from sketchhash.server.service import Service, create_server

_STATIC = Path(__file__).with_name("static")
_REVALIDATE = {"Cache-Control": "no-cache"}

_SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' blob: data:; style-src 'self'; script-src 'self'; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    ),
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def create_app(
    service: Service, access: Access, limits: RequestLimits | None = None, addresses: Sequence[str] = ()
) -> FastAPI:
    """Create the application that answers requests to ``service`` if ``access`` and ``limits`` allow them.

    ``addresses`` are those of the page on other machines, which it shows to whoever may see the gallery.
    """
    # FastAPI's own pages for the OpenAPI document load scripts from other sites.
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
    app.include_router(suggestion_routes(service))
    app.include_router(operation_routes(service, access, addresses))
    app.add_api_route("/", _page, include_in_schema=False)
    app.mount("/static", _Static(directory=_STATIC, check_dir=False))
    add_error_handlers(app)

    # The last one added sees a request first.
    app.add_middleware(LimitsMiddleware, limits=limits or RequestLimits())
    app.add_middleware(AccessMiddleware, access=access)
    app.add_middleware(HeadersMiddleware)
    app.add_middleware(MetricsMiddleware, metrics=service.metrics)
    return app


def serve(service: Service, access: Access, listener: socket.socket) -> None:
    """Answer the clients of a listening socket until Ctrl-C or SIGTERM."""
    with suppress(KeyboardInterrupt):  # uvicorn has ended in good order, and raises the signal again
        addresses = access.addresses_elsewhere(*listener.getsockname()[:2])
        create_server(create_app(service, access, addresses=addresses)).run(sockets=[listener])


class HeadersMiddleware:
    """Middleware that adds security headers to every response, and forbids caching unless a route allows it."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap ``app``."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Add the headers to the response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.update(_SECURITY_HEADERS)
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        await self._app(scope, receive, send_with_headers)


class _Static(StaticFiles):
    """The page's files; browsers keep them, and ask whether they are still the same."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        response = await super().get_response(path, scope)
        response.headers.update(_REVALIDATE)
        return response


async def _page() -> FileResponse:
    return FileResponse(_STATIC / "index.html", headers=_REVALIDATE)
