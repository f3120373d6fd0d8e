"""Fitted methods as files: named arrays in one ``.npz``, whole or not there, and never a pickle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sketchhash.baselines.catalogue import card_of
from sketchhash.baselines.method import Card, Method
from sketchhash.errors import BadArgument, DamagedState, MissingExtra, UnwritableState
from sketchhash.files import replacing

_FORMAT = "sketchhash fitted method 1"
_HEADER = ("format", "name", "size", "seed")
_LEARNED = "learned."


@dataclass(frozen=True, eq=False)
class Fitted:
    """A method that has learned, and what it was built from."""

    card: Card
    size: int
    seed: int
    method: Method

    def save(self, path: Path) -> None:
        """Write all that was learned to one file.

        Raises:
            NotFitted: If the method has learned nothing yet.
            UnwritableState: If the file cannot be written; one that was there before still is.
        """
        arrays: dict[str, Any] = dict(zip(_HEADER, (_FORMAT, self.card.name, self.size, self.seed), strict=True))
        for name, array in self.method.state().items():
            if array.dtype.hasobject:
                raise BadArgument(f"{name} holds objects, which could only be pickled: keep plain arrays.")
            arrays[_LEARNED + name] = array
        try:
            with replacing(path) as file:
                np.savez(file, **arrays)
        except OSError as problem:
            raise UnwritableState(
                f"{path} cannot be written: {problem}. Make room or choose another place."
            ) from problem


def load_fitted(path: Path) -> Fitted:
    """Read what `Fitted.save` wrote; nothing in the file is ever executed.

    Raises:
        DamagedState: If the file is missing or damaged, or holds something else.
        MissingExtra: If the method needs a package that is not installed.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in stored.files}
        header = [arrays.pop(key).item() for key in _HEADER]
        if header[0] != _FORMAT:
            raise ValueError(f"its format is {header[0]!r}, not {_FORMAT!r}")
        _, name, size, seed = header
        card = card_of(name)
        learned = {name.removeprefix(_LEARNED): array for name, array in arrays.items()}
        return Fitted(card, size, seed, card.build(size, seed).restore(learned))
    except MissingExtra:
        raise
    except Exception as cause:  # a damaged archive fails in a dozen ways, and a method may refuse what is in it
        raise DamagedState(f"{path} does not hold a fitted method: {cause}. Fit it again and save it.") from cause
