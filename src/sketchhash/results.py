"""Results as text and pictures: Markdown tables and small figures for people, CSV and compact JSON for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path

from sketchhash.files import replacing

Cell = str | float | int | None

NO_VALUE = "–"
_COLOURS = 64  # lines, points and text need no more


def markdown_table(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Return a Markdown table; a bar inside a cell is escaped, a line break becomes a space.

    >>> print(markdown_table(("engine", "ms"), [("scan", 0.25), ("a|b", 1)]))
    | engine | ms |
    | --- | --- |
    | scan | 0.25 |
    | a\|b | 1 |
    """
    lines: Iterable[Sequence[object]] = (heading, ["---"] * len(heading), *rows)
    texts = ([" ".join(str(cell).split()).replace("|", r"\|") for cell in line] for line in lines)
    return "\n".join(f"| {' | '.join(line)} |" for line in texts)


def compact_json(document: Mapping[str, object], digits: int = 6) -> str:
    """Return JSON with one line for each key, and floats of at most so many significant digits.

    >>> print(compact_json({"score": 2 / 3, "sizes": [1, 2]}))
    {
    "score": 0.666667,
    "sizes": [1,2]
    }
    """
    lines = (f"{json.dumps(key)}: {json_line(value, digits)}" for key, value in document.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def json_line(value: object, digits: int = 6) -> str:
    """Return JSON on one line, with floats of at most so many significant digits; a dataclass becomes its fields.

    >>> json_line({"score": 2 / 3, "column": Column("mAP")})
    '{"score":0.666667,"column":{"title":"mAP","format":".3f"}}'
    """
    return json.dumps(_rounded(value, digits), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def write_figure(path: Path, savefig: Callable[..., object], dpi: float = 120) -> None:
    """Write a PNG with a palette, a third of the size of full colours, given a figure's method ``savefig``."""
    from PIL import Image

    drawn = io.BytesIO()
    savefig(drawn, format="png", dpi=dpi)
    with Image.open(drawn) as picture, replacing(path) as file:
        picture.convert("RGB").quantize(_COLOURS).save(file, "PNG", optimize=True)


@dataclass(frozen=True)
class Column:
    """The title of a column, and the format of its numbers."""

    title: str
    format: str = ".3f"


@dataclass(frozen=True)
class Table:
    """A table: ``name`` names its file, ``note`` explains its numbers, and a cell of None has no value."""

    name: str
    title: str
    note: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    @property
    def heading(self) -> list[str]:
        """The titles of the columns."""
        return [column.title for column in self.columns]

    @property
    def texts(self) -> list[list[str]]:
        """The cells as they are shown."""
        return [
            [_text(cell, column.format) for cell, column in zip(row, self.columns, strict=True)] for row in self.rows
        ]

    def markdown(self) -> str:
        """Return the table as Markdown."""
        return markdown_table(self.heading, self.texts)

    def csv(self) -> str:
        """Return the table as CSV: numbers are not rounded, and a cell without a value is empty."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(self.heading)
        writer.writerows(["" if cell is None else cell for cell in row] for row in self.rows)
        return file.getvalue()


def _text(cell: Cell, number_format: str) -> str:
    if cell is None:
        return NO_VALUE
    return cell if isinstance(cell, str) else f"{cell:{number_format}}"


def _rounded(value: object, digits: int) -> object:
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    if isinstance(value, Mapping):
        return {key: _rounded(each, digits) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(each, digits) for each in value]
    if is_dataclass(value) and not isinstance(value, type):
        return _rounded(asdict(value), digits)
    return value
