"""All that stands behind the routes, opened and closed as one."""

from __future__ import annotations

import asyncio
import errno
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from sketchhash.errors import BadArgument
from sketchhash.gallery import open_served
from sketchhash.model import Model, layout
from sketchhash.server.limits import WorkPool
from sketchhash.server.metrics import Metrics
from sketchhash.server.overview import CensusTaker
from sketchhash.server.photos import Photos
from sketchhash.server.schemas import ModelAnswer
from sketchhash.server.search import Finder

_CORES = os.cpu_count() or 1


def _inference() -> WorkPool:
    # At a few milliseconds a sketch, the last in the queue waits for a tenth of a second.
    return WorkPool("inference", threads=_CORES, queue=16 * _CORES)


def _reading() -> WorkPool:
    # Each may hold a photo of 100 MB; thumbnails come by the dozen, and go as fast.
    return WorkPool("reading", threads=4, queue=500)


@dataclass(frozen=True)
class Service:
    """One gallery, one model, and the threads that work for them; ``edition`` is new each time."""

    finder: Finder
    photos: Photos
    census: CensusTaker
    model: ModelAnswer
    inference: WorkPool = field(default_factory=_inference)
    reading: WorkPool = field(default_factory=_reading)
    metrics: Metrics = field(default_factory=Metrics)
    edition: str = field(default_factory=lambda: secrets.token_hex(4))


@contextmanager
def open_service(gallery: str | Path, model_folder: Path) -> Iterator[Service]:
    """Load the model, and open the gallery in a file or at an engine's address, until the block ends.

    The codes of a file are loaded too, about a second for a million photos.
    """
    model = Model.load(model_folder)
    with ExitStack() as stack:
        served = stack.enter_context(open_served(gallery, model))
        service = Service(
            finder=Finder(model, served.searched, served.looked_up),
            photos=Photos(served.looked_up),
            census=CensusTaker(served.counted),
            model=_describe(model, model_folder),
        )
        stack.callback(service.reading.close)
        stack.callback(service.inference.close)
        yield service


def _describe(model: Model, folder: Path) -> ModelAnswer:
    return ModelAnswer(
        name=model.manifest.name,
        categories=model.manifest.categories,
        card=(folder / layout.CARD).read_text(encoding="utf-8"),
        scores=dict(model.manifest.scores),
    )


HEADER_SECONDS = 10.0

_HEADER_BYTES = 16_384
_IDLE_SECONDS = 30
_CONNECTIONS = 500
_LAST_SECONDS = 5


def listen(host: str, port: int) -> socket.socket:
    """Open an address to clients, who wait until `answer` sees to them; port 0 is any that is free.

    Raises:
        BadArgument: If the address cannot be had.
    """
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as problem:
        if problem.errno == errno.EADDRINUSE:
            raise BadArgument(f"Port {port} is in use. Stop what uses it, or name another with --port.") from problem
        raise BadArgument(
            f"The service cannot listen on {host}, port {port} ({problem.strerror}). "
            "Name others with --host and --port."
        ) from problem


def server(app: FastAPI) -> uvicorn.Server:
    """Make what answers the clients of a listening socket: call its ``run`` with that socket.

    It ends upon Ctrl-C or SIGTERM, after giving what is under way a few seconds.
    """
    config = uvicorn.Config(
        app,
        http=ImpatientProtocol,
        ws="none",
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=_IDLE_SECONDS,
        timeout_graceful_shutdown=_LAST_SECONDS,
        h11_max_incomplete_event_size=_HEADER_BYTES,
    )
    return uvicorn.Server(config)


class ImpatientProtocol(H11Protocol):
    """HTTP with a deadline for the head of a request, for which uvicorn itself waits without end."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for the first request."""
        super().connection_made(transport)
        # asyncio does so too, but not for sockets that were opened without naming TCP: head and body of an answer
        # are written apart, and the body would wait up to 40 ms for the client to acknowledge the head.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._set_deadline()

    def data_received(self, data: bytes) -> None:
        """Wait no longer when the head of a request is complete; begin to with the first bytes of the next."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._clear_deadline()
        elif self._deadline is None:
            self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._clear_deadline()
        super().connection_lost(exc)

    def _set_deadline(self) -> None:
        self._deadline = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
