"""Tables as values: once as Markdown for people, once as CSV for programs, once as HTML."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

Cell = str | float | int | None

_NOTHING = "–"


@dataclass(frozen=True)
class Column:
    """The head of a column, and how its numbers are shown."""

    title: str
    form: str = ".3f"


@dataclass(frozen=True)
class Grid:
    """A table: ``name`` names its file, ``note`` says what its numbers are."""

    name: str
    title: str
    note: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def markdown(self) -> str:
        """Set as a Markdown table."""
        head = [column.title for column in self.columns]
        texts = ([text.replace("|", "\\|") for text in row] for row in self._texts())
        return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *texts))

    def csv(self) -> str:
        """Set as CSV: numbers as they are, not rounded, and nothing where there is no number."""
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(column.title for column in self.columns)
        writer.writerows(["" if cell is None else cell for cell in row] for row in self.rows)
        return file.getvalue()

    def html(self) -> str:
        """Set as an HTML table; cells of words have a class of their own."""
        head = "".join(f"<th>{escape(column.title)}</th>" for column in self.columns)
        body = "\n".join(
            "".join(["<tr>", *map(_html_cell, row, texts), "</tr>"])
            for row, texts in zip(self.rows, self._texts(), strict=True)
        )
        return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"

    def _texts(self) -> Iterable[list[str]]:
        for row in self.rows:
            yield [_text(cell, column.form) for cell, column in zip(row, self.columns, strict=True)]


def _html_cell(cell: Cell, text: str) -> str:
    start = '<td class="words">' if isinstance(cell, str) else "<td>"
    return f"{start}{escape(text)}</td>"


def _text(cell: Cell, form: str) -> str:
    if cell is None:
        return _NOTHING
    return cell if isinstance(cell, str) else f"{cell:{form}}"
