"""What a comparison runs: the methods of the catalogue, Deep Sketch Hashing and its ablations, each at its sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sketchhash.baselines import CATALOGUE
from sketchhash.errors import UnknownName
from sketchhash.paper import published

DSH = "dsh"
ABLATIONS = tuple(ablation.name for ablation in published.ABLATIONS)

# Plain methods on the features that DSH's own layers learn from: not in the paper, but what its codes have to beat.
TRUNK_METHODS = {
    "trunk-ridge": "ridge to random class codes",
    "trunk-cca": "sign of CCA",
    "trunk-triplet": "triplet heads",
}


@dataclass(frozen=True)
class Entry:
    """One run: a method at a number of bits or dimensions.

    A ``repeat`` above 0 trains DSH once more from other random codes, on the same split and pre-trained networks.
    """

    method: str
    size: int
    repeat: int = 0

    @property
    def slug(self) -> str:
        """The name of this run's files."""
        return f"{self.method}-{self.size}" + (f"-repeat-{self.repeat}" if self.repeat else "")


def method_names() -> tuple[str, ...]:
    """Return the names of all methods of the paper, in the order of the tables."""
    return (*(card.name for card in CATALOGUE), DSH, *ABLATIONS)


def plan(methods: Sequence[str] | None, bits: Sequence[int], ablation_bits: int) -> list[Entry]:
    """List the runs of some methods, or of all: codes of every length, and one run for a fixed dimension.

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


def ablation_plan(bits: int, repeats: int = 1, lengths: Sequence[int] = ()) -> list[Entry]:
    """List the five lines of Table 4, each so many times, after DSH and plain methods at other code lengths."""
    compared = [Entry(method, length) for length in lengths for method in ("trunk-ridge", "trunk-cca", DSH)]
    lines = [Entry(name, bits, repeat) for name in (*ABLATIONS, DSH) for repeat in range(repeats)]
    return list(dict.fromkeys([*compared, *lines]))
