"""Workers that are processes of this machine.

Each is a Python of its own that takes pickled batches at its standard input and answers at its standard output. It
ends when its input does, so none outlives the process that started it; and it is in a session of its own, so that
Ctrl-C reaches only those who can say what is kept.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import BinaryIO

from sketchhash.errors import SketchHashError
from sketchhash.gallery.examining import Errand, Finding, KnownContents, examine
from sketchhash.gallery.store import Gallery
from sketchhash.gallery.workplaces import Team, WorkerLost
from sketchhash.model import Model, read_manifest

_COMMAND = (sys.executable, "-c", "from sketchhash.gallery.worker_processes import work; work()")
# Workers are as many as there are cores to use: each keeps to one.
_ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}

_HOPELESS = 4  # a file that no worker survives costs so many, alone and in its batch; more is not a file's fault


@dataclass(frozen=True)
class WorkerProcesses:
    """So many processes, each with a model of its own and one thread to run it."""

    folder: Path
    workers: int

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the model in ``folder``."""
        return read_manifest(self.folder).fingerprint

    def open(self, gallery: Gallery) -> Team:
        """Start a team."""
        return ProcessTeam(self.folder, self.workers, KnownContents.of(gallery))


class ProcessTeam:
    """Processes that are started when there is work for them, and again when they die."""

    def __init__(self, folder: Path, size: int, known: KnownContents) -> None:
        """Take the model's folder, the most processes at once, and what the gallery has."""
        self.size = size
        self._introduction = pickle.dumps((folder.absolute(), known))
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

    def examine(self, errands: Sequence[Errand]) -> list[Finding]:
        """Examine files in a process that is free."""
        worker = self._take()
        try:
            answer = worker.ask(errands)
        except (OSError, EOFError, pickle.UnpicklingError) as problem:
            self._dismiss(worker)
            self._mourn()
            raise WorkerLost from problem
        except BaseException:
            self._dismiss(worker)
            raise
        self._give_back(worker)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        """End all processes; who waits for one loses it."""
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
            worker = _Worker(self._introduction)
            self._all.add(worker)
            return worker

    def _give_back(self, worker: _Worker) -> None:
        with self._turn:
            self._has_answered = True
            if not self._is_closed:
                self._idle.append(worker)
                return
        self._dismiss(worker)

    def _mourn(self) -> None:
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
    def __init__(self, introduction: bytes) -> None:
        self._introduction = introduction
        self.process = subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **_ONE_THREAD},
            start_new_session=True,
        )

    def ask(self, errands: Sequence[Errand]) -> list[Finding] | Exception:
        requests, answers = self.process.stdin, self.process.stdout
        assert requests and answers  # both are pipes
        requests.write(self._introduction + pickle.dumps(list(errands)))
        requests.flush()
        self._introduction = b""
        answer: list[Finding] | Exception = pickle.load(answers)
        return answer

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


def work() -> None:
    """Be a worker: take batches until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What libraries print must not get between the answers.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, answers)


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer each batch with its findings, or with the error that there was, until the requests end."""
    try:
        folder, known = pickle.load(requests)
        model: Model | None = None
        while True:
            errands = pickle.load(requests)
            answer: list[Finding] | Exception
            try:
                model = model or Model.load(folder)
                answer = examine(model, errands, known.__contains__)
            except Exception as problem:
                answer = problem
            pickle.dump(answer, answers)
            answers.flush()
    except EOFError:
        return
