"""Listen, and answer until told to stop."""

from __future__ import annotations

import asyncio
import errno
import socket

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

from sketchhash.errors import BadArgument

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
