"""Settings of compared methods that differ from those on their cards: ``gn-triplet.side=224`` is a larger side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from sketchhash.baselines import CATALOGUE, Method
from sketchhash.baselines.method import settings_of
from sketchhash.errors import BadArgument, UnknownName
from sketchhash.paper.features import Settings

Changes = Mapping[str, Settings]

_ANY_BITS = 64
_KINDS = (bool, int, float, str)


def parse_settings(texts: Sequence[str]) -> Changes:
    """Return the settings to change, by method.

    >>> parse_settings(["gn-triplet.side=224", "gn-triplet.pretrained=no"])
    {'gn-triplet': {'side': 224, 'pretrained': False}}
    """
    changes: dict[str, dict[str, object]] = {}
    for text in texts:
        place, equals, value = text.partition("=")
        name, dot, setting = place.partition(".")
        if not equals or not dot:
            raise BadArgument(f"A setting is METHOD.NAME=VALUE, such as gn-triplet.side=224, and not {text!r}.")
        changes.setdefault(name, {})[setting] = _parsed(name, setting, value)
    return changes


def changed(method: Method, changes: Settings) -> Method:
    """Return an unfitted method with other settings."""
    return cast(Method, replace(cast(Any, method), **changes)) if changes else method


def _parsed(name: str, setting: str, value: str) -> object:
    cards = {card.name: card for card in CATALOGUE}
    if name not in cards:
        raise UnknownName("method", name, cards)
    card = cards[name]
    (size, *_) = card.sizes or (_ANY_BITS,)
    others = list(settings_of(card.build(size, seed=0)).items())[1:]  # the first is the size
    settings = {key: given for key, given in others if key != "seed" and isinstance(given, _KINDS)}
    if setting not in settings:
        there = ", ".join(f"{key}={given}" for key, given in settings.items()) or "none"
        raise BadArgument(f"{name} has no setting named {setting!r}. It has: {there}.")
    kind = type(settings[setting])
    try:
        parsed: object = TypeAdapter(kind).validate_strings(value)
    except ValidationError as problem:
        raise BadArgument(f"{name}.{setting} is a {kind.__name__}, not {value!r}.") from problem
    return parsed
