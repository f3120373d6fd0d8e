"""The report as one HTML file that needs nothing else: tables as tables, pictures inside it, no script."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from sketchhash.benchmark.comparison.grids import Grid

_LOOK = """
body { font: 15px/1.5 system-ui, sans-serif; color: #222; margin: 2rem auto; max-width: 90rem; padding: 0 1rem }
h1, h2 { line-height: 1.2 }
h2 { margin-top: 2.5rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums }
th, td { border-bottom: 1px solid #ddd; padding: 3px 9px; text-align: right; white-space: nowrap }
th { vertical-align: bottom; white-space: normal }
th:first-child, .words { text-align: left }
tbody tr:hover { background: #f4f6fa }
figure { margin: 1.5rem 0 }
img { max-width: 100% }
.note { color: #555; max-width: 50rem }
"""


@dataclass(frozen=True)
class Illustration:
    """A picture of the report, with its caption."""

    path: Path
    title: str
    caption: str


@dataclass(frozen=True)
class Section:
    """Paragraphs or a list under a heading."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Report:
    """All that a report says."""

    title: str
    introduction: tuple[str, ...]
    grids: tuple[Grid, ...]
    illustrations: tuple[Illustration, ...]
    sections: tuple[Section, ...]

    def markdown(self) -> str:
        """Set as Markdown; pictures are those beside the file."""
        parts = [f"# {self.title}", *self.introduction]
        for grid in self.grids:
            parts += [f"## {grid.title}", grid.note, grid.markdown()]
        for picture in self.illustrations:
            parts += [f"## {picture.title}", f"![{picture.title}]({picture.path.name})", picture.caption]
        for section in self.sections:
            parts += [f"## {section.title}", "\n".join(f"- {line}" for line in section.lines)]
        return "\n\n".join(parts) + "\n"

    def html(self, more: Sequence[Illustration] = ()) -> str:
        """Set as a page, with more pictures than the Markdown if given."""
        body = [f"<h1>{escape(self.title)}</h1>", *(f"<p>{escape(line)}</p>" for line in self.introduction)]
        for grid in self.grids:
            note = f'<p class="note">{escape(grid.note)}</p>'
            body += [f"<h2>{escape(grid.title)}</h2>", note, f'<div class="wide">{grid.html()}</div>']
        for picture in sorted((*self.illustrations, *more), key=lambda picture: picture.title):
            source = f"data:image/png;base64,{b64encode(picture.path.read_bytes()).decode()}"
            image = f'<img src="{source}" alt="{escape(picture.title, quote=True)}">'
            caption = f'<figcaption class="note">{escape(picture.caption)}</figcaption>'
            body += [f"<h2>{escape(picture.title)}</h2>", f"<figure>{image}{caption}</figure>"]
        for section in self.sections:
            items = "".join(f"<li>{escape(line)}</li>" for line in section.lines)
            body += [f"<h2>{escape(section.title)}</h2>", f"<ul>{items}</ul>"]
        head = f'<meta charset="utf-8"><title>{escape(self.title)}</title><style>{_LOOK}</style>'
        start, end = f'<!doctype html>\n<html lang="en"><head>{head}</head>\n<body>', "</body></html>\n"
        return "\n".join((start, *body, end))
