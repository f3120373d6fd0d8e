"""Check that a service finds photos with the drawings of the package."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from threading import Thread

from sketchhash.datasets import example_drawings
from sketchhash.errors import SketchHashError
from sketchhash.server import Access, create_app, create_server, listen, open_service
from sketchhash.server.schemas import SearchAnswer

_HOST = "127.0.0.1"
_TIMEOUT_SECONDS = 60.0
_SHUTDOWN_SECONDS = 20.0


@dataclass(frozen=True)
class Finding:
    """What the service answered to a drawing."""

    drawing: str
    answer: SearchAnswer


def check(gallery: Path, model_folder: Path, hits: int = 5) -> Iterator[Finding]:
    """Start a service on a free port of this machine, fetch its page, and search with every drawing over HTTP.

    Raises:
        SketchHashError: If the service does not answer as it should, or finds nothing.
    """
    with _serving(gallery, model_folder) as port:
        _request(port, "GET", "/")
        for name, drawing in example_drawings().items():
            query = json.dumps({"strokes": drawing.to_json(), "k": hits})
            answer = SearchAnswer.model_validate_json(_request(port, "POST", "/api/search", query))
            if not answer.hits:
                raise SketchHashError(f"The gallery {gallery} has no photos that a search could find.")
            yield Finding(name, answer)


@contextmanager
def _serving(gallery: Path, model_folder: Path) -> Iterator[int]:
    """Run a service in another thread until the block ends, and yield its port."""
    with listen(_HOST, 0) as listener, open_service(gallery, model_folder) as service:
        server = create_server(create_app(service, Access()))
        thread = Thread(target=server.run, kwargs={"sockets": [listener]}, name="service", daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(_SHUTDOWN_SECONDS)


def _request(port: int, method: str, path: str, body: str | None = None) -> bytes:
    connection = HTTPConnection(_HOST, port, timeout=_TIMEOUT_SECONDS)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        response = connection.getresponse()
        content = response.read()
    except (OSError, HTTPException) as error:
        raise SketchHashError(f"The service did not answer {method} {path}: {error!r}.") from error
    finally:
        connection.close()
    if response.status != HTTPStatus.OK:
        raise SketchHashError(f"The service answered {method} {path} with status {response.status}: {content!r}.")
    return content
