"""Files that hold many drawings: packs of icons in Iconify's format, and fonts. Each becomes SVG files with names.

Both are files of strangers: what is read here is read in a process of its own (`decoders`), a page of drawings at a
time, so that even a font of 65,000 glyphs stays within the time that one call has. What is wrong with single drawings,
such as an empty glyph, is told in a remark, and the others are read.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from io import BytesIO
from typing import Any, Self
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import MissingExtra, UnreadableImage, require

MOST_DRAWINGS = 100_000
"""Of a file that has more, only so many are read."""

_LONGEST_NAME = 100
_MOST_ALIASES = 8  # an alias may stand for an alias
_MOST_REMARKS = 3
_FONTS = (b"\0\1\0\0", b"OTTO", b"true", b"ttcf", b"wOFF", b"wOF2")
_MARKS = (re.compile(rb'"prefix"\s*:\s*"'), re.compile(rb'"icons"\s*:\s*\{'))
_UNSAFE = re.compile(r"[/\\\x00-\x1f\x7f]+")
_PRIVATE = ("Co", "Cn", "Cs")  # Unicode gives these no names


@dataclass(frozen=True, slots=True)
class PackedDrawing:
    """A drawing of a pack: an SVG, by a name that no other in its pack has, and words that go with it."""

    name: str
    svg: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Some drawings of a pack, in order; ``following`` is where the next page begins, None after the last."""

    drawings: tuple[PackedDrawing, ...]
    remarks: tuple[str, ...]
    following: int | None

    @classmethod
    def of(cls, written: NDArray[np.uint8]) -> Self:
        """Read what `read_page` has written."""
        page = json.loads(written.tobytes())
        drawings = tuple(PackedDrawing(**drawing) for drawing in page["drawings"])
        return cls(drawings, tuple(page["remarks"]), page["following"])


def is_font(content: bytes) -> bool:
    """Tell whether this is a font: TrueType, OpenType, a collection, or WOFF."""
    return content.startswith(_FONTS)


def looks_like_pack(content: bytes) -> bool:
    """Tell whether this may be a pack of icons; most JSON files are something else."""
    return content.lstrip().startswith(b"{") and all(mark.search(content) for mark in _MARKS)


def read_page(content: bytes, start: int = 0, only: str | None = None) -> NDArray[np.uint8]:
    """Read a page of drawings of a pack of icons or a font; `Page.of` reads what is returned.

    Args:
        content: The file.
        start: The number of the first drawing.
        only: If given, just the drawing of this name.

    Raises:
        UnreadableImage: If it is neither, or broken. The text is the end of a sentence.
    """
    pack = _Font(content) if is_font(content) else _Icons(content)
    names = _distinct(pack.names)
    remarks = _remarks(names, pack.names) if start == 0 else []
    chosen = list(names.items())[:MOST_DRAWINGS]
    chosen = [each for each in chosen if each[0] == only] if only is not None else chosen
    page, wrong = [], []
    for name, key in chosen[start : start + pack.page]:
        try:
            page.append(PackedDrawing(name, pack.svg(key), pack.words(key)))
        except UnreadableImage as problem:
            wrong.append(f"{name}: {problem}")
    if len(wrong) > _MOST_REMARKS:
        wrong = [*wrong[:_MOST_REMARKS], f"and {len(wrong) - _MOST_REMARKS:,} others like these."]
    end = start + pack.page
    following = end if end < len(chosen) else None
    written = {"drawings": [asdict(each) for each in page], "remarks": [*remarks, *wrong], "following": following}
    return np.frombuffer(json.dumps(written).encode(), dtype=np.uint8)


class _Icons:
    """A pack in Iconify's format: bodies of SVG by name, aliases, and what all of them share."""

    page = 5000

    def __init__(self, content: bytes) -> None:
        try:
            pack = json.loads(content)
            self._icons: dict[str, Any] = dict(pack["icons"])
            self._aliases: dict[str, Any] = dict(pack.get("aliases") or {})
            self._shared = {key: pack[key] for key in ("left", "top", "width", "height") if key in pack}
            self._tags = _categories(pack.get("categories"))
        except (ValueError, KeyError, TypeError, RecursionError) as problem:
            raise UnreadableImage(f"it is no pack of icons in Iconify's format ({problem!r}).") from problem
        hidden = {name for name, icon in self._icons.items() if isinstance(icon, dict) and icon.get("hidden")}
        self.names = {name: name for name in (*self._icons, *self._aliases) if name not in hidden}

    def svg(self, name: str) -> str:
        icon = self._found(name)
        try:
            left, top = (float(icon.get(key, 0)) for key in ("left", "top"))
            width, height = (float(icon.get(key, 16)) for key in ("width", "height"))
            body = icon["body"]
            turns = int(icon.get("rotate", 0)) % 4
        except (KeyError, TypeError, ValueError) as problem:
            raise UnreadableImage(f"it is not as icons are ({problem!r}).") from problem
        if not isinstance(body, str) or not (width > 0 and height > 0):
            raise UnreadableImage("it has no size, or no body.")
        x, y = left + width / 2, top + height / 2
        moves = [f"rotate({90 * turns} {x:g} {y:g})"] if turns else []
        if icon.get("hFlip") or icon.get("vFlip"):
            across, down = (-1 if icon.get(key) else 1 for key in ("hFlip", "vFlip"))
            moves += [f"translate({x:g} {y:g})", f"scale({across} {down})", f"translate({-x:g} {-y:g})"]
        inside = f'<g transform="{" ".join(moves)}">{body}</g>' if moves else body
        return _svg(f"{left:g} {top:g} {width:g} {height:g}", inside)

    def words(self, name: str) -> str:
        return ", ".join(self._tags.get(name, ()))

    def _found(self, name: str) -> dict[str, Any]:
        changes: dict[str, Any] = {}
        for _ in range(_MOST_ALIASES):
            if name in self._icons:
                icon = self._icons[name]
                if not isinstance(icon, dict):
                    break
                return {**self._shared, **icon, **changes}
            alias = self._aliases.get(name)
            if not isinstance(alias, dict) or not isinstance(alias.get("parent"), str):
                break
            changes = {**alias, **changes}
            name = alias["parent"]
        raise UnreadableImage("it stands for an icon that is not there.")


class _Font:
    """A font: a glyph for each character, named as Unicode names it, or else as the font does."""

    page = 500  # some milliseconds each

    def __init__(self, content: bytes) -> None:
        try:
            font: Any = require("fontTools.ttLib", "drawings").TTFont(BytesIO(content), fontNumber=0, lazy=True)
            self._glyphs = font.getGlyphSet()
            characters: Mapping[int, str] = font.getBestCmap() or {}
        except MissingExtra as missing:
            raise UnreadableImage(f"it is a font, which another package reads. {missing}") from missing
        except Exception as problem:  # on broken tables fontTools raises nearly anything
            raise UnreadableImage(f"it is no font that can be read ({problem!r}).") from problem
        self.names = {code: _character_name(code, glyph) for code, glyph in sorted(characters.items())}
        self._characters = characters

    def svg(self, code: int) -> str:
        try:
            glyph = self._glyphs[self._characters[code]]
            outline = require("fontTools.pens.svgPathPen", "drawings").SVGPathPen(self._glyphs)
            bounds = require("fontTools.pens.boundsPen", "drawings").BoundsPen(self._glyphs)
            glyph.draw(outline)
            glyph.draw(bounds)
            path = outline.getCommands()
        except Exception as problem:  # a glyph may be broken in as many ways
            raise UnreadableImage(f"its outline is broken ({problem!r}).") from problem
        if not path or bounds.bounds is None:
            raise UnreadableImage("it is empty.")
        left, bottom, right, top = map(float, bounds.bounds)
        border = 0.02 * max(right - left, top - bottom, 1.0)
        box = f"{left - border:g} {-top - border:g} {right - left + 2 * border:g} {top - bottom + 2 * border:g}"
        return _svg(box, f'<path fill="currentColor" transform="scale(1 -1)" d={quoteattr(path)}/>')

    def words(self, code: int) -> str:
        return f"U+{code:04X}"


def _character_name(code: int, glyph: str) -> str:
    """Name a character as Unicode does; what Unicode leaves to fonts, by the name of its glyph.

    >>> _character_name(0x2190, "arrowleft"), _character_name(0xE900, "arrow-left")
    ('leftwards arrow', 'arrow-left')
    """
    name = unicodedata.name(chr(code), "") if unicodedata.category(chr(code)) not in _PRIVATE else ""
    return name.lower() or glyph


def _categories(categories: object) -> dict[str, list[str]]:
    """Return the categories of each icon."""
    tags: dict[str, list[str]] = {}
    for category, icons in categories.items() if isinstance(categories, dict) else ():
        for icon in icons if isinstance(icons, list) else ():
            if isinstance(icon, str):
                tags.setdefault(icon, []).append(str(category))
    return tags


def _distinct(names: Mapping[Any, str]) -> dict[str, Any]:
    """Return keys by names that can be names of files, and that differ: a name that is there gets a number."""
    taken: dict[str, Any] = {}
    numbers: Counter[str] = Counter()
    for key, name in names.items():
        distinct = plain = _UNSAFE.sub(" ", name).strip(" .")[:_LONGEST_NAME] or "unnamed"
        while distinct in taken:
            numbers[plain] += 1
            distinct = f"{plain} ({numbers[plain] + 1})"
        taken[distinct] = key
    return taken


def _remarks(names: Mapping[str, Any], given: Mapping[Any, str]) -> list[str]:
    remarks = []
    if len(names) > MOST_DRAWINGS:
        remarks.append(f"it has {len(names):,} drawings; the first {MOST_DRAWINGS:,} were read.")
    repeated = len(given) - len(set(given.values()))
    if repeated:
        remarks.append(f"{repeated:,} names occur more than once; all but the first got numbers.")
    return remarks


def _svg(box: str, inside: str) -> str:
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{box}">{inside}</svg>'
    )
