"""The manifest of a model folder: what the networks expect, how they were made, and every file's checksum.

The networks take raw ``uint8`` pixels and normalise inside, so that no caller can get it wrong:

| graph        | input      | shape                     |
|--------------|------------|---------------------------|
| image.onnx   | `photos`   | (n, size, size, 3)        |
| image.onnx   | `tokens`   | (n, ink size, ink size)   |
| sketch.onnx  | `sketches` | (n, ink size, ink size)   |

Both give `values`, ``(n, bits)`` of ``float32``. The offsets and scales below only tell what happens inside:
a pixel p enters the first layer as (p - offset) / scale.
"""

from __future__ import annotations

import json
import re
import reprlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from sketchhash.codes import MAX_BITS
from sketchhash.errors import BadArgument, IncompatibleModel
from sketchhash.imaging import InkStyle

if TYPE_CHECKING:
    from pydantic import TypeAdapter, ValidationError
    from pydantic_core import ErrorDetails

MANIFEST = "manifest.json"
IMAGE_NETWORK = "image.onnx"
SKETCH_NETWORK = "sketch.onnx"
CARD = "README.md"
TOKEN_WEIGHTS = "tokens.npz"
CALIBRATION = "calibration.npz"

CONTENTS: Mapping[str, str] = MappingProxyType(
    {
        IMAGE_NETWORK: "the network that turns a photo and its token map into one value per bit",
        SKETCH_NETWORK: "the network that turns a drawing into one value per bit",
        MANIFEST: "what the model expects, how it was made, and the checksum of every other file",
        CARD: "the model card: this text",
    }
)
"""Every file that a model folder must hold; the weights of a learned token detector and a calibration may join them."""

FORMAT_VERSION = 1
FETCH_AGAIN = "Copy or download the model folder again, or export the model anew."

_PROBLEMS = {
    "missing": "is missing",
    "unexpected_keyword_argument": "is not a known field",
    "int_type": "should be a whole number",
    "float_type": "should be a number",
    "finite_number": "should be a number",
    "string_type": "should be text",
    "tuple_type": "should hold a list",
    "too_long": "should hold fewer values",
    "dict_type": "should hold an object",
    "mapping_type": "should hold an object",
    "dataclass_type": "should hold an object",
}
"""What pydantic's kinds of problem are called here."""

Branches = Literal["full", "without_tokens", "without_photos"]


@dataclass(frozen=True)
class PhotoInput:
    """How a photo enters the image network: a square; red, green and blue are normalised apart.

    ``decoded`` is the longest side at which a photo is decoded, for the network, its token map and its thumbnail
    alike. Models without it take photos as `Model.read_photo` says, and keep the fingerprints they had.
    """

    size: int
    offset: tuple[float, float, float]
    scale: tuple[float, float, float]
    decoded: int | None = None


@dataclass(frozen=True)
class InkInput:
    """How drawings and token maps enter; line width and margin are fractions of ``size``."""

    size: int
    offset: float
    scale: float
    line_width: float
    margin: float

    @property
    def style(self) -> InkStyle:
        """The pen and the margin that drawings and token maps are made with."""
        return InkStyle(self.line_width, self.margin)


@dataclass(frozen=True)
class TokenInput:
    """How token maps were made for training; others would give other codes.

    The fields after the detector's are those of `sketchhash.tokens.TokenStyle`; the pen is the ink's.
    """

    detector: str
    fingerprint: str
    threshold: float
    floor: float
    most_ink: float
    fewest: int


@dataclass(frozen=True)
class MadeWith:
    """What it takes to train the same model again."""

    sketchhash: str
    recipe: str
    recipe_sha256: str
    seed: int
    data_sha256: str
    packages: Mapping[str, str]


@dataclass(frozen=True)
class FileRecord:
    """A file as it was written."""

    size: int
    sha256: str

    @classmethod
    def of(cls, content: bytes) -> FileRecord:
        """Describe ``content``."""
        return cls(len(content), sha256(content).hexdigest())


@dataclass(frozen=True)
class Manifest:
    """What a model folder says about itself; ``files`` is filled in when the folder is written.

    Without ``photos`` the image network sees token maps alone, without ``tokens`` photos alone.
    """

    name: str
    bits: int
    categories: tuple[str, ...]
    photos: PhotoInput | None
    ink: InkInput
    tokens: TokenInput | None
    made_with: MadeWith
    scores: Mapping[str, float]
    files: Mapping[str, FileRecord] = field(default_factory=dict)
    format_version: int = FORMAT_VERSION

    def __post_init__(self) -> None:
        """Refuse a model that could not give codes."""
        if self.bits not in range(8, MAX_BITS + 1, 8):
            raise BadArgument(f"bits should be a multiple of 8 up to {MAX_BITS}, found {self.bits}")
        if self.photos is None and self.tokens is None:
            raise BadArgument("photos and tokens are both null: the image network would see nothing")
        for name, square in (("photos", self.photos), ("ink", self.ink)):
            if square is not None and square.size < 1:
                raise BadArgument(f"{name}.size should be at least 1, found {square.size}")
        if self.photos is not None and self.photos.decoded is not None and self.photos.decoded < 1:
            raise BadArgument(f"photos.decoded should be at least 1, found {self.photos.decoded}")
        for name in self.files:
            if name == MANIFEST or not re.fullmatch(r"\w[\w.-]*", name, re.ASCII):
                raise BadArgument(f"files[{name!r}] is not the plain name of a file beside the manifest")

    @property
    def branches(self) -> Branches:
        """Return which inputs the image network takes, in the words of the paper's ablation."""
        if self.tokens is None:
            return "without_tokens"
        return "without_photos" if self.photos is None else "full"

    @property
    def fingerprint(self) -> str:
        """Return one hash of everything that decides a code; galleries keep it.

        The card, the scores, the name and the calibration are left out: changing them leaves a gallery valid.
        """
        facts = _facts(self)
        deciding = {name: facts[name] for name in ("bits", "photos", "ink", "tokens")}
        files = {name: record for name, record in facts["files"].items() if name not in (CARD, CALIBRATION)}
        return _checksum({**deciding, "files": files})

    def to_json(self) -> str:
        """Write as JSON, closed by a checksum over the rest, so that no changed number passes unseen."""
        facts = _facts(self)
        return json.dumps({**facts, "checksum": _checksum(facts)}, indent=2, allow_nan=False) + "\n"


def parse_manifest(text: bytes, origin: str) -> Manifest:
    """Read what `Manifest.to_json` wrote; ``origin`` is the file to name when the text cannot be used.

    Every field must be there and of its declared type, and no other: ``"16"`` is not a number, nor is ``true``.
    """
    try:
        facts = json.loads(text.decode(), object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)
        if not isinstance(facts, dict):
            raise ValueError("it does not hold an object")
        _check_version(facts.get("format_version"), origin)
        checksum = facts.pop("checksum", None)
        manifest = _conform(facts)
    except (ValueError, OverflowError, RecursionError, BadArgument) as problem:
        raise IncompatibleModel(f"{origin} is not a usable manifest: {problem}. {FETCH_AGAIN}") from problem
    if checksum != _checksum(facts):
        raise IncompatibleModel(f"{origin} was changed after it was written. {FETCH_AGAIN}")
    if absent := [name for name in CONTENTS if name not in {MANIFEST, *manifest.files}]:
        raise IncompatibleModel(f"{origin} does not list {', '.join(absent)}. {FETCH_AGAIN}")
    return manifest


def _facts(manifest: Manifest) -> dict[str, Any]:
    """Return all fields as JSON holds them; what a model does not say about decoding is left out."""
    facts = asdict(manifest)
    if manifest.photos is not None and manifest.photos.decoded is None:
        del facts["photos"]["decoded"]
    return facts


def _conform(facts: Mapping[str, object]) -> Manifest:
    from pydantic import ValidationError

    try:
        # As JSON once more, because in pydantic's strict mode a list is a tuple only there.
        return _schema().validate_json(json.dumps(facts))
    except ValidationError as problem:
        raise ValueError(_explain(problem)) from problem


@cache
def _schema() -> TypeAdapter[Manifest]:
    # Imported here, as it takes a fifth of a second and only reading needs it.
    from pydantic import ConfigDict, TypeAdapter, with_config

    strict = with_config(ConfigDict(strict=True, extra="forbid", allow_inf_nan=False))
    for part in (PhotoInput, InkInput, TokenInput, MadeWith, FileRecord, Manifest):
        strict(part)
    return TypeAdapter(Manifest)


def _explain(problem: ValidationError) -> str:
    """Return the first field that does not fit, as a reader would find it (``ink.size``), and what is wrong."""
    first: ErrorDetails = problem.errors(include_url=False)[0]
    keys = first["loc"]
    # Places in lists and the keys of tables go into brackets, fields after a dot.
    names = [
        f"[{key!r}]" if isinstance(key, int) or above in {"files", "packages", "scores"} else f".{key}"
        for above, key in zip(("", *keys), keys, strict=False)
    ]
    what = _PROBLEMS.get(first["type"], first["msg"])
    found = f", found {reprlib.repr(first['input'])}" if what.startswith("should") else ""
    return f"{''.join(names).removeprefix('.')} {what}{found}"


def _check_version(version: object, origin: str) -> None:
    if version == FORMAT_VERSION:
        return
    newer = type(version) is int and version > FORMAT_VERSION
    way_out = "Type: pip install --upgrade sketchhash" if newer else "Export the model anew with this version."
    raise IncompatibleModel(
        f"{origin} has format version {version!r}, and this sketchhash reads {FORMAT_VERSION}. {way_out}"
    )


def _checksum(facts: Mapping[str, object]) -> str:
    canonical = json.dumps(facts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return sha256(canonical.encode()).hexdigest()


def _without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError(f"a key is given twice among {', '.join(key for key, _ in pairs)}")
    return table


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")
