"""Where files are examined: in this process, in others (`worker_processes`) or on other machines (`ray_workers`).

A workplace opens a team for each run. Whatever the place, batches come back in order, only a few are under way at
any time, and a worker that dies costs the batch it had in hand, which another one does again. A file that no worker
survives is reported like any other that cannot be read.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

from sketchhash.gallery.examining import Errand, Finding, examine
from sketchhash.gallery.photos import Failure
from sketchhash.gallery.store import Gallery
from sketchhash.model import Model

_TRIES = 2
_T = TypeVar("_T")


class WorkerLost(Exception):
    """A worker died over a batch; nothing is known about its files."""


class Team(Protocol):
    """Workers that examine files, for as long as one run takes."""

    @property
    def size(self) -> int:
        """How many batches they work on at once."""
        ...

    def examine(self, errands: Sequence[Errand]) -> list[Finding]:
        """Examine files; up to ``size`` threads may call this at once.

        Raises:
            WorkerLost: If the worker died that had them in hand.
        """
        ...

    def close(self) -> None:
        """Send everybody home, at once; calls that are waiting end with some error."""
        ...


class Workplace(Protocol):
    """A place where teams work with one model."""

    @property
    def fingerprint(self) -> str:
        """The model's; see `Model.fingerprint`."""
        ...

    def open(self, gallery: Gallery) -> Team:
        """Start a team that knows which contents ``gallery`` has."""
        ...


@dataclass(frozen=True)
class ThisProcess:
    """Threads of this process: nothing to start, and the gallery itself can be asked."""

    model: Model
    threads: int

    @property
    def fingerprint(self) -> str:
        """The model's."""
        return self.model.fingerprint

    def open(self, gallery: Gallery) -> Team:
        """Start a team."""
        return _Threads(self.model, gallery.has_content, self.threads)


@dataclass(frozen=True)
class _Threads:
    model: Model
    is_known: Callable[[str], bool]
    size: int

    def examine(self, errands: Sequence[Errand]) -> list[Finding]:
        return examine(self.model, errands, self.is_known)

    def close(self) -> None:
        pass


def in_order(
    team: Team, batches: Iterable[tuple[_T, Sequence[Errand]]]
) -> Generator[tuple[_T, list[Finding]], None, None]:
    """Let the team examine each batch, and give the findings beside what came with it; close the team at the end."""
    pool = ThreadPoolExecutor(team.size, "indexing")
    pending: deque[tuple[_T, Future[list[Finding]]]] = deque()
    try:
        for companion, errands in batches:
            pending.append((companion, pool.submit(patiently, team, errands)))
            if len(pending) > 2 * team.size:
                first, future = pending.popleft()
                yield first, future.result()
        while pending:
            first, future = pending.popleft()
            yield first, future.result()
    finally:
        for _, future in pending:
            future.cancel()
        team.close()
        pool.shutdown()


def patiently(team: Team, errands: Sequence[Errand]) -> list[Finding]:
    """Examine files as often as it takes: again when a worker died, and one by one when it happens again."""
    for _ in range(_TRIES if errands else 0):
        try:
            return team.examine(errands)
        except WorkerLost:
            continue
    if len(errands) == 1:
        reason = f"the process that read it died, {_TRIES} times. It may be broken, or there is too little memory."
        return [Failure(errands[0].path, reason)]
    return [finding for errand in errands for finding in patiently(team, [errand])]
