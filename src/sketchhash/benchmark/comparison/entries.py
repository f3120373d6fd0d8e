"""What a comparison runs: the methods of the catalogue, Deep Sketch Hashing and its ablations, each at its sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sketchhash.baselines import CATALOGUE
from sketchhash.errors import UnknownName
from sketchhash.paper import published as paper

DSH = "dsh"
ABLATIONS = tuple(component.name for component in paper.ABLATIONS)


@dataclass(frozen=True)
class Entry:
    """One run: a method, at a number of bits or dimensions."""

    method: str
    size: int

    @property
    def slug(self) -> str:
        """Name this run's files."""
        return f"{self.method}-{self.size}"


def method_names() -> tuple[str, ...]:
    """Name all that can be run, in the order of the tables."""
    return (*(card.name for card in CATALOGUE), DSH, *ABLATIONS)


def plan(methods: Sequence[str] | None, bits: Sequence[int], ablation_bits: int) -> list[Entry]:
    """List the runs of some methods, or of all: codes of every length, and one run for what has one dimension.

    Sketch-a-Net comes before the methods that see sketches through it, and Table 4 last.
    """
    known = method_names()
    for name in methods or ():
        if name not in known:
            raise UnknownName("method", name, known)
    chosen = [name for name in known if methods is None or name in methods]
    cards = {card.name: card for card in CATALOGUE}
    lengths = {
        **{name: cards[name].sizes or tuple(bits) for name in cards},
        **dict.fromkeys(ABLATIONS, (ablation_bits,)),
        # What Table 4 compares with.
        DSH: (*bits, ablation_bits) if set(ABLATIONS) & set(chosen) else tuple(bits),
    }
    return [Entry(name, size) for name in chosen for size in dict.fromkeys(lengths[name])]
