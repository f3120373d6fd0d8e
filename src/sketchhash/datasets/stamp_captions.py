"""What a stamp of Tux Paint shows, read from its English caption.

"A red kangaroo." is a kangaroo, "A pair of open scissors." are scissors, "Eat your broccoli!" is broccoli. The last
words of a caption name the thing; if some of them name a category of TU-Berlin, Sketchy or Quick, Draw!, the longest
such name is the category. Any other caption, without its article, is a category of its own.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from sketchhash.datasets.names import meaning, sketchy_categories, tuberlin_categories

_ARTICLES = frozenset({"a", "an", "another", "our", "some", "the", "two"})

# "A pair of scissors" shows scissors; "a glass of water" shows a glass.
_PARTS = frozenset({"baby", "bunch", "head", "pair", "plant", "quarter", "string"})

# From here on, a caption tells something else.
_ENDS = frozenset(
    {"also", "are", "as", "at", "called", "covered", "for", "from", "in", "is", "lets", "like", "making"}
    | {"means", "of", "or", "resembles", "used", "with"}
)

# Without an article, longer sentences are exclamations: then the name of the file says more.
_MOST_WORDS = 3

# Captions whose last words name something that the picture does not show.
_READ_AS = {
    "alien tree": "rambutan",
    "edward bear": "teddy-bear",
    "sea lion": "sea lion",
    "trophy cup": "trophy",
    "vw beetle": "car (sedan)",
}


def category_of(caption: str, file_name: str) -> str:
    """Name what a stamp shows; ``file_name`` is without its suffix.

    >>> category_of("A ripe, red tomato!", "tomato"), category_of("A pink tricycle.", "pink_tricycle")
    ('tomato', 'pink tricycle')
    """
    words = _subject(caption) or _words(file_name) or [file_name]
    phrase = " ".join(words)
    if phrase in _READ_AS:
        return _READ_AS[phrase]
    endings = (_key(" ".join(words[start:])) for start in range(len(words)))
    return next((_known()[ending] for ending in endings if ending in _known()), phrase)


def _subject(caption: str) -> list[str]:
    """Give the words that name the thing, or none if the caption does not begin with it."""
    words = _words(re.split(r"[.!?(:—]", caption, maxsplit=1)[0])
    named = words[: next((place for place, word in enumerate(words) if place and word in _ENDS - {"of"}), None)]
    if words[:1] and words[0] not in _ARTICLES and len(named) > _MOST_WORDS:
        return []
    while named and (named[0] in _ARTICLES or (named[0] in _PARTS and named[1:2] == ["of"])):
        named = named[1:] if named[0] in _ARTICLES else named[2:]
    return named[: named.index("of")] if "of" in named else named


def _words(text: str) -> list[str]:
    """Split into lower-case words; numbers that stand alone only count stamps."""
    words = re.findall(r"[^\W_]+(?:['’-][^\W_]+)*", text.lower())
    return [word for word in words if not word.isdigit()]


@cache
def _known() -> dict[str, str]:
    """Give the names that datasets of sketches use, in the spelling of the first that has them."""
    quickdraw = (files("sketchhash.datasets") / "lists" / "quickdraw.txt").read_text(encoding="utf-8").splitlines()
    names = (*tuberlin_categories().names, *sketchy_categories().names, *quickdraw[1:])
    return {_key(name): name for name in reversed(names)}


def _key(name: str) -> str:
    """Give one key to all spellings of a name, singular or plural: grapes and grape, leaves and leaf."""
    key = meaning(name)
    for ending, single in (("ves", "f"), ("ies", "y"), ("oes", "o"), ("ss", "ss"), ("s", "")):
        if key.endswith(ending):
            return meaning(key.removesuffix(ending) + single)
    return key
