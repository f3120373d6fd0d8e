"""A training run: from traced photos to a forest, in a work folder from which a stopped run goes on.

    WORK/<fingerprint>/classes.npz      the token classes
    WORK/<fingerprint>/tree-00.npz …    a forest of one tree each, complete or not there

The fingerprint is of the photos, the preset and the seed, so that runs that differ do not meet. Each tree draws
from a generator of its own, seeded by the run's seed and its number: it comes out the same whatever was grown
before it, and by whom.
"""

from __future__ import annotations

import hashlib
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from multiprocessing.pool import ThreadPool
from pathlib import Path

import numpy as np

from sketchhash.errors import DamagedState, NotFitted
from sketchhash.files import replacing
from sketchhash.tokens.forest import Forest
from sketchhash.tokens.training.bsds import TracedPhoto
from sketchhash.tokens.training.growing import grow, join
from sketchhash.tokens.training.presets import Preset
from sketchhash.tokens.training.sampling import draw_pixels, measure
from sketchhash.tokens.training.token_classes import TokenClasses, find_classes

_VERSION = 1  # raise whenever training would grow another forest from the same photos, preset and seed
_CLASSES, _TREES = 0, 1  # the streams of random numbers that a seed gives


@dataclass(frozen=True, eq=False)
class Run:
    """One training run; those of other photos, presets and seeds may share the ``work`` folder."""

    photos: Sequence[TracedPhoto]
    preset: Preset
    seed: int
    work: Path

    @cached_property
    def folder(self) -> Path:
        """Where this run keeps what is finished."""
        content = hashlib.sha256(repr((_VERSION, self.preset, self.seed)).encode())
        for traced in self.photos:
            content.update(repr((traced.photo.shape, traced.contours.shape)).encode())
            content.update(traced.photo.tobytes())
            content.update(np.packbits(traced.contours).tobytes())
        return self.work / content.hexdigest()[:16]

    def find_classes(self, advance: Callable[[], None] = lambda: None) -> TokenClasses:
        """Give the token classes, kept from before if they are there; ``advance`` is called after each photo."""
        path = self.folder / "classes.npz"
        if path.exists():
            return _read_classes(path)
        found = find_classes(self.photos, self.preset, np.random.default_rng((self.seed, _CLASSES)), advance)
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as file:
            np.savez_compressed(file, **vars(found))
        return found

    def missing_trees(self) -> list[int]:
        """Number the trees that are still to be grown."""
        return [number for number in range(self.preset.trees) if not self._path(number).exists()]

    def grow(self, jobs: int = 1) -> Iterator[int]:
        """Grow the missing trees, and give the number of each once it is on disk.

        They grow in threads, where scikit-learn lets go of Python's lock: an interrupt is heard at once, and costs
        the trees that were growing.

        Args:
            jobs: Trees to grow at the same time, each with the memory of its own sample.
        """
        found = self.find_classes()
        with ThreadPool(jobs) as threads:
            yield from threads.imap_unordered(partial(self._grow, found), self.missing_trees())

    def forest(self) -> Forest:
        """Join the trees of a finished run.

        Raises:
            NotFitted: If trees are missing.
        """
        if missing := self.missing_trees():
            raise NotFitted(f"{len(missing)} of {self.preset.trees} trees are still to be grown: call grow first.")
        return join([Forest.load(self._path(number)) for number in range(self.preset.trees)])

    def _path(self, number: int) -> Path:
        return self.folder / f"tree-{number:02}.npz"

    def _grow(self, found: TokenClasses, number: int) -> int:
        rng = np.random.default_rng((self.seed, _TREES, number))
        pixels = draw_pixels(self.photos, found, self.preset, rng)
        tree = grow(measure(self.photos, pixels, self.preset, rng), rng)
        tree.save(self._path(number))
        return number


def _read_classes(path: Path) -> TokenClasses:
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            return TokenClasses(arrays["places"], arrays["tokens"], arrays["pictures"])
    except (OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, zlib.error) as problem:
        raise DamagedState(f"{path} cannot be read: remove it to find the token classes anew.") from problem
