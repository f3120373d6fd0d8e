"""The service: a page to draw on, and the HTTP interface behind it.

    request ──► metrics ──► headers ──► access ──► limits ──► routes ──► work pool ──► search, photos, overview

`open_service` opens a gallery and its model, `create_app` creates the application, and `listen` and `create_server`
run it.
"""

from sketchhash.server.access import Access
from sketchhash.server.app import create_app
from sketchhash.server.limits import RequestLimits
from sketchhash.server.service import Service, create_server, listen, open_service

__all__ = ["Access", "RequestLimits", "Service", "create_app", "create_server", "listen", "open_service"]
