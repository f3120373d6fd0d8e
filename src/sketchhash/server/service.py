"""The service: what the routes work with, the socket it listens on, and the HTTP server."""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from sketchhash import __version__
from sketchhash.engines import open_gallery
from sketchhash.errors import BadArgument
from sketchhash.gallery import Searcher
from sketchhash.imaging import DecoderPool
from sketchhash.model import Model, manifest
from sketchhash.server.examples import ExampleCache
from sketchhash.server.limits import ABORT, HEAD_BYTES, WorkPool
from sketchhash.server.metrics import Metrics
from sketchhash.server.overview import OverviewCache
from sketchhash.server.photos import Photos
from sketchhash.server.schemas import GalleryAnswer, ModelAnswer
from sketchhash.server.search import Finder

HEADER_SECONDS = 10.0

DECODERS = 2  # processes, of which each may take `MAX_MEMORY`: the most that all pictures together take
_PATIENCE = 3  # times the seconds of processor time
_NICENESS = 10  # drawings come first where cores are few

_KEEP_ALIVE_SECONDS = 30
_CONNECTIONS = 500
_SHUTDOWN_SECONDS = 5
_CORES = os.cpu_count() or 1


def _inference_pool() -> WorkPool:
    # At a few milliseconds a sketch, the last in the queue waits for a tenth of a second.
    return WorkPool("inference", threads=_CORES, queue=16 * _CORES)


def _reading_pool() -> WorkPool:
    # A page asks for dozens of thumbnails at once, but they are quick.
    return WorkPool("reading", threads=4, queue=500)


def _picture_pool() -> WorkPool:
    # Pictures have threads of their own: nobody who draws waits behind one. Each thread holds a file, and each task
    # that waits holds an upload.
    return WorkPool("pictures", threads=DECODERS, queue=4 * DECODERS)


@dataclass(frozen=True)
class Service:
    """One gallery, its model, and the threads that work for them; ``edition`` differs at each start."""

    finder: Finder
    photos: Photos
    overview: OverviewCache
    examples: ExampleCache
    model: ModelAnswer
    inference: WorkPool = field(default_factory=_inference_pool)
    reading: WorkPool = field(default_factory=_reading_pool)
    pictures: WorkPool = field(default_factory=_picture_pool)
    metrics: Metrics = field(default_factory=Metrics)
    edition: str = field(default_factory=lambda: secrets.token_hex(4))

    def describe(self) -> GalleryAnswer:
        """Return the gallery in numbers."""
        overview = self.overview.get()
        return GalleryAnswer(
            photos=overview.photos,
            bits=overview.bits,
            memory_bytes=overview.memory_bytes,
            labels=overview.labels,
            folders=overview.folders,
            model=self.model,
            version=__version__,
            edition=self.edition,
            last_indexed=overview.last_indexed,
            dated=overview.dated,
            placed=overview.placed,
            first_taken=overview.first_taken,
            last_taken=overview.last_taken,
            drawings=overview.drawings,
        )


@contextmanager
def open_service(gallery: str | Path, model_folder: Path) -> Iterator[Service]:
    """Load the model and open the gallery, a file or an engine's address, until the block ends.

    The codes of a file are loaded too, which takes about a second for a million photos.
    """
    model = Model.load(model_folder)
    with open_gallery(gallery, model) as opened, searcher_service(Searcher(model, opened, lasting=True)) as service:
        yield service


@contextmanager
def searcher_service(searcher: Searcher) -> Iterator[Service]:
    """Start a service for a gallery that is open already; the gallery stays open at the end of the block."""
    decoders = DecoderPool(DECODERS, patience=_PATIENCE, niceness=_NICENESS)
    service = Service(
        finder=Finder(searcher, decoders.run),
        photos=Photos(searcher.gallery, decoders.run),
        overview=OverviewCache(searcher.gallery, searcher.model.calibration),
        examples=ExampleCache(searcher),
        model=_describe(searcher.model),
    )
    try:
        yield service
    finally:
        decoders.close()
        for pool in (service.inference, service.reading, service.pictures):
            pool.close()


def listen(host: str, port: int) -> socket.socket:
    """Open a listening socket; clients wait until a server accepts them. Port 0 means any free port.

    Raises:
        BadArgument: If the address is not available.
    """
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise BadArgument(f"Port {port} is in use. Stop what uses it, or name another with --port.") from error
        raise BadArgument(
            f"The service cannot listen on {host}, port {port} ({error.strerror}). Name others with --host and --port."
        ) from error


def create_server(app: FastAPI) -> uvicorn.Server:
    """Create the server for a listening socket: call its ``run`` with ``sockets=[listener]``.

    It ends on Ctrl-C or SIGTERM, after a few seconds for the requests that are under way.
    """
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # what is wrong with a form is for who sent it
    config = uvicorn.Config(
        app,
        http=DeadlineProtocol,
        ws="none",
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=_CONNECTIONS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=_SHUTDOWN_SECONDS,
        h11_max_incomplete_event_size=HEAD_BYTES,
    )
    return uvicorn.Server(config)


class DeadlineProtocol(H11Protocol):
    """HTTP with a deadline for the head of a request, for which uvicorn itself waits without limit.

    Requests carry a way to break off their connection. To close it would wait for the client to read what is sent.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Set a deadline for the first request."""
        super().connection_made(transport)
        # asyncio does so too, but not for sockets that were opened without naming TCP. Head and body of a response
        # are written separately, and the body would wait up to 40 ms for the client to acknowledge the head.
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._set_deadline()

    def data_received(self, data: bytes) -> None:
        """Clear the deadline when the head of a request is complete; set one at the first bytes of the next."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._clear_deadline()
        elif self._deadline is None:
            self._set_deadline()

    def handle_events(self) -> None:
        """Start a request whose head is complete, and tell it how to break off."""
        super().handle_events()
        if self.scope:
            self.scope[ABORT] = self.transport.abort  # type: ignore[literal-required]

    def connection_lost(self, exc: Exception | None) -> None:
        """Clear the deadline."""
        self._clear_deadline()
        super().connection_lost(exc)

    def _set_deadline(self) -> None:
        self._deadline = self.loop.call_later(HEADER_SECONDS, self.transport.close)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _describe(model: Model) -> ModelAnswer:
    return ModelAnswer(
        name=model.manifest.name,
        categories=model.manifest.categories,
        card=(model.folder / manifest.CARD).read_text(encoding="utf-8"),
        scores=dict(model.manifest.scores),
    )
