"""Draw an SVG file safely, by resvg.

An SVG is a program for a machine that draws, written by a stranger. resvg runs no scripts and opens no connection, but
it opens files that a picture refers to; and what a picture may cost grows without bound with nesting and repetition. So
the file is read by expat first, which bounds the expansion of entities, and written again without scripts, other files
and pictures inside pictures: `cleaned` returns what remains. What it costs to draw is bounded where all files of
strangers are decoded: see `decoders`.
"""

from __future__ import annotations

import io
import re
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from PIL import Image

from sketchhash.errors import MissingExtra, UnreadableImage, require

MAX_SVG_BYTES = 4_000_000

_DEEPEST = 100
_MOST_ELEMENTS = 50_000
_SIDE = 256  # that of thumbnails; larger ones find no more, and the time to draw grows with their area

# Scripts, pages, other files and moving parts.
_LEFT_OUT = frozenset({"script", "foreignObject", "image", "feImage", "iframe", "audio", "video", "animate", "set"})
_REFERENCES = frozenset({"href", "src"})
_ELSEWHERE = re.compile(r"url\(\s*[\"']?\s*(?!#)|@import", re.IGNORECASE)
_BEGINNING = re.compile(rb"\s*(?:<\?xml|<!--|<!DOCTYPE\s+svg|<svg|<[A-Za-z]+:svg)", re.IGNORECASE)
_ROOT = re.compile(rb"<(?:[A-Za-z]+:)?svg[\s>]", re.IGNORECASE)
_PEEK = 4096


def is_svg(content: bytes) -> bool:
    """Tell whether this is an SVG file.

    >>> is_svg(b'<?xml version="1.0"?><svg viewBox="0 0 1 1"/>'), is_svg(b"<html></html>")
    (True, False)
    """
    head = content[:_PEEK].removeprefix(b"\xef\xbb\xbf")
    return bool(_BEGINNING.match(head) and _ROOT.search(head))


def render_svg(content: bytes, side: int = _SIDE) -> Image.Image:
    """Draw an SVG with a longest side of ``side``, in mode RGBA.

    Raises:
        UnreadableImage: If it cannot be drawn, or draws nothing. The text is the end of a sentence.
    """
    resvg: Any = _resvg()
    clean = cleaned(content)
    try:
        png = resvg.svg_to_bytes(svg_string=clean, skip_system_fonts=True, **_measures(clean, side))
        picture = Image.open(io.BytesIO(bytes(png)), formats=("PNG",)).convert("RGBA")
    except (ValueError, OSError, OverflowError) as problem:
        raise UnreadableImage(f"it cannot be drawn ({problem}).") from problem
    if picture.getchannel("A").getbbox() is None:
        raise UnreadableImage("it draws nothing.")
    return picture


def cleaned(content: bytes) -> str:
    """Return an SVG without scripts, references to other files and pictures inside it.

    Raises:
        UnreadableImage: If it is no XML, or too deep or long.
    """
    if len(content) > MAX_SVG_BYTES:
        raise UnreadableImage(f"it is an SVG larger than {MAX_SVG_BYTES:,} bytes.")
    cleaner = _Cleaner()
    try:
        cleaner.parser.Parse(content, True)
    except (expat.ExpatError, ValueError) as problem:
        raise UnreadableImage(f"it is no valid SVG ({problem}).") from problem
    return "".join(cleaner.written)


class _Cleaner:
    """Writes again what it reads, but for what is left out."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.ordered_attributes = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text
        self._depth = 0
        self._elements = 0
        self._left_out_at = 0

    def _start(self, name: str, attributes: list[str]) -> None:
        self._depth += 1
        self._elements += 1
        if self._depth > _DEEPEST or self._elements > _MOST_ELEMENTS:
            raise UnreadableImage(
                f"it nests deeper than {_DEEPEST} elements, or has more than {_MOST_ELEMENTS:,} of them."
            )
        if self._left_out_at or _local(name) in _LEFT_OUT:
            self._left_out_at = self._left_out_at or self._depth
            return
        pairs = zip(attributes[::2], attributes[1::2], strict=True)
        kept = "".join(f" {key}={quoteattr(value)}" for key, value in pairs if _is_kept(key, value))
        self.written.append(f"<{name}{kept}>")

    def _end(self, name: str) -> None:
        if not self._left_out_at:
            self.written.append(f"</{name}>")
        elif self._left_out_at == self._depth:
            self._left_out_at = 0
        self._depth -= 1

    def _text(self, text: str) -> None:
        if not self._left_out_at and not _ELSEWHERE.search(text):
            self.written.append(escape(text))


def _is_kept(name: str, value: str) -> bool:
    local = _local(name)
    if local in _REFERENCES:
        return value.lstrip().startswith("#")
    return not local.lower().startswith("on") and not _ELSEWHERE.search(value)


def _local(name: str) -> str:
    return name.rpartition(":")[2]


def _measures(svg: str, side: int) -> dict[str, int]:
    """Return the width or the height to draw at: the longer of both is ``side``."""
    box = re.search(r"<(?:\w+:)?svg\b[^>]*?\bviewBox=\"([^\"]*)\"", svg)
    measured = [box.group(1).replace(",", " ").split()[2:4]] if box else []
    measured += [[_plain(svg, "width"), _plain(svg, "height")]]
    for texts in measured:
        try:
            width, height = map(float, texts)
        except ValueError:
            continue
        if width > 0 and height > 0:
            return {"width": side} if width >= height else {"height": side}
    return {"width": side}


def _plain(svg: str, name: str) -> str:
    found = re.search(rf"<(?:\w+:)?svg\b[^>]*?\s{name}=\"([\d.]+)(?:px)?\"", svg)
    return found.group(1) if found else ""


def _resvg() -> Any:  # noqa: ANN401 - resvg has no types
    try:
        return require("resvg_py", "drawings")
    except MissingExtra as missing:
        raise UnreadableImage(f"it is SVG, which another package draws. {missing}") from missing
