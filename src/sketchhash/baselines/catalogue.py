"""All compared methods, in the order of the paper's tables, and fitted methods as files.

Adding a method takes one module with its card, and one row here. Listing the cards imports neither PyTorch nor SciPy
nor scikit-learn.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sketchhash.baselines import class_codes
from sketchhash.baselines.crossview import cca, cvfl, plsr, xqda
from sketchhash.baselines.deep import (
    dcmh,
    gn_triplet,
    shape3d,
    siamese_alexnet,
    siamese_cnn,
    sketch_a_net,
    triplet_alexnet,
)
from sketchhash.baselines.handcrafted import gf_hog, hog, lks, shelo
from sketchhash.baselines.hashing import cmfh, cmssh, cvh, scm, seph
from sketchhash.baselines.later import contrastive_hashing, gdh, posteriors, sake, triplet_hashing
from sketchhash.baselines.method import Card, Method
from sketchhash.errors import BadArgument, DamagedState, MissingExtra, UnknownName, UnwritableState
from sketchhash.files import replacing

CATALOGUE: tuple[Card, ...] = (
    hog.CARD,
    gf_hog.CARD,
    shelo.CARD,
    lks.CARD,
    siamese_cnn.CARD,
    sketch_a_net.CARD,
    gn_triplet.CARD,
    shape3d.CARD,
    siamese_alexnet.CARD,
    triplet_alexnet.CARD,
    dcmh.CARD,
    cmfh.CARD,
    cmssh.CARD,
    scm.SEQUENTIAL_CARD,
    scm.ORTHOGONAL_CARD,
    cvh.CARD,
    seph.CARD,
    class_codes.CARD,
    contrastive_hashing.CARD,
    triplet_hashing.CARD,
    gdh.CARD,
    sake.CARD,
    cca.CARD,
    xqda.CARD,
    plsr.CARD,
    cvfl.CARD,
    posteriors.CARD,
)

_FORMAT = "sketchhash fitted method 1"
_HEADER = ("format", "name", "size", "seed")
_LEARNED = "learned."


def card_of(name: str) -> Card:
    """Look up a method by its name.

    Raises:
        UnknownName: If no method has it; the text suggests the nearest.
    """
    for card in CATALOGUE:
        if card.name == name:
            return card
    raise UnknownName("method", name, (card.name for card in CATALOGUE))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted method, with the card, size and seed it was built from."""

    card: Card
    size: int
    seed: int
    method: Method

    def save(self, path: Path) -> None:
        """Write everything that was learned to one ``.npz`` file, never as a pickle.

        Raises:
            NotFitted: If the method has not been fitted.
            UnwritableState: If the file cannot be written; an existing file is then left unchanged.
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


def load_fitted(path: Path, method: Method | None = None) -> Fitted:
    """Read what `Fitted.save` wrote; nothing in the file is ever executed.

    Args:
        path: The file.
        method: An unfitted method to restore, if it was built with other settings than those of its card.

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
        return Fitted(card, size, seed, (method or card.build(size, seed)).restore(learned))
    except MissingExtra:
        raise
    except Exception as cause:  # a damaged archive fails in a dozen ways, and a method may refuse what is in it
        raise DamagedState(f"{path} does not hold a fitted method: {cause}. Fit it again and save it.") from cause
