"""The rows of a gallery as the browser reads them: arrays that every search needs, and packs that hits need.

Rows are in the order of what photos most likely show, and then of their ids: the hits of a drawing lie in few packs.
Numbers are little-endian, and files are packed by gzip, whatever the host does.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sketchhash.codes import unpack
from sketchhash.errors import UnreadableImage
from sketchhash.gallery import OpenGallery, PhotoRow
from sketchhash.gallery.copy_index import MOST_COPIES, CopyIndex
from sketchhash.gallery.packs import Packed as DrawingInPack
from sketchhash.gallery.packs import PackReader
from sketchhash.gallery.photos import Failure, pack_of, read_file
from sketchhash.imaging import decoders
from sketchhash.imaging.details import seconds_of
from sketchhash.imaging.svg import cleaned, is_svg
from sketchhash.model import Calibration
from sketchhash.server.photos import common_root, display_name, folder_below
from sketchhash.tokens.shape import SHAPE_BYTES

PACK_ROWS = 256
THUMBNAIL_PACK_BYTES = 200_000

_BLOCK = 8192


@dataclass(frozen=True)
class Packed:
    """What gallery.json says of the packs: distinct labels and folders, the first row of each thumbnail pack, ...

    ... and whether there are tags and the SVG of drawings.
    """

    labels: list[str]
    folders: list[str]
    thumbnail_packs: list[int]
    has_tags: bool = False
    has_svg: bool = False


def write_packs(gallery: OpenGallery, calibration: Calibration | None, folder: Path, with_svg: bool = False) -> Packed:
    """Write arrays and packs of all photos of a gallery, and if asked the SVG of drawings, into an empty ``folder``."""
    with gallery.snapshot():
        rows = [row for page in gallery.pages() for row in page]
        codes = np.frombuffer(b"".join(row.code for row in rows), dtype=np.uint8)
        codes = codes.reshape(len(rows), gallery.model.bits // 8)
        order = _by_kind(codes, calibration)
        rows = [rows[place] for place in order]
        root = common_root(gallery)
        places = [folder_below(root, row.photo.path) for row in rows]
        labels = sorted({row.photo.label for row in rows if row.photo.label is not None})
        folders = sorted(set(places))
        numbers = {label: number for number, label in enumerate(labels, start=1)}
        folder_numbers = {name: number for number, name in enumerate(folders)}
        taken = [_taken(row) for row in rows]
        _write(folder / "codes.gz", codes[order].tobytes())
        _write(folder / "ids.gz", np.array([row.photo.id for row in rows], dtype="<f8").tobytes())
        _write(folder / "labels.gz", _numbers([numbers.get(row.photo.label or "", 0) for row in rows]))
        if any(row.photo.kind == "drawing" for row in rows):
            _write(folder / "drawings.gz", bytes(row.photo.kind == "drawing" for row in rows))
        _write(folder / "folders.gz", _numbers([folder_numbers[each] for each in places]))
        _write(folder / "taken.gz", np.array(taken, dtype="<f8").tobytes())
        copies = CopyIndex(gallery, lasting=True)
        for name in ("details", "shapes", "thumbnails"):
            (folder / name).mkdir()
        for number, some in enumerate(_in_packs(rows)):
            _write(folder / "shapes" / f"{number}.gz", _shapes(some))
            near = copies.near({row.photo.id: row.perceptual or b"" for row in some})
            about = [_about(row, near[row.photo.id]) for row in some]
            details = json.dumps(about, ensure_ascii=False, separators=(",", ":"))
            _write(folder / "details" / f"{number}.json.gz", details.encode())
        has_tags, has_svg = _write_tags(gallery, rows, folder), with_svg and _write_svg(rows, folder / "svg")
        firsts = _write_thumbnails(gallery, rows, folder / "thumbnails")
        return Packed(labels, folders, firsts, has_tags, has_svg)


def write_json(path: Path, value: object) -> None:
    """Write a value as JSON, packed if the name says so."""
    content = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    _write(path, content) if path.suffix == ".gz" else path.write_bytes(content)


def write_array(path: Path, array: NDArray[np.generic]) -> None:
    """Write the numbers of an array, little-endian and packed."""
    _write(path, array.astype(array.dtype.newbyteorder("<")).tobytes())


def _by_kind(codes: NDArray[np.uint8], calibration: Calibration | None) -> NDArray[np.intp]:
    """Return the order of rows, which are in that of their ids."""
    if calibration is None:
        return np.arange(len(codes))
    blocks = (codes[start : start + _BLOCK] for start in range(0, len(codes), _BLOCK))
    kinds = [calibration.photo_chances(unpack(block)).argmax(axis=1) for block in blocks]
    return np.argsort(np.concatenate(kinds), kind="stable") if kinds else np.arange(0)


def _in_packs(rows: Sequence[PhotoRow]) -> Iterator[Sequence[PhotoRow]]:
    return (rows[start : start + PACK_ROWS] for start in range(0, len(rows), PACK_ROWS))


def _shapes(rows: Sequence[PhotoRow]) -> bytes:
    """Return the shapes of rows, and then for each a byte that tells whether it has one."""
    shapes = [row.shape if row.shape is not None and len(row.shape) == SHAPE_BYTES else None for row in rows]
    return b"".join(
        [shape or bytes(SHAPE_BYTES) for shape in shapes] + [bytes([shape is not None]) for shape in shapes]
    )


def _about(row: PhotoRow, copies: Sequence[int]) -> dict[str, object]:
    """Return what the site says of a photo: no place, camera or description, and no path of this machine."""
    photo, details = row.photo, row.details
    return {
        "name": display_name(os.fsencode(photo.path.name)),
        "kind": photo.kind,
        "size": photo.size,
        "modified_at": datetime.fromtimestamp(photo.mtime_ns / 1e9, UTC).isoformat(timespec="seconds"),
        "indexed_at": photo.indexed_at.isoformat(timespec="seconds"),
        "width": details and details.width,
        "height": details and details.height,
        "hash": (row.perceptual or b"").hex(),
        "copies": len(copies),
        "copy_ids": copies[:MOST_COPIES],
    }


def _write_tags(gallery: OpenGallery, rows: Sequence[PhotoRow], folder: Path) -> bool:
    """Write the tags of drawings with the numbers of their rows, by id; return whether there are any."""
    numbers = {row.photo.id: number for number, row in enumerate(rows)}
    tagged = [(numbers[each.id], each.tags) for each in sorted(gallery.tagged_drawings()) if each.id in numbers]
    if tagged:
        write_json(folder / "tags.json.gz", tagged)
    return bool(tagged)


def _write_svg(rows: Sequence[PhotoRow], folder: Path) -> bool:
    """Write the SVG of drawings whose files are as they were indexed; return whether there are any."""
    drawings = {row.photo.path: row.photo.sha256 for row in rows if row.photo.kind == "drawing"}
    svgs = {path: svg for path, svg in _read_svgs(drawings) if svg}
    if svgs:
        folder.mkdir()
        for number, some in enumerate(_in_packs(rows)):
            write_json(folder / f"{number}.json.gz", [svgs.get(row.photo.path) for row in some])
    return bool(svgs)


def _read_svgs(drawings: Mapping[Path, str]) -> Iterator[tuple[Path, str]]:
    """Yield the SVG of drawings, by their paths and SHA-256, without scripts; each pack is read once."""
    places = dict.fromkeys(pack_of(path) or path for path in drawings)
    for found in PackReader(decoders.shared().run).open_all(places):
        with suppress(UnreadableImage):
            if isinstance(found, Failure):
                continue
            file, content = found.file(None) if isinstance(found, DrawingInPack) else read_file(found)
            if drawings.get(file.path) == file.sha256 and is_svg(content):
                yield file.path, cleaned(content)


def _taken(row: PhotoRow) -> float:
    taken = row.details and row.details.taken_at
    return float(seconds_of(taken)) if taken else float("nan")


def _write_thumbnails(gallery: OpenGallery, rows: Sequence[PhotoRow], folder: Path) -> list[int]:
    """Write thumbnails: each pack holds their number, their sizes and their bytes. Return the first row of each."""
    firsts: list[int] = []
    pack: list[bytes] = []
    done = 0
    for some in _in_packs(rows):
        pictures = gallery.thumbnails([row.photo.id for row in some])
        for row in some:
            pack.append(pictures.get(row.photo.id, b""))
            if sum(map(len, pack)) >= THUMBNAIL_PACK_BYTES:
                done = _write_pack(pack, folder, firsts, done)
    if pack:
        _write_pack(pack, folder, firsts, done)
    return firsts


def _write_pack(pack: list[bytes], folder: Path, firsts: list[int], first: int) -> int:
    """Write a pack that begins with the row ``first``, empty it, and return the row after it."""
    count = len(pack)
    sizes = _numbers([count, *map(len, pack)])
    (folder / f"{len(firsts)}.pack").write_bytes(sizes + b"".join(pack))
    firsts.append(first)
    pack.clear()
    return first + count


def _numbers(values: Sequence[int]) -> bytes:
    return np.array(values, dtype="<u4").tobytes()


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(gzip.compress(content, mtime=0))
