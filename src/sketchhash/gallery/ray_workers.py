"""Workers on the machines of a Ray cluster.

Every machine needs this package, and the photos under the same paths, as on a network file system. The model is sent
to them. If the gallery is on an engine, they write to it themselves; of a file, codes and thumbnails come back, and
only the process that started the run writes.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Condition
from types import ModuleType
from typing import Any

from sketchhash.errors import BadArgument, SketchHashError, require
from sketchhash.gallery.examining import Examined, Setup
from sketchhash.gallery.protocol import OpenGallery
from sketchhash.gallery.workers import WorkerLost, WorkerPool
from sketchhash.gallery.writer import Task
from sketchhash.model import Model, read_manifest

LOCAL = "local"

_TICK = 0.2  # seconds after which a waiting call checks whether the pool was closed
_OBJECT_STORE = 128 << 20  # holds the model, and the results under way

# Ray reads these when it is imported. No usage statistics are sent; and a cluster of one machine uses the address that
# others cannot reach, as it always does on Windows and macOS.
_QUIET = {"RAY_USAGE_STATS_ENABLED": "0"}
_LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}


@dataclass(frozen=True)
class RayWorkers:
    """A cluster, named as `ray.init` has it: ``host:port``, ``auto``, or ``local`` for a cluster of one run.

    ``workers`` is how many cores to use; all, if None.
    """

    folder: Path
    address: str = LOCAL
    workers: int | None = None

    @property
    def fingerprint(self) -> str:
        """The fingerprint of the model in ``folder``."""
        return read_manifest(self.folder).fingerprint

    def start(self, gallery: OpenGallery) -> WorkerPool:
        """Start workers."""
        return RayPool(self, Setup.of(gallery))


class RayPool:
    """Tasks on a cluster; Ray chooses where each of them runs."""

    def __init__(self, cluster: RayWorkers, setup: Setup) -> None:
        """Join the cluster, or start it, and send it the model and what it needs to know of the gallery."""
        for name, value in (_QUIET if cluster.address != LOCAL else _QUIET | _LOOPBACK).items():
            os.environ.setdefault(name, value)
        self._ray = require("ray", "ray")
        self._waiting = 0
        self._is_closed = False
        self._turn = Condition()
        self._place = TemporaryDirectory(prefix="ray-")  # the path of a socket may not be long
        self._is_guest = self._ray.is_initialized()
        try:
            if not self._is_guest:
                _join(self._ray, cluster, self._place.name)
            cores = int(self._ray.cluster_resources().get("CPU", 1))
            self.size = min(cores, cluster.workers or cores)
            files = {path.name: path.read_bytes() for path in cluster.folder.iterdir() if path.is_file()}
            # In a list, they are fetched by the workers that ask for them, and not with every batch.
            self._setup = [self._ray.put(files), self._ray.put(setup)]
            self._task = self._ray.remote(num_cpus=1, max_retries=0)(examine_on_cluster)
        except BaseException:
            self.close()
            raise

    def examine(self, tasks: Sequence[Task]) -> list[Examined]:
        """Examine files on some machine."""
        with self._turn:
            if self._is_closed:
                raise CancelledError
            self._waiting += 1
        try:
            return self._result(self._task.remote(self._setup, list(tasks)))
        finally:
            with self._turn:
                self._waiting -= 1
                self._turn.notify_all()

    def close(self) -> None:
        """Leave the cluster when no call waits for it any more; a local one ends."""
        with self._turn:
            self._is_closed = True
            self._turn.wait_for(lambda: self._waiting == 0)
        if not self._is_guest and self._ray.is_initialized():
            self._ray.shutdown()
        self._place.cleanup()

    def _result(self, reference: Any) -> list[Examined]:  # noqa: ANN401 - Ray is not always there
        while not self._ray.wait([reference], timeout=_TICK)[0]:
            if self._is_closed:
                self._ray.cancel(reference, force=True)
                raise CancelledError
        errors = self._ray.exceptions
        try:
            results: list[Examined] = self._ray.get(reference)
        except errors.RayTaskError as problem:
            raise problem.cause from problem
        except (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError) as problem:
            raise WorkerLost from problem
        except errors.RayError as problem:
            raise SketchHashError(f"The Ray cluster cannot go on: {problem}. Run the same command again.") from problem
        return results


def _join(ray: ModuleType, cluster: RayWorkers, place: str) -> None:
    """Connect this process with the cluster; Ray prints nothing."""
    try:
        if cluster.address != LOCAL:
            ray.init(cluster.address, log_to_driver=False, logging_level="ERROR")
            return
        # Whatever can talk to a cluster can run programs: this one asks for a password.
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))
        ray.init(
            LOCAL,
            num_cpus=cluster.workers,
            object_store_memory=_OBJECT_STORE,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            _temp_dir=place,
        )
    except Exception as problem:  # they share no nearer ancestor
        if cluster.address == LOCAL:
            raise SketchHashError(f"Ray does not start on this machine: {problem}") from problem
        raise BadArgument(
            f"There is no Ray cluster to join at {cluster.address!r}: {problem}. "
            "Start one with 'ray start --head', or type: --ray local"
        ) from problem


def examine_on_cluster(setup: Sequence[Any], tasks: Sequence[Task]) -> list[Examined]:
    """Examine a batch on a machine of the cluster."""
    return _examining(*setup)(tasks)


@lru_cache(maxsize=1)
def _examining(files: Any, setup: Any) -> Callable[[Sequence[Task]], list[Examined]]:  # noqa: ANN401 - Ray's references
    """Fetch what a worker needs, and open the gallery, once."""
    ray = require("ray", "ray")
    contents: Mapping[str, bytes] = ray.get(files)
    with TemporaryDirectory() as folder:
        for name, content in contents.items():
            (Path(folder) / name).write_bytes(content)
        needed: Setup = ray.get(setup)
        return needed.examining(Model.load(Path(folder)))
