"""The service: a page to draw on, and the HTTP interface behind it.

    request ──► metrics ──► headers ──► access ──► limits ──► routes ──► work pool ──► search, photos, overview

`open_service` opens a gallery and its model, `listen` opens a socket, and `serve` answers its clients. `create_app` and
`create_server` are for those who run it otherwise. `serve_assistant` answers an assistant instead of a browser.
"""

from sketchhash.server.access import Access
from sketchhash.server.app import create_app, serve
from sketchhash.server.assistant import serve_assistant
from sketchhash.server.limits import RequestLimits
from sketchhash.server.service import Service, create_server, listen, open_service, searcher_service

__all__ = [
    "Access",
    "RequestLimits",
    "Service",
    "create_app",
    "create_server",
    "listen",
    "open_service",
    "searcher_service",
    "serve",
    "serve_assistant",
]
