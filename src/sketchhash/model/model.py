"""A trained model, ready to turn photos and drawings into values whose signs are their codes.

Values are ``(n, bits)`` of ``float32``; `sketchhash.codes.pack` makes codes of them, where zero counts as
positive. The networks are ONNX graphs that run on the CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import BadArgument, IncompatibleModel, UnknownName
from sketchhash.imaging import (
    DEFAULT_LIMITS,
    Drawing,
    InkStyle,
    Limits,
    Run,
    fit_square,
    rasterise,
    read_shrunk_photo,
    read_small_photo,
    run,
)
from sketchhash.model.folder import read_calibration, read_manifest, require_intact
from sketchhash.model.manifest import (
    FETCH_AGAIN,
    IMAGE_NETWORK,
    MANIFEST,
    SKETCH_NETWORK,
    TOKEN_WEIGHTS,
    Manifest,
    TokenInput,
)
from sketchhash.tokens import Detector, TokenStyle, contour_scores, detector, draw_tokens

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

# Larger batches gain little: an AlexNet-sized graph takes 23.7 ms a photo alone, 15.7 by 16, 15.1 by 32.
_BATCH = 16

Photo = NDArray[np.uint8]
Scores = NDArray[np.float32]

_ONLY_FATAL = 4

# Models whose manifest does not name a side take photos at this one; it decides their codes.
_DECODED = 512


class Model:
    """The two networks of a model folder with the preparation of their inputs; safe to use from many threads."""

    def __init__(self, folder: Path, manifest: Manifest, threads: int) -> None:
        """Open the networks in ``folder``; use `load`, which checks the files first."""
        self.folder = folder
        self.manifest = manifest
        self.calibration = read_calibration(folder, manifest)
        self._ink_style = manifest.ink.style
        ink = (manifest.ink.size, manifest.ink.size)
        ports = []
        if manifest.photos:
            ports.append(Port("photos", "uint8", (manifest.photos.size, manifest.photos.size, 3)))
        if manifest.tokens:
            ports.append(Port("tokens", "uint8", ink))
            self._detector = _find_detector(manifest, manifest.tokens, folder)
            self._token_style = _token_style(manifest.tokens, self._ink_style)
        self._image = Network(folder / IMAGE_NETWORK, ports, manifest.bits, threads)
        self._sketch = Network(folder / SKETCH_NETWORK, [Port("sketches", "uint8", ink)], manifest.bits, threads)

    @classmethod
    def load(cls, folder: Path, threads: int = 1) -> Self:
        """Load the model in ``folder``, or raise `IncompatibleModel` when it is damaged or of another kind.

        ``threads`` share the work of one call; the values do not depend on it.
        """
        require_intact(folder)
        try:
            return cls(folder, read_manifest(folder), threads)
        except BadArgument as problem:
            raise IncompatibleModel(
                f"{folder / MANIFEST} asks for what cannot be done: {problem} Export the model anew."
            ) from problem

    @property
    def bits(self) -> int:
        """Return the length of a code."""
        return self.manifest.bits

    @property
    def fingerprint(self) -> str:
        """Identify the model in a gallery: codes of two models compare only when this is the same."""
        return self.manifest.fingerprint

    def read_photo(self, source: Path | bytes, limits: Limits = DEFAULT_LIMITS, run: Run = run) -> Photo:
        """Decode a photo as this model takes it; see `read_photo_for`."""
        return read_photo_for(self.manifest, source, limits, run)

    def find_contours(self, photos: Sequence[Photo]) -> list[Scores] | None:
        """Score every pixel of each photo for lying on a contour, or return None if the model knows no contours."""
        if not self.manifest.tokens:
            return None
        return [contour_scores(_checked(photo), self._detector) for photo in photos]

    def encode_photos(self, photos: Sequence[Photo], contours: Sequence[Scores] | None = None) -> NDArray[np.float32]:
        """Return values ``(photos, bits)`` for photos ``(height, width, 3)`` of any size.

        ``contours`` are what `find_contours` returned for them, if that was asked before: it takes most of the time.
        """
        values = np.empty((len(photos), self.bits), dtype=np.float32)
        for rows in _batches(len(photos)):
            batch = [_checked(photo) for photo in photos[rows]]
            inputs = {}
            if self.manifest.photos:
                inputs["photos"] = np.stack([fit_square(photo, self.manifest.photos.size) for photo in batch])
            if self.manifest.tokens:
                scores = contours[rows] if contours is not None else self.find_contours(batch) or ()
                size = self.manifest.ink.size
                inputs["tokens"] = np.stack([draw_tokens(each, size, self._token_style) for each in scores])
            values[rows] = self._image.run(inputs)
        return values

    def encode_sketches(self, ink: NDArray[np.uint8]) -> NDArray[np.float32]:
        """Return values ``(sketches, bits)`` for rasterised sketches ``(sketches, size, size)``."""
        size = self.manifest.ink.size
        if ink.dtype != np.uint8 or ink.shape[1:] != (size, size):
            raise BadArgument(
                f"Sketches should be uint8 of shape (n, {size}, {size}), found {ink.dtype} of {ink.shape}. "
                "Rasterise them at the size in the model's manifest."
            )
        values = np.empty((len(ink), self.bits), dtype=np.float32)
        for rows in _batches(len(ink)):
            values[rows] = self._sketch.run({"sketches": ink[rows]})
        return values

    def encode_drawing(self, drawing: Drawing) -> NDArray[np.float32]:
        """Return values ``(1, bits)`` for strokes, inked as the training sketches were."""
        ink = rasterise(drawing, self.manifest.ink.size, self._ink_style)
        return self.encode_sketches(ink[np.newaxis])


def read_photo_for(
    manifest: Manifest | None, source: Path | bytes, limits: Limits = DEFAULT_LIMITS, run: Run = run
) -> Photo:
    """Decode a photo at the size from which a model makes codes and a gallery makes thumbnails.

    Models that name no side take photos as they did before there was one, so that their codes stay the same.

    Raises:
        UnreadableImage: If it cannot be decoded.
    """
    return run(photo_reader(manifest, limits), source)


def photo_reader(manifest: Manifest | None, limits: Limits = DEFAULT_LIMITS) -> Callable[[Path | bytes], Photo]:
    """Return the function by which `read_photo_for` decodes; it can be sent to another process."""
    has_side = manifest is not None and manifest.photos is not None and manifest.photos.decoded is not None
    read = read_small_photo if has_side else read_shrunk_photo
    return partial(read, longest=decoded_side(manifest), limits=limits)


def decoded_side(manifest: Manifest | None) -> int:
    """Return the longest side at which photos are decoded for a model."""
    named = manifest.photos.decoded if manifest is not None and manifest.photos is not None else None
    return _DECODED if named is None else named


@dataclass(frozen=True)
class Port:
    """An input or output as a graph declares it; ``shape`` leaves out the first axis, which must be free."""

    name: str
    element: str
    shape: tuple[int, ...]

    def __str__(self) -> str:
        """Read as ``photos uint8 (n, 224, 224, 3)``."""
        return f"{self.name} {self.element} ({', '.join(map(str, ('n', *self.shape)))})"


class Network:
    """A graph that gives one value per bit for each row of its inputs; safe to run from many threads."""

    def __init__(self, path: Path, inputs: Sequence[Port], bits: int, threads: int) -> None:
        """Open the graph at ``path``, or raise `IncompatibleModel` if its inputs or outputs differ from these."""
        self._session = _open(path, threads)
        output = Port("values", "float", (bits,))
        _check_ports(f"{path} takes", self._session.get_inputs(), inputs)
        _check_ports(f"{path} gives", self._session.get_outputs(), [output])

    def run(self, inputs: Mapping[str, NDArray[np.uint8]]) -> NDArray[np.float32]:
        """Return values ``(rows, bits)``."""
        values: NDArray[np.float32] = self._session.run(["values"], dict(inputs))[0]
        return values


def _batches(count: int) -> Iterator[slice]:
    return (slice(start, start + _BATCH) for start in range(0, count, _BATCH))


def _checked(photo: Photo) -> Photo:
    if photo.dtype != np.uint8 or photo.ndim != 3 or photo.shape[2] != 3 or photo.size == 0:
        raise BadArgument(
            f"A photo should be uint8 of shape (height, width, 3), found {photo.dtype} of {photo.shape}. "
            "Read it with sketchhash.imaging."
        )
    return photo


def _token_style(tokens: TokenInput, ink: InkStyle) -> TokenStyle:
    return TokenStyle(tokens.threshold, tokens.floor, tokens.most_ink, tokens.fewest, ink)


def _find_detector(manifest: Manifest, tokens: TokenInput, folder: Path) -> Detector:
    weights = folder / TOKEN_WEIGHTS if TOKEN_WEIGHTS in manifest.files else None
    made_with = f"The model in {folder} was made with the token detector {tokens.detector!r}"
    try:
        found = detector(tokens.detector, weights)
    except UnknownName as problem:
        raise IncompatibleModel(
            f"{made_with}, which this version lacks. Type: pip install --upgrade sketchhash"
        ) from problem
    if found.fingerprint != tokens.fingerprint:
        raise IncompatibleModel(
            f"{made_with} of fingerprint {tokens.fingerprint}, and this version's is {found.fingerprint}. "
            "Install the version of sketchhash named in the model's README.md, or export the model anew."
        )
    return found


def _open(path: Path, threads: int) -> InferenceSession:
    # Imported here so that `sketchhash --help` does not wait for the runtime's library.
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ONLY_FATAL
    try:
        network = path.read_bytes()
        # The key of every reference to weights in another file, for which no manifest speaks.
        if b"location" in network:
            raise IncompatibleModel(
                f"{path} keeps weights in another file. Export the model again as one file. {FETCH_AGAIN}"
            )
        return onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
    except IncompatibleModel:
        raise
    except Exception as problem:  # the runtime's many errors share no nearer ancestor
        raise IncompatibleModel(f"{path} is not a network that can be run: {problem}. {FETCH_AGAIN}") from problem


def _check_ports(claim: str, declared: list[Any], expected: Sequence[Port]) -> None:
    """Compare names, element types and shapes; the order of inputs does not matter, as they go by name."""
    found = sorted(_describe(port) for port in declared)
    wanted = sorted(map(str, expected))
    if found != wanted:
        raise IncompatibleModel(
            f"{claim} {' and '.join(found)}, but its manifest says {' and '.join(wanted)}. Export the model anew."
        )


def _describe(port: Any) -> str:  # noqa: ANN401 - onnxruntime is untyped
    element = port.type.removeprefix("tensor(").removesuffix(")")
    axes = [str(axis) for axis in port.shape]
    if axes and not isinstance(port.shape[0], int):
        axes[0] = "n"
    return f"{port.name} {element} ({', '.join(axes)})"
