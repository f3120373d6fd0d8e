"""Limits on what a client may send, how long it may take, and how much work runs at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sketchhash.imaging import Limits as PictureLimits
from sketchhash.server.errors import HeadTooLarge, TooBusy, TooLarge, TooSlow, error_response

MOST_HITS = 500
HEAD_BYTES = 16_384
UPLOADS = PictureLimits(pixels=50_000_000, bytes=20_000_000)

ABORT = "sketchhash.abort"  # the key of a request's scope for what breaks off its connection

_T = TypeVar("_T")


@dataclass(frozen=True)
class RequestLimits:
    """The size of a request, the seconds for it to arrive, and the seconds for its response to be read.

    A drawing of 20,000 points, the most there may be, takes about 800 kB if coordinates have all their digits.
    """

    drawing_bytes: int = 2_000_000
    picture_bytes: int = UPLOADS.bytes + 100_000  # the other fields of the form
    receive_seconds: float = 20.0
    send_seconds: float = 120.0


class LimitsMiddleware:
    """Middleware that holds requests and responses to `RequestLimits`.

    A connection whose request was not read to its end is closed: otherwise what is still on its way would be read
    and thrown away for as long as the client likes.
    """

    def __init__(self, app: ASGIApp, limits: RequestLimits) -> None:
        """Wrap ``app``."""
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on with its body and its response bounded."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if _head_bytes(scope) > HEAD_BYTES:
            refusal = error_response(
                HeadTooLarge(f"The head of a request may have {HEAD_BYTES:,} bytes. Send fewer or shorter headers.")
            )
            refusal.headers["Connection"] = "close"
            await refusal(scope, receive, send)
            return
        body = _BoundedBody(receive, Headers(scope=scope), self._limits)
        response = _BoundedResponse(send, body, self._limits.send_seconds, scope.get(ABORT))
        await self._app(scope, body.receive, response.send)


class WorkPool:
    """A few threads with a short queue, to be used from one event loop.

    An unbounded queue would answer every client too late. This one refuses immediately, and the client retries with a
    newer drawing.
    """

    def __init__(self, name: str, threads: int, queue: int) -> None:
        """Start ``threads``, for which at most ``queue`` more tasks may wait."""
        self.name = name
        self._most = threads + queue
        self._pending: set[Future[Any]] = set()
        self._threads = ThreadPoolExecutor(threads, name)

    @property
    def pending(self) -> int:
        """The number of tasks that wait or run."""
        return len(self._pending)

    async def run(self, task: Callable[[], _T]) -> _T:
        """Run ``task`` on one of the threads and return its result.

        Raises:
            TooBusy: If the queue is full; the task was not started.
        """
        if self.pending >= self._most:
            raise TooBusy("The service has more to do than it can. Try again in a moment.")
        # A thread does not stop when the client goes away, so its task counts until it really ends.
        future = self._threads.submit(task)
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Finish the tasks that run and drop those that wait."""
        self._threads.shutdown(cancel_futures=True)


def _head_bytes(scope: Scope) -> int:
    """Count what h11 bounds only while a head is incomplete: one that arrives at once may be longer."""
    target = len(scope["raw_path"]) + len(scope["query_string"])
    return target + sum(len(name) + len(value) + len(": \r\n") for name, value in scope["headers"])


class _BoundedBody:
    """A request body with a size limit and a deadline."""

    def __init__(self, receive: Receive, headers: Headers, limits: RequestLimits) -> None:
        is_form = headers.get("content-type", "").lower().startswith("multipart/")
        length = headers.get("content-length", "0")
        self._receive = receive
        self._deadline = asyncio.get_running_loop().time() + limits.receive_seconds
        self._most = limits.picture_bytes if is_form else limits.drawing_bytes
        self._declared = int(length) if length.isdecimal() else 0
        self._received = 0
        self.is_complete = self._declared == 0 and "transfer-encoding" not in headers

    async def receive(self) -> Message:
        if self.is_complete:  # the only message left is that the client has disconnected
            return await self._receive()
        if self._declared > self._most:
            raise self._too_large()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError as error:
            raise TooSlow("The request did not arrive in time. Send it again over a better connection.") from error
        self._received += len(message.get("body", b""))
        if self._received > self._most:
            raise self._too_large()
        self.is_complete = not message.get("more_body", False)
        return message

    def _too_large(self) -> TooLarge:
        return TooLarge(f"A request of this kind may have {self._most:,} bytes. Send a smaller picture or drawing.")


class _BoundedResponse:
    """A response with a deadline; if the client does not read it in time, the connection is broken off."""

    def __init__(self, send: Send, body: _BoundedBody, seconds: float, abort: Callable[[], None] | None) -> None:
        self._send = send
        self._body = body
        self._seconds = seconds
        self._abort = abort
        self._deadline: float | None = None

    async def send(self, message: Message) -> None:
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().time() + self._seconds
        if message["type"] == "http.response.start" and not self._body.is_complete:
            MutableHeaders(scope=message)["Connection"] = "close"
        try:
            async with asyncio.timeout_at(self._deadline):
                await self._send(message)
        except TimeoutError:
            if self._abort is not None:
                self._abort()
