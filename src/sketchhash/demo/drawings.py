"""Drawings to try: twenty everyday things, as people scribble them with a mouse."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from importlib.resources import files
from pathlib import Path
from threading import Thread

from sketchhash.errors import SketchHashError
from sketchhash.imaging import Drawing
from sketchhash.server import Access, create_app, listen, open_service, server
from sketchhash.server.schemas import SearchAnswer


def drawings() -> dict[str, Drawing]:
    """Give the drawings by name; every name is a category of the synthetic world.

    >>> list(drawings())[:3]
    ['airplane', 'apple', 'banana']
    """
    text = (files("sketchhash.demo") / "drawings.toml").read_text(encoding="utf-8")
    return {name: Drawing.from_json(strokes) for name, strokes in tomllib.loads(text).items()}


_HOST = "127.0.0.1"
_PATIENCE_SECONDS = 60.0
_STOPPING_SECONDS = 20.0


@dataclass(frozen=True)
class Finding:
    """What a drawing found."""

    drawing: str
    answer: SearchAnswer


def check(gallery: Path, model_folder: Path, hits: int = 5) -> Iterator[Finding]:
    """Start a service on a free port of this machine, look at its page, and search with every drawing.

    Raises:
        SketchHashError: If the service does not answer as it should, or finds nothing.
    """
    with _serving(gallery, model_folder) as port:
        _ask(port, "GET", "/")
        for name, drawing in drawings().items():
            question = json.dumps({"strokes": drawing.to_json(), "k": hits})
            answer = SearchAnswer.model_validate_json(_ask(port, "POST", "/api/search", question))
            if not answer.hits:
                raise SketchHashError(f"The gallery {gallery} has no photos that a search could find.")
            yield Finding(name, answer)


@contextmanager
def _serving(gallery: Path, model_folder: Path) -> Iterator[int]:
    """Run a service in another thread until the block ends, and give its port."""
    with listen(_HOST, 0) as listener, open_service(gallery, model_folder) as service:
        answering = server(create_app(service, Access()))
        thread = Thread(target=answering.run, kwargs={"sockets": [listener]}, name="service", daemon=True)
        thread.start()
        try:
            yield listener.getsockname()[1]
        finally:
            answering.should_exit = True
            thread.join(_STOPPING_SECONDS)


def _ask(port: int, method: str, path: str, body: str | None = None) -> bytes:
    connection = HTTPConnection(_HOST, port, timeout=_PATIENCE_SECONDS)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        content = answer.read()
    except (OSError, HTTPException) as problem:
        raise SketchHashError(f"The service did not answer {method} {path}: {problem!r}.") from problem
    finally:
        connection.close()
    if answer.status != HTTPStatus.OK:
        raise SketchHashError(f"The service answered {method} {path} with status {answer.status}: {content!r}.")
    return content
