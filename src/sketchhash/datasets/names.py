"""Category names as people spell them: the published lists, and a spelling-tolerant way into them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from importlib.resources import files

from sketchhash.errors import UnknownName

_LISTS = files("sketchhash.datasets") / "lists"


def fold(name: str) -> str:
    """Reduce a name to what all its spellings share.

    >>> fold("hot-air_balloon") == fold("Hot air balloon") == fold("hotairballoon")
    True
    """
    return re.sub(r"[\s_()\-]+", "", name).casefold()


def meaning(category: str) -> str:
    """Return a key that is the same for all names of a category in different datasets.

    >>> meaning("car (sedan)") == meaning("automobile")
    True
    """
    return _synonyms().get(fold(category), fold(category))


class CategoryNames:
    """A closed list of categories that recognises other spellings and known misspellings of its names."""

    def __init__(self, names: Iterable[str], aliases: Mapping[str, str] | None = None) -> None:
        """List the official ``names``, and ``aliases`` from other names to official ones."""
        self.names = tuple(sorted(names))
        self._official = {fold(name): name for name in self.names}
        self._official |= {fold(alias): name for alias, name in (aliases or {}).items()}

    def find(self, name: str) -> str | None:
        """Return the official name for any spelling of it, or None."""
        return self._official.get(fold(name))

    def nearest(self, name: str) -> str | None:
        """Return the official name that looks most like an unknown one, or None."""
        matches = get_close_matches(fold(name), self._official, n=1)
        return self._official[matches[0]] if matches else None


def tuberlin_categories() -> CategoryNames:
    """Return the 250 categories of TU-Berlin, with the photo folders that are misspelt on disk as aliases."""
    rows = [line.split("\t") for line in _lines("tuberlin_photo_folders.tsv")[1:]]
    return CategoryNames(_lines("tuberlin.txt"), {folder: category for folder, category in rows})


def sketchy_categories() -> CategoryNames:
    """Return the 125 categories of Sketchy."""
    return CategoryNames(_lines("sketchy.txt"))


def quickdraw_categories() -> CategoryNames:
    """Return the 345 categories of Quick, Draw!."""
    return CategoryNames(line for line in _lines("quickdraw.txt") if not line.startswith("#"))


def zero_shot_lists() -> tuple[str, ...]:
    """Return the names of the published lists of unseen categories."""
    names = [entry.name.removesuffix(".txt") for entry in (_LISTS / "zero_shot").iterdir()]
    return tuple(sorted(names))


def zero_shot_categories(list_name: str) -> tuple[str, ...]:
    """Return the unseen categories of a published list, in that list's spelling."""
    if list_name not in zero_shot_lists():
        raise UnknownName("zero-shot list", list_name, zero_shot_lists())
    return tuple(_lines(f"zero_shot/{list_name}.txt"))


@cache
def _synonyms() -> dict[str, str]:
    rows = [line.split("\t") for line in _lines("synonyms.tsv")]
    return {fold(name): fold(row[0]) for row in rows for name in row}


def _lines(file: str) -> list[str]:
    text = _LISTS.joinpath(*file.split("/")).read_text(encoding="utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]
