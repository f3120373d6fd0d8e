"""How much to train with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sketchhash.errors import BadArgument, UnknownName
from sketchhash.tokens.features import FEATURES


@dataclass(frozen=True)
class Preset:
    """The sizes of a training run; memory is 4 bytes for each sample of a tree times its ``features``.

    Args:
        positives: Contour pixels of each token class, at most, that a tree sees.
        negatives: Background pixels of each photo, at most, that a tree sees.
        trees: Each grown from a sample of its own.
        features: How many features a tree may use, drawn for each tree; the rest are never computed.
        tokens: Classes of contours.
        contours: Contour pixels, out of all that were traced, that are sorted into classes.
    """

    positives: int
    negatives: int
    trees: int
    features: int = FEATURES
    tokens: int = 150
    contours: int = 200_000

    def __post_init__(self) -> None:
        """Refuse numbers that no forest can grow from."""
        for name, value in vars(self).items():
            if value < 1:
                raise BadArgument(f"{name} is a number from 1 up; got {value}.")
        if self.features > FEATURES:
            raise BadArgument(f"A patch has {FEATURES:,} features; {self.features:,} cannot be drawn from them.")


# "small" and "full" have the samples and trees of the authors' presets of these names. In place of their 27 GB,
# "full" takes 9 GB: a third of the features for each tree. "medium" takes 2.2 GB.
PRESETS: Mapping[str, Preset] = {
    "small": Preset(positives=100, negatives=80, trees=20),
    "medium": Preset(positives=250, negatives=200, trees=25, features=FEATURES // 3),
    "full": Preset(positives=1000, negatives=800, trees=25, features=FEATURES // 3, contours=500_000),
}


def preset(name: str) -> Preset:
    """Give the preset of that name.

    >>> preset("small").trees
    20
    """
    try:
        return PRESETS[name]
    except KeyError:
        raise UnknownName("preset", name, PRESETS) from None
