"""A small convolutional network that scores contours, many times faster than the forest.

    photo ──► five resolutions, 1/2 to 1/32 ──► merged from coarse to fine ──► four scores a half-size pixel ──► scores

It was trained here, from the outlines that people drew in BSDS500 and from a teacher's scores (see
`sketchhash.tokens.training.contour_net`). A file of weights is an ``.npz`` with the ONNX graph inside. The graph takes
a photo ``(h, w, 3)`` of bytes, h and w multiples of 32, and returns ``(h, w)``, each in [0, 1]; ``onnxruntime`` runs
it, on one thread. Several photos may be scored at once.
"""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import IncompatibleModel
from sketchhash.files import replacing

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

SHIPPED_NETWORK = Path(__file__).with_name("contour_net.npz")
STRIDE = 32  # of the coarsest resolution

_VERSION = 1  # raise whenever `detect` returns other scores with the same graph
_FILE_VERSION = 1  # raise whenever the same arrays would mean another graph
_LARGEST_FILE = 64 << 20  # bytes, unpacked
_ONLY_FATAL = 4


@dataclass(frozen=True)
class ContourNet:
    """Scores a pixel by a small network; ``graph`` is the bytes of its ONNX graph."""

    graph: bytes

    @classmethod
    def shipped(cls) -> Self:
        """Load the network that comes with the package."""
        if not SHIPPED_NETWORK.exists():
            raise IncompatibleModel(
                f"The contour network, {SHIPPED_NETWORK}, is not there. "
                "Type: pip install --force-reinstall --no-deps sketchhash"
            )
        return cls.load(SHIPPED_NETWORK)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read a network that `save` wrote.

        Raises:
            IncompatibleModel: If the file is missing, damaged, or of another version.
        """
        try:
            with zipfile.ZipFile(path) as archive:
                unpacked = sum(entry.file_size for entry in archive.infolist())
                if unpacked > _LARGEST_FILE:
                    raise ValueError(f"it unpacks to {unpacked:,} bytes")
                version, graph = (_read(archive, name) for name in ("version", "graph"))
        except Exception as cause:  # a damaged archive fails in a dozen ways
            raise IncompatibleModel(f"{path} cannot be read as a contour network: {cause}.") from cause
        if version.tolist() != _FILE_VERSION:
            raise IncompatibleModel(
                f"{path} is a contour network of version {version}; this sketchhash reads {_FILE_VERSION}."
            )
        return cls(graph.tobytes())

    def save(self, path: Path) -> None:
        """Write the network to one compressed ``.npz`` file, whole or not at all."""
        with replacing(path) as file:
            np.savez_compressed(file, version=_FILE_VERSION, graph=np.frombuffer(self.graph, dtype=np.uint8))

    @property
    def name(self) -> str:
        """The name in the table of detectors."""
        return "contour-net"

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the version and the graph."""
        return hashlib.sha256(f"{self.name} {_VERSION} ".encode() + self.graph).hexdigest()

    def detect(self, photo: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Score a photo ``(h, w, 3)``: ``(h, w)``, each in [0, 1]."""
        height, width = photo.shape[:2]
        border = ((0, -height % STRIDE), (0, -width % STRIDE), (0, 0))
        framed = np.pad(photo, border, mode="symmetric") if any(after for _, after in border) else photo
        scores: NDArray[np.float32] = self._session.run(["scores"], {"photo": np.ascontiguousarray(framed)})[0]
        return scores[:height, :width]

    @cached_property
    def _session(self) -> InferenceSession:
        # Imported here: most commands never score a photo.
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _ONLY_FATAL
        try:
            return onnxruntime.InferenceSession(self.graph, options, providers=["CPUExecutionProvider"])
        except Exception as cause:  # onnxruntime's own errors have no common base
            raise IncompatibleModel(f"The graph of this contour network cannot be run: {cause}") from cause


def _read(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    with archive.open(f"{name}.npy") as file:
        array: NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
    return array
