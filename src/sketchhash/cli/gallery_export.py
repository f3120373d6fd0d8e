r"""A gallery as text, one photo after the other.

Both forms are UTF-8, and file names need not be. JSON lines keep every name exactly: see `exact_json`. In CSV a
newline stands inside quotes, as CSV has it, and a byte that is not UTF-8 is written as ``\xff``.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Generator, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING

from sketchhash.cli.file_names import exact_json, utf8

if TYPE_CHECKING:
    from sketchhash.gallery import Gallery

_COLUMNS = ("id", "path", "label", "sha256", "size", "mtime_ns", "indexed_at", "code")


class Form(StrEnum):
    """How to write a gallery."""

    CSV = "csv"
    JSONL = "jsonl"


def write(gallery: Gallery, form: Form) -> Generator[str, None, None]:
    """Give the text of a gallery in pieces, in one state throughout, whoever writes to it meanwhile."""
    with gallery.snapshot():
        yield from (_csv if form is Form.CSV else _json_lines)(_rows(gallery))


def _rows(gallery: Gallery) -> Iterator[dict[str, str | int | None]]:
    for photo in gallery.photos():
        yield {
            "id": photo.id,
            "path": str(photo.path),
            "label": photo.label,
            "sha256": photo.sha256,
            "size": photo.size,
            "mtime_ns": photo.mtime_ns,
            "indexed_at": photo.indexed_at.isoformat(),
            "code": gallery.code(photo.id).hex(),
        }


def _json_lines(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    return (f"{exact_json(row)}\n" for row in rows)


def _csv(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    page = io.StringIO(newline="")
    writer = csv.DictWriter(page, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "path": utf8(str(row["path"]))})
        yield page.getvalue()
        page.seek(0)
        page.truncate()
    yield page.getvalue()
