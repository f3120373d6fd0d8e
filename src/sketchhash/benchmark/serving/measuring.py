"""Start a server, let people draw, and stop it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter, sleep

import numpy as np

from sketchhash.benchmark.serving.drawers import Pace, Reply, draw_until
from sketchhash.benchmark.serving.figures import Figures, Memory
from sketchhash.errors import SketchHashError
from sketchhash.server import Access, create_app, create_server, listen, open_service

_STARTING_SECONDS = 120.0
_WARMING_SECONDS = 3.0
_STOPPING_SECONDS = 20.0
_MEMORY = re.compile(r"^process_resident_memory_bytes (\S+)$", re.MULTILINE)
_PHOTOS = re.compile(r"^sketchhash_photos (\S+)$", re.MULTILINE)


def measure(gallery: Path, model_folder: Path, drawers: int, seconds: float, pace: Pace | None = None) -> Figures:
    """Let so many people draw for so long, after some seconds that do not count.

    The server has a process of its own on this machine; the drawers share this one.
    """
    with _serving(gallery, model_folder) as port, ThreadPoolExecutor(drawers) as people:
        begin = perf_counter() + _WARMING_SECONDS
        end = begin + seconds
        seeds = np.random.default_rng(0).spawn(drawers)
        drawn = [people.submit(draw_until, end, port, pace or Pace(), rng) for rng in seeds]
        sleep(max(begin - perf_counter(), 0))
        warm = _read_metric(port, _MEMORY)
        replies: list[Reply] = [reply for future in drawn for reply in future.result() if reply.asked_at >= begin]
        memory = Memory(warm, _read_metric(port, _MEMORY))
        return Figures.of(replies, drawers, seconds, _read_metric(port, _PHOTOS), memory)


@contextmanager
def _serving(gallery: Path, model_folder: Path) -> Iterator[int]:
    """Run a server in another process and give its port."""
    context = get_context("spawn")  # a fork would share this process's threads and memory
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_serve, args=(gallery, model_folder, theirs), daemon=True)
    process.start()
    theirs.close()
    try:
        yield _await_port(ours)
    finally:
        process.terminate()
        process.join(_STOPPING_SECONDS)


def _serve(gallery: Path, model_folder: Path, parent: Connection) -> None:
    with listen("127.0.0.1", 0) as listener, open_service(gallery, model_folder) as service:
        parent.send(listener.getsockname()[1])
        create_server(create_app(service, Access())).run(sockets=[listener])


def _await_port(child: Connection) -> int:
    try:
        if child.poll(_STARTING_SECONDS):
            return int(child.recv())
    except EOFError:
        pass
    raise SketchHashError("The server did not start; what it said is above.")


def _read_metric(port: int, metric: re.Pattern[str]) -> int:
    connection = HTTPConnection("127.0.0.1", port, timeout=_STOPPING_SECONDS)
    try:
        connection.request("GET", "/metrics")
        found = metric.search(connection.getresponse().read().decode())
    finally:
        connection.close()
    return int(float(found[1])) if found else 0  # only Linux tells a process's memory
