"""Write, find, read and check model folders.

A folder appears whole or not at all: it is written beside its place under a hidden name and then renamed.
Replacing a model takes two renames; a power cut between them leaves old and new, whole, under hidden names.
"""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import file_digest
from pathlib import Path

from sketchhash.errors import BadArgument, IncompatibleModel
from sketchhash.model.calibration import Calibration
from sketchhash.model.card import NOTHING_KEPT_OUT
from sketchhash.model.manifest import (
    CALIBRATION,
    CARD,
    FETCH_AGAIN,
    IMAGE_NETWORK,
    MANIFEST,
    SKETCH_NETWORK,
    FileRecord,
    Manifest,
    parse_manifest,
)

VARIABLE = "SKETCHHASH_MODEL"

_SHIPPED = Path(__file__).with_name("shipped")


@dataclass(frozen=True)
class Inspection:
    """How a folder differs from its manifest: names of files, sorted."""

    missing: tuple[str, ...]
    changed: tuple[str, ...]
    extra: tuple[str, ...]

    @property
    def is_intact(self) -> bool:
        """Return whether every listed file is as it was written; extra files do no harm."""
        return not (self.missing or self.changed)


def write_model(
    folder: Path,
    manifest: Manifest,
    *,
    image_onnx: bytes,
    sketch_onnx: bytes,
    card: str,
    extra_files: Mapping[str, bytes] | None = None,
) -> Manifest:
    """Write a model folder in one step and return its manifest with the checksums filled in.

    An existing model is replaced; anything else at that place is refused and left alone.
    """
    folder = folder.resolve()
    contents = {
        IMAGE_NETWORK: image_onnx,
        SKETCH_NETWORK: sketch_onnx,
        CARD: card.encode(),
    }
    if taken := contents.keys() & (extra_files or {}).keys():
        raise BadArgument(f"{', '.join(sorted(taken))} cannot be an extra file: every model has its own.")
    contents |= extra_files or {}
    sealed = replace(manifest, files={name: FileRecord.of(content) for name, content in contents.items()})
    _refuse_foreign(folder)

    fresh = _hidden_sibling(folder)
    try:
        fresh.mkdir(parents=True)
        for name, content in {**contents, MANIFEST: sealed.to_json().encode()}.items():
            _write_through(fresh / name, content)
        _sync(fresh)
        _put_in_place(fresh, folder)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    return sealed


def write_calibration(folder: Path, calibration: Calibration) -> None:
    """Write a calibration into the model in ``folder``, in place of one that it may have; its codes stay the same."""
    require_intact(folder)
    manifest = read_manifest(folder)
    contents = {name: (folder / name).read_bytes() for name in manifest.files}
    write_model(
        folder,
        manifest,
        image_onnx=contents.pop(IMAGE_NETWORK),
        sketch_onnx=contents.pop(SKETCH_NETWORK),
        card=contents.pop(CARD).decode(),
        extra_files=contents | {CALIBRATION: calibration.to_bytes()},
    )


def read_calibration(folder: Path, manifest: Manifest) -> Calibration | None:
    """Read the calibration of the model in ``folder``, if it has one."""
    if CALIBRATION not in manifest.files:
        return None
    path = folder / CALIBRATION
    return Calibration.from_bytes(path.read_bytes(), manifest.bits, str(path))


def read_manifest(folder: Path) -> Manifest:
    """Read what the model in ``folder`` says about itself, without checking its other files."""
    path = folder / MANIFEST
    try:
        text = path.read_bytes()
    except OSError as problem:
        raise IncompatibleModel(
            f"{folder} is not a model folder: {MANIFEST} cannot be read ({problem.strerror}). {FETCH_AGAIN}"
        ) from problem
    return parse_manifest(text, str(path))


def says_nothing_was_kept_out(folder: Path) -> bool:
    """Return whether the card of the model in ``folder`` says that it was trained on everything.

    Where it does not, a network may have seen everything nevertheless: it may have learned on from another model's.
    """
    require_intact(folder)
    return NOTHING_KEPT_OUT in (folder / CARD).read_text(encoding="utf-8")


def verify(folder: Path) -> Inspection:
    """Compare every file's size and checksum with the manifest; only an unusable manifest is an error."""
    recorded = read_manifest(folder).files
    present = {path.name for path in folder.iterdir()} - {MANIFEST}
    missing = {name for name in recorded if not (folder / name).is_file()}
    changed = {name for name in recorded.keys() - missing if not _matches(folder / name, recorded[name])}
    return Inspection(tuple(sorted(missing)), tuple(sorted(changed)), tuple(sorted(present - recorded.keys())))


def require_intact(folder: Path) -> None:
    """Raise `IncompatibleModel` when a file of the model is missing or changed."""
    inspection = verify(folder)
    if inspection.is_intact:
        return
    damage = [f"{name} is missing" for name in inspection.missing]
    damage += [f"{name} was changed after it was written" for name in inspection.changed]
    raise IncompatibleModel(f"The model in {folder} is damaged: {', '.join(damage)}. {FETCH_AGAIN}")


def default_model_folder() -> Path:
    """Return the folder that the environment variable ``SKETCHHASH_MODEL`` names, or else the shipped model's.

    Raises:
        BadArgument: If there is neither.
    """
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    if (_SHIPPED / MANIFEST).is_file():
        return _SHIPPED
    raise BadArgument(
        "No model was named, and none came with this package. "
        f"Name a model folder with --model FOLDER, or once for all with: export {VARIABLE}=FOLDER"
    )


def _refuse_foreign(folder: Path) -> None:
    """Replacing deletes, so only an empty folder or one with a model and nothing else may be replaced."""
    if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
        return
    way_out = "Choose another folder, or move this one away."
    try:
        extra = verify(folder).extra
    except IncompatibleModel as problem:
        raise BadArgument(f"{folder} exists and is not a readable model folder. {way_out}") from problem
    if extra:
        raise BadArgument(f"{folder} holds files that no model wrote: {', '.join(extra)}. {way_out}")


def _put_in_place(fresh: Path, folder: Path) -> None:
    aside = _hidden_sibling(folder)
    if folder.exists():
        folder.rename(aside)
    try:
        fresh.rename(folder)
    except BaseException:
        if aside.exists():
            aside.rename(folder)
        raise
    _sync(folder.parent)
    shutil.rmtree(aside, ignore_errors=True)


def _hidden_sibling(folder: Path) -> Path:
    return folder.with_name(f".{folder.name}.{secrets.token_hex(4)}")


def _write_through(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Make renames in ``folder`` survive a power cut, where the system lets folders be synced."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _matches(path: Path, record: FileRecord) -> bool:
    if path.stat().st_size != record.size:
        return False
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest() == record.sha256
