"""Work on threads, of which there is only so much at a time.

A service that queues without end answers everybody too late. This one says at once that it is busy, and the
client, who has drawn on meanwhile, asks again with a newer drawing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from sketchhash.server.failures import TooBusy

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
