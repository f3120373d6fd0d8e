"""Icons as sketches: how designers draw things with few lines.

The npm package ``@iconify/json`` holds some 390,000 icons of 240 sets, each set one JSON file of SVG bodies by name,
with its licence in ``collections.json``. An icon whose name is that of a category, but for words of style such as
*outline*, becomes a sketch of it: line art by its lines, a filled shape by its border, a coloured picture by its edges.
"""

from __future__ import annotations

import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchhash.datasets.names import meaning
from sketchhash.errors import DatasetProblem, require

Render = Callable[[str], NDArray[np.uint8]]

_SIDE = 256
_MARGIN = 8
_THICKEST_LINE = 7  # pixels from its middle to its edge; what is thicker is an area
_COLOURED = 40  # difference between colour channels
_FEWEST_PIXELS, _MOST_INK = 60, 0.3
_MOST_OF_A_SET = 2

_STYLE = re.compile(
    "outlined?|outlines|fill(ed)?|lined?|linear|bold|light|thin|duotone|broken|solid|regular|sharp|round(ed)?|twotone|two|"
    "tone|alt|stroked?|bulk|color|flat|free|emoji|freehand|ios|md|medium|glyph|streamline|symbol|face|[osbdrl]|[0-9]+"
)
_PREFIX = re.compile("baseline|outline|round|sharp|twotone|emoji|animal|food|fruit|vegetable|kitchen|weather")
_UNSUITABLE = re.compile(
    "logo|brand|flag|simple-icons|devicon|vscode|skill|file-icons|material-icon-theme|catppuccin|selfhst|thesvg|token|"
    "cryptocurrency|^cif$|^cib$|^bxl$|entypo-social|arcticons|gcp|k8s|nonicons|academicons|payment|pixel|dinkie|memory|"
    "fontelico|svg-spinners|line-md|meteocons|unjs|codex|topcoat|roentgen"
)
# Seen by eye: these names mean something else in most sets, such as a computer's mouse or a marker on a map.
HOMONYMS = {
    *("animal migration", "bat", "camouflage", "cooler", "crane (machine)", "head", "ipod", "line", "marker", "mouse"),
    *("mouse (animal)", "pool", "squiggle", "stitches", "The Mona Lisa"),
}


@dataclass(frozen=True)
class Icon:
    """An icon that shows a category."""

    category: str
    set: str
    name: str
    licence: str
    svg: str


def find_icons(package: Path, categories: Iterable[str], most: int = 48, seed: int = 0) -> list[Icon]:
    """Find icons by name: at most ``most`` a category and two of a set, drawn by ``seed``.

    Sets whose licence forbids commercial use, logos, flags and names in `HOMONYMS` are left out.
    """
    wanted: dict[str, str] = {}
    for category in categories:
        if category not in HOMONYMS:
            wanted.setdefault(meaning(category), category)
    found: dict[str, list[Icon]] = defaultdict(list)
    for icon in _icons_named(package, wanted):
        found[icon.category].append(icon)
    if not found:
        raise DatasetProblem(
            f"{package} has no icon with the name of a category. Unpack the npm package @iconify/json."
        )
    rng = np.random.default_rng(seed)
    return [icon for category in sorted(found) for icon in _varied(found[category], most, rng)]


def write_outlines(icons: Sequence[Icon], out: Path, advance: Callable[[], None], render: Render | None = None) -> int:
    """Write a dataset of sketches, ``sketches/<category>/<set>_<name>.png``, and return how many icons gave one."""
    draw = render or _render
    written = 0
    for icon in icons:
        page = outline(draw(icon.svg))
        if page is not None:
            path = out / "sketches" / icon.category / f"{icon.set}_{icon.name}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(page).convert("1").save(path)
            written += 1
        advance()
    return written


def outline(pixels: NDArray[np.uint8]) -> NDArray[np.uint8] | None:
    """Reduce a picture of an icon ``(h, w, 3)`` to black lines on white ``(h, w)``; None if nothing useful is left."""
    cv2: Any = require("cv2", "icons")
    dark = (pixels.min(axis=2) < 128).astype(np.uint8)
    if (pixels.max(axis=2).astype(int) - pixels.min(axis=2)).max() > _COLOURED:
        smooth = cv2.cvtColor(cv2.GaussianBlur(pixels, (0, 0), 1.5), cv2.COLOR_RGB2LAB)
        edges = np.zeros(dark.shape, np.uint8)
        for channel, low, high in ((0, 40, 90), (1, 30, 70), (2, 30, 70)):
            edges |= cv2.Canny(np.ascontiguousarray(smooth[:, :, channel]), low, high)
        closed = cv2.morphologyEx(edges, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
        page: NDArray[np.uint8] = 255 - cv2.dilate(closed, np.ones((2, 2), np.uint8))
    elif not dark.any():
        return None
    elif np.percentile(cv2.distanceTransform(dark, cv2.DIST_L2, 3)[dark > 0], 90) <= _THICKEST_LINE:
        page = 255 * (1 - dark)
    else:
        page = 255 - cv2.morphologyEx(dark * 255, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8))
    inked = page < 128
    return None if inked.mean() > _MOST_INK or inked.sum() < _FEWEST_PIXELS else page


def _icons_named(package: Path, wanted: dict[str, str]) -> Iterator[Icon]:
    try:
        sets = json.loads((package / "collections.json").read_text(encoding="utf-8"))
        for name, info in sorted(sets.items()):
            licence = info["license"].get("spdx") or info["license"]["title"]
            path = package / "json" / f"{name}.json"
            if _UNSUITABLE.search(name) or "NC" in licence or not path.exists():
                continue
            icons = json.loads(path.read_text(encoding="utf-8"))
            for icon, body in icons["icons"].items():
                category = wanted.get(_bare_name(icon))
                if category is not None:
                    yield Icon(category, name, icon, licence, _svg(body, icons))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as problem:
        raise DatasetProblem(f"{package} does not look like the npm package @iconify/json: {problem!r}.") from problem


def _bare_name(icon: str) -> str:
    """Fold an icon's name without the words of its style.

    >>> _bare_name("emoji-hot-air-balloon-outline")
    'hotairballoon'
    """
    words = icon.split("-")
    while len(words) > 1 and _STYLE.fullmatch(words[-1]):
        words.pop()
    while len(words) > 1 and _PREFIX.fullmatch(words[0]):
        words.pop(0)
    return meaning(" ".join(words))


def _svg(icon: dict[str, Any], defaults: dict[str, Any]) -> str:
    left, top = (icon.get(key, defaults.get(key, 0)) for key in ("left", "top"))
    width, height = (icon.get(key, defaults.get(key, 16)) for key in ("width", "height"))
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{left} {top} {width} {height}" width="{_SIDE}" height="{_SIDE}" color="#000">{icon["body"]}</svg>'
    )


def _varied(icons: Sequence[Icon], most: int, rng: np.random.Generator) -> list[Icon]:
    """Draw icons of one category from as many sets as possible."""
    taken: Counter[str] = Counter()
    drawn: list[Icon] = []
    for row in rng.permutation(len(icons)):
        if taken[icons[row].set] < _MOST_OF_A_SET:
            taken[icons[row].set] += 1
            drawn.append(icons[row])
    return drawn[:most]


def _render(svg: str) -> NDArray[np.uint8]:
    """Draw an icon on white paper; one that cannot be drawn leaves it white."""
    inner = _SIDE - 2 * _MARGIN
    try:
        png = require("resvg_py", "icons").svg_to_bytes(
            svg_string=svg, width=inner, height=inner, background="#ffffff", skip_system_fonts=True
        )
    except ValueError:
        return np.full((_SIDE, _SIDE, 3), 255, np.uint8)
    pixels = np.asarray(Image.open(io.BytesIO(bytes(png))).convert("RGB"))
    frame = ((_MARGIN, _MARGIN), (_MARGIN, _MARGIN), (0, 0))
    return np.pad(pixels, frame, constant_values=255)
