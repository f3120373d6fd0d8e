"""The service: a page to draw on, and the HTTP interface behind it.

    request ──► metrics ──► headers ──► access ──► limits ──► routes ──► work (threads) ──► finding ──► answer

`open_service` opens a gallery and its model, `create_app` makes the application, `listen` and `server` run it.
"""

from sketchhash.server.access import Access
from sketchhash.server.app import create_app
from sketchhash.server.limits import Patience
from sketchhash.server.service import Service, listen, open_service, server

__all__ = ["Access", "Patience", "Service", "create_app", "listen", "open_service", "server"]
