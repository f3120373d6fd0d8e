"""How much of a client's bytes, and of its time, the service takes."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sketchhash.imaging import Limits as PictureLimits
from sketchhash.server.errors import TooBusy, TooLarge, TooSlow

MOST_HITS = 500
UPLOADS = PictureLimits(pixels=50_000_000, bytes=20_000_000)


@dataclass(frozen=True)
class Patience:
    """The most bytes of a request, and the seconds for it to arrive and for its answer to be taken.

    A drawing of 20,000 points, the most there may be, takes some 800 kB when coordinates have all their digits.
    """

    drawing_bytes: int = 2_000_000
    picture_bytes: int = UPLOADS.bytes + 100_000  # the other fields of the form
    arriving_seconds: float = 20.0
    taking_seconds: float = 120.0


class BoundedExchange:
    """Middleware that holds requests and answers to a `Patience`.

    A connection whose request was not read to its end is closed: what is still on its way would be read, and
    thrown away, for as long as the client likes.
    """

    def __init__(self, app: ASGIApp, patience: Patience) -> None:
        """Wrap ``app``."""
        self._app = app
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, through a `_Body` and an `_Answer`."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = _Body(receive, Headers(scope=scope), self._patience)
        answer = _Answer(send, body, self._patience.taking_seconds)
        await self._app(scope, body.receive, answer.send)


class _Body:
    """What arrives: counted, and awaited until a deadline."""

    def __init__(self, receive: Receive, headers: Headers, patience: Patience) -> None:
        is_form = headers.get("content-type", "").startswith("multipart/")
        length = headers.get("content-length", "0")
        self._receive = receive
        self._deadline = asyncio.get_running_loop().time() + patience.arriving_seconds
        self._most = patience.picture_bytes if is_form else patience.drawing_bytes
        self._declared = int(length) if length.isdecimal() else 0
        self._arrived = 0
        self.is_complete = self._declared == 0 and "transfer-encoding" not in headers

    async def receive(self) -> Message:
        if self.is_complete:  # what is awaited now is that the client goes away
            return await self._receive()
        if self._declared > self._most:
            raise self._too_large()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError as problem:
            raise TooSlow("The request did not arrive in time. Send it again over a better connection.") from problem
        self._arrived += len(message.get("body", b""))
        if self._arrived > self._most:
            raise self._too_large()
        self.is_complete = not message.get("more_body", False)
        return message

    def _too_large(self) -> TooLarge:
        return TooLarge(f"A request of this kind may have {self._most:,} bytes. Send a smaller picture or drawing.")


class _Answer:
    """What is sent: dropped when the client does not take it, upon which uvicorn ends the connection."""

    def __init__(self, send: Send, body: _Body, seconds: float) -> None:
        self._send = send
        self._body = body
        self._seconds = seconds
        self._deadline: float | None = None

    async def send(self, message: Message) -> None:
        if self._deadline is None:
            self._deadline = asyncio.get_running_loop().time() + self._seconds
        if message["type"] == "http.response.start" and not self._body.is_complete:
            MutableHeaders(scope=message)["Connection"] = "close"
        with suppress(TimeoutError):
            async with asyncio.timeout_at(self._deadline):
                await self._send(message)


_T = TypeVar("_T")


class WorkPool:
    """A few threads with a short queue; to be used from one event loop."""

    def __init__(self, name: str, threads: int, queue: int) -> None:
        """Let ``threads`` work, and ``queue`` more pieces of work wait for them."""
        self.name = name
        self._most = threads + queue
        self._pending: set[Future[Any]] = set()
        self._threads = ThreadPoolExecutor(threads, name)

    @property
    def pending(self) -> int:
        """Count the pieces of work that wait or are being done."""
        return len(self._pending)

    async def run(self, work: Callable[[], _T]) -> _T:
        """Do ``work`` on one of the threads.

        Raises:
            TooBusy: If the queue is full; nothing was begun.
        """
        if self.pending >= self._most:
            raise TooBusy("The service has more to do than it can. Try again in a moment.")
        # A client that goes away does not stop what runs on a thread: that counts until it really ends.
        future = self._threads.submit(work)
        self._pending.add(future)
        future.add_done_callback(self._pending.discard)
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Finish what has begun, and drop what waits."""
        self._threads.shutdown(cancel_futures=True)
