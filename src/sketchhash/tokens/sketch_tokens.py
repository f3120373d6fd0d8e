"""The learned contour detector of Lim, Zitnick and Dollár, "Sketch Tokens" (CVPR 2013).

    photo ──► 14 channels ──► patch features at every second pixel ──► forest ──► share of contours

Each tree was trained to tell 150 kinds of short contours, the sketch tokens, from background. Which kind it is
does not matter here: a pixel's score is the share of all kinds together, one minus that of background.
"""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument, IncompatibleModel
from sketchhash.files import replacing
from sketchhash.tokens import kernel
from sketchhash.tokens.channels import FEATURES, channels, lookup_planes, lookups
from sketchhash.tokens.filters import Planes

LEAF = -1
_FILE_VERSION = 1  # raise whenever the same arrays would mean another forest
_LARGEST_FILE = 256 << 20  # bytes, unpacked; 25 trees of 10,000 nodes take 4 MB
_ARRAYS = {"roots": np.int32, "feature": np.int32, "threshold": np.float32, "left": np.int32, "contour": np.float32}


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees laid end to end; what detection needs of them, and nothing else.

    At an inner node, a patch goes to node ``left`` where its ``feature`` lies below ``threshold``, and to node
    ``left + 1`` otherwise. Children come after their parents, so every walk ends. At a leaf, ``left`` is `LEAF`
    and ``contour`` is the share of its training pixels that lay on a contour; elsewhere those fields mean nothing.

    Attributes:
        roots: First node of each tree, ``(trees,)``.
        feature: Number of the feature, ``(nodes,)``; so are the rest.
        threshold: What it is compared with.
        left: The nearer of the two children.
        contour: From 0 to 1.

    Raises:
        IncompatibleModel: If a walk could leave the arrays or never end.
    """

    roots: NDArray[np.int32]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float32]
    left: NDArray[np.int32]
    contour: NDArray[np.float32]

    def __post_init__(self) -> None:
        """Raise if the arrays are not a valid forest: the compiled code does not check them."""
        problem = self._problem()
        if problem is not None:
            raise IncompatibleModel(f"This is not a forest of sketch tokens: {problem}.")

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything that changes its answers."""
        digest = hashlib.sha256()
        for name in _ARRAYS:
            array = getattr(self, name)
            digest.update(f"{name} {len(array)} ".encode())
            digest.update(array.tobytes())
        return digest.hexdigest()

    def contour_share(self, planes: Planes, corners: NDArray[np.int64]) -> NDArray[np.float32]:
        """Average the answers of all trees about patches: ``(patches,)``, each from 0 to 1.

        Args:
            planes: What features are looked up in, as `lookup_planes` returns them.
            corners: Upper left corner of each patch, as an index into the first plane, flattened.
        """
        places = lookups(*planes.shape[1:])
        compiled = kernel.native()
        if compiled is not None:
            share = np.empty(len(corners), dtype=np.float32)
            nodes = np.empty((len(self.left), 4), dtype=np.int32)
            compiled.walk_forest(
                *(planes, corners, len(corners), places, FEATURES),
                *(self.roots, len(self.roots), self.feature, self.threshold, self.left, self.contour, len(self.left)),
                *(nodes, share),
            )
            return share
        flat = planes.ravel()
        share = np.zeros(len(corners), dtype=np.float32)
        for root in self.roots:
            node = np.full(len(corners), root, dtype=np.intp)
            walking = np.arange(len(corners))
            while len(walking := walking[self.left[node[walking]] != LEAF]):
                here = node[walking]
                first, second = corners[walking] + places[:, self.feature[here]]
                value = flat[first] - flat[second]
                node[walking] = self.left[here] + ~(value < self.threshold[here])
            share += self.contour[node]
        return share / np.float32(len(self.roots))

    def save(self, path: Path) -> None:
        """Write the forest to one compressed ``.npz`` file, whole or not at all."""
        with replacing(path) as file:
            np.savez_compressed(file, version=_FILE_VERSION, **{name: getattr(self, name) for name in _ARRAYS})

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a forest that `save` wrote.

        Raises:
            IncompatibleModel: If the file is missing, damaged, of another version, or holds no forest.
        """
        try:
            with zipfile.ZipFile(path) as archive:
                unpacked = sum(entry.file_size for entry in archive.infolist())
                if unpacked > _LARGEST_FILE:
                    raise ValueError(f"it unpacks to {unpacked:,} bytes")
                version, *arrays = (_read(archive, name) for name in ("version", *_ARRAYS))
        except Exception as cause:  # a damaged archive fails in a dozen ways, down to those of Python's tokenizer
            raise IncompatibleModel(f"{path} cannot be read as a forest of sketch tokens: {cause}.") from cause
        if version.tolist() != _FILE_VERSION:
            raise IncompatibleModel(f"{path} is a forest of version {version}; this sketchhash reads {_FILE_VERSION}.")
        return cls(*arrays)

    def _problem(self) -> str | None:
        nodes = self.left.size
        for name, dtype in _ARRAYS.items():
            array = getattr(self, name)
            if array.dtype != dtype or array.ndim != 1 or (name != "roots" and len(array) != nodes):
                return f"{name} is {array.dtype} {array.shape}"
        if len(self.roots) == 0 or not _within(self.roots, 0, nodes):
            return "a root is missing or not one of its nodes"
        inner = np.flatnonzero(self.left != LEAF)
        if not ((self.left[inner] > inner) & (self.left[inner] < nodes - 1)).all():
            return "a child does not come after its parent"
        if not _within(self.feature[inner], 0, FEATURES):
            return f"a feature is not one of {FEATURES:,}"
        leaves = self.contour[self.left == LEAF]
        if not ((leaves >= 0) & (leaves <= 1)).all():
            return "a share of contours is not from 0 to 1"
        return None


_VERSION = 1  # raise whenever `detect` gives other scores with the same forest
_STRIDE = 2
_MOST_PIXELS = 50_000_000  # about 9 GB of planes, and still within the kernel's 32-bit offsets
SHIPPED_FOREST = Path(__file__).with_name("forest.npz")


@dataclass(frozen=True)
class SketchTokens:
    """Scores a pixel by what a forest says about the patch around it."""

    forest: Forest

    @classmethod
    def shipped(cls) -> Self:
        """Take the forest that comes with the package, trained on BSDS500."""
        if not SHIPPED_FOREST.exists():
            raise IncompatibleModel(
                f"The forest of sketch tokens, {SHIPPED_FOREST}, is not there. "
                "Type: pip install --force-reinstall --no-deps sketchhash"
            )
        return cls(Forest.load(SHIPPED_FOREST))

    @property
    def name(self) -> str:
        """The name it has in the table of detectors."""
        return "sketch-tokens"

    @property
    def fingerprint(self) -> str:
        """A hash of the version and the forest."""
        return hashlib.sha256(f"{self.name} {_VERSION} {self.forest.fingerprint}".encode()).hexdigest()

    def detect(self, photo: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Score a photo ``(h, w, 3)``: ``(h, w)``, each in [0, 1]."""
        height, width = photo.shape[:2]
        if height * width > _MOST_PIXELS:
            raise BadArgument(
                f"Contours are looked for in photos of at most {_MOST_PIXELS:,} pixels, not {width} × {height}: "
                "make it smaller first."
            )
        planes = lookup_planes(channels(photo))
        rows, columns = np.arange(0, height, _STRIDE), np.arange(0, width, _STRIDE)
        corners = rows[:, None] * planes.shape[2] + columns
        share = self.forest.contour_share(planes, corners.ravel())
        return _doubled(_doubled(share.reshape(corners.shape)).T).T[:height, :width]


def _read(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(f"{name}.npy") as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array


def _within(values: NDArray[np.int32], low: int, high: int) -> bool:
    return bool(((values >= low) & (values < high)).all())


def _doubled(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Put the mean of two neighbours between them; the last one is repeated."""
    doubled = np.empty((2 * len(rows), rows.shape[1]), dtype=np.float32)
    doubled[::2] = rows
    doubled[1:-1:2] = np.float32(0.5) * (rows[:-1] + rows[1:])
    doubled[-1] = rows[-1]
    return doubled
