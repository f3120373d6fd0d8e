"""Workers that read and encode files: threads of this process, other processes, or a cluster (`ray_workers`).

`Workers` say where the work is done, and start a `WorkerPool` for each run. Whatever the place, batches come back in
order, only a few are under way at any time, and a worker that dies costs the batch it had in hand, which another one
does again. A file that kills every worker is reported like any other that cannot be read.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread
from typing import BinaryIO, Protocol, TypeVar

from sketchhash.errors import SketchHashError
from sketchhash.gallery.examining import Examined, Setup, examine
from sketchhash.gallery.photos import Failure
from sketchhash.gallery.protocol import OpenGallery
from sketchhash.gallery.writer import Task
from sketchhash.model import Model, read_manifest

_TRIES = 2

_COMMAND = (sys.executable, "-c", "from sketchhash.gallery.workers import work; work()")
# Workers are as many as there are cores to use: each keeps to one.
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}

_HOPELESS = 4  # a file that kills every worker kills this many, alone and in its batch; more is not a file's fault

_T = TypeVar("_T")


class WorkerLost(Exception):
    """A worker died over a batch; nothing is known about its files."""


class WorkerPool(Protocol):
    """Workers that examine files, for as long as one run takes."""

    @property
    def size(self) -> int:
        """How many batches they work on at once."""
        ...

    def examine(self, tasks: Sequence[Task]) -> list[Examined]:
        """Examine files; up to ``size`` threads may call this at once.

        Raises:
            WorkerLost: If the worker died that had them in hand.
        """
        ...

    def close(self) -> None:
        """Stop all workers at once; calls that are waiting end with some error."""
        ...


class Workers(Protocol):
    """Where files are examined, with one model."""

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the model; see `Model.fingerprint`."""
        ...

    def start(self, gallery: OpenGallery) -> WorkerPool:
        """Start workers that know which contents ``gallery`` has."""
        ...


@dataclass(frozen=True)
class WorkerThreads:
    """Threads of this process: nothing to start, and the gallery itself can be asked."""

    model: Model
    threads: int

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the model."""
        return self.model.fingerprint

    def start(self, gallery: OpenGallery) -> WorkerPool:
        """Start workers."""
        return _ThreadPool(self.model, gallery.has_content, self.threads)


@dataclass(frozen=True)
class _ThreadPool:
    model: Model
    is_known: Callable[[str], bool]
    size: int

    def examine(self, tasks: Sequence[Task]) -> list[Examined]:
        return examine(self.model, tasks, self.is_known)

    def close(self) -> None:
        pass


def examine_in_order(
    pool: WorkerPool, batches: Iterable[tuple[_T, Sequence[Task]]]
) -> Generator[tuple[_T, list[Examined]], None, None]:
    """Let the pool examine each batch, and yield its results beside what came with it; close the pool at the end."""
    threads = ThreadPoolExecutor(pool.size, "indexing")
    pending: deque[tuple[_T, Future[list[Examined]]]] = deque()
    try:
        for companion, tasks in batches:
            pending.append((companion, threads.submit(_examine_with_retries, pool, tasks)))
            if len(pending) > 2 * pool.size:
                first, future = pending.popleft()
                yield first, future.result()
        while pending:
            first, future = pending.popleft()
            yield first, future.result()
    finally:
        for _, future in pending:
            future.cancel()
        pool.close()
        threads.shutdown()


def _examine_with_retries(pool: WorkerPool, tasks: Sequence[Task]) -> list[Examined]:
    """Examine files as often as it takes: again when a worker died, and one by one when it happens again."""
    for _ in range(_TRIES if tasks else 0):
        try:
            return pool.examine(tasks)
        except WorkerLost:
            continue
    if len(tasks) == 1:
        reason = f"the process that read it died, {_TRIES} times. It may be broken, or there is too little memory."
        return [Failure(tasks[0].path, reason)]
    return [result for task in tasks for result in _examine_with_retries(pool, [task])]


@dataclass(frozen=True)
class WorkerProcesses:
    """Processes of this machine, each with a model of its own and one thread to run it.

    Each is a Python of its own that takes pickled batches at its standard input and answers at its standard output. It
    ends at once when its input does, so none outlives the process that started it; and it is in a session of its own,
    so that Ctrl-C reaches only the process that can say what is kept.
    """

    folder: Path
    workers: int

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the model in ``folder``."""
        return read_manifest(self.folder).fingerprint

    def start(self, gallery: OpenGallery) -> WorkerPool:
        """Start workers."""
        return ProcessPool(self.folder, self.workers, Setup.of(gallery))


class ProcessPool:
    """Processes that are started when there is work for them, and again when they die."""

    def __init__(self, folder: Path, size: int, setup: Setup) -> None:
        """Store the model's folder, the largest number of processes and what they need to know of the gallery."""
        self.size = size
        self._setup = pickle.dumps((folder.absolute(), setup))
        self._all: set[_Worker] = set()
        self._idle: list[_Worker] = []
        self._turn = Lock()
        self._is_closed = False
        self._has_answered = False
        self._deaths = 0

    @property
    def pids(self) -> list[int]:
        """The processes that are alive, as far as is known."""
        with self._turn:
            return [worker.process.pid for worker in self._all]

    def examine(self, tasks: Sequence[Task]) -> list[Examined]:
        """Examine files in a process that is free."""
        worker = self._take()
        try:
            answer = worker.ask(tasks)
        except (OSError, EOFError, pickle.UnpicklingError) as problem:
            self._dismiss(worker)
            self._count_death()
            raise WorkerLost from problem
        except BaseException:
            self._dismiss(worker)
            raise
        self._give_back(worker)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End all processes; a call that waits for one raises `WorkerLost`."""
        with self._turn:
            self._is_closed = True
            for worker in self._all:
                worker.process.kill()
            idle, self._idle = self._idle, []
        for worker in idle:
            self._dismiss(worker)

    def _take(self) -> _Worker:
        with self._turn:
            if self._is_closed:
                raise CancelledError
            if self._idle:
                return self._idle.pop()
            worker = _Worker(self._setup)
            self._all.add(worker)
            return worker

    def _give_back(self, worker: _Worker) -> None:
        with self._turn:
            self._has_answered = True
            if not self._is_closed:
                self._idle.append(worker)
                return
        self._dismiss(worker)

    def _count_death(self) -> None:
        with self._turn:
            self._deaths += 1
            if not self._has_answered and self._deaths > _HOPELESS * self.size and not self._is_closed:
                raise SketchHashError(
                    f"{self._deaths} worker processes died, and none has done anything: see what they said above. "
                    "Try it without --workers."
                )

    def _dismiss(self, worker: _Worker) -> None:
        with self._turn:
            self._all.discard(worker)
        worker.end()


class _Worker:
    def __init__(self, setup: bytes) -> None:
        self._setup = setup
        self.process = subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **_ONE_THREAD},
            start_new_session=True,
        )

    def ask(self, tasks: Sequence[Task]) -> list[Examined] | Exception:
        requests, answers = self.process.stdin, self.process.stdout
        assert requests and answers  # both are pipes
        requests.write(self._setup + pickle.dumps(list(tasks)))
        requests.flush()
        self._setup = b""
        answer: list[Examined] | Exception = pickle.load(answers)
        return answer

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


def work() -> None:
    """Run as a worker process: examine batches until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(select, "poll"):
        Thread(target=_end_with_requests, daemon=True).start()
    # What libraries print must not get between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    try:
        serve(sys.stdin.buffer, answers)
    except OSError:  # whoever asked is gone, and nobody listens
        os._exit(0)


def _end_with_requests() -> None:
    """End this process, in the middle of a batch, when whoever sends the requests is gone."""
    watch = select.poll()
    watch.register(sys.stdin.fileno(), 0)  # 0: not for data, but for the end of the pipe
    watch.poll()
    os._exit(0)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer each batch with its results, or with the error it raised, until the requests end."""
    try:
        folder, setup = pickle.load(requests)
        examining: Callable[[Sequence[Task]], list[Examined]] | None = None
        while True:
            tasks = pickle.load(requests)
            answer: list[Examined] | Exception
            try:
                examining = examining or setup.examining(Model.load(folder))
                answer = examining(tasks)
            except Exception as problem:
                answer = problem
            pickle.dump(answer, answers)
            answers.flush()
    except EOFError:
        return
