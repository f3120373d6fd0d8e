"""What the codes of several peers are worth, from the same pictures, which are prepared once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sketchhash.benchmark.model_speed.peers import Peer, Run
from sketchhash.benchmark.model_speed.stages import Inputs, Picture, Stages
from sketchhash.codes import pack
from sketchhash.datasets import Item
from sketchhash.errors import SketchHashError
from sketchhash.evaluation.encodings import ink_picture, photo_picture
from sketchhash.evaluation.metrics import mean_average_precision
from sketchhash.evaluation.ranking import labels, rank_codes
from sketchhash.evaluation.settings import Setting

_BATCH = 16

Rows = dict[str, NDArray[np.float32]]


@dataclass(frozen=True)
class Preparing:
    """How items become what the networks take: read one by one, then prepared together."""

    read: Callable[[Item], Picture]
    prepare: Callable[[Sequence[Picture]], Inputs]

    @classmethod
    def photos(cls, stages: Stages) -> Preparing:
        """Prepare photos."""
        return cls(photo_picture, stages.photo_inputs)

    @classmethod
    def sketches(cls, stages: Stages) -> Preparing:
        """Prepare sketches."""
        return cls(partial(ink_picture, stages.manifest.ink), stages.sketch_inputs)

    def readable(self, items: Iterable[Item]) -> dict[str, Picture]:
        """Read items, by id; what cannot be read is left out."""
        found = {}
        for item in items:
            try:
                found[item.id] = self.read(item)
            except (SketchHashError, OSError):
                continue
        return found

    def one_by_one(self, items: Iterable[Item]) -> list[Inputs]:
        """Prepare each readable item for a call of its own."""
        return [self.prepare([picture]) for picture in self.readable(items).values()]


def score_peers(
    peers: Sequence[Peer], stages: Stages, settings: Sequence[Setting], advance: Callable[[], None] = lambda: None
) -> dict[str, dict[str, float]]:
    """Give the mAP of each peer's codes in each setting: by the peer's name, and by the setting's title.

    ``advance`` is called for each item that all peers have encoded.
    """
    photos = _unique(item for setting in settings for item in setting.gallery)
    sketches = _unique(item for setting in settings for item in setting.queries)
    photo_rows = _encode({peer.name: peer.photos for peer in peers}, photos, Preparing.photos(stages), advance)
    sketch_rows = _encode({peer.name: peer.sketches for peer in peers}, sketches, Preparing.sketches(stages), advance)
    return {
        peer.name: {each.title: _score(each, sketch_rows[peer.name], photo_rows[peer.name]) for each in settings}
        for peer in peers
    }


def _unique(items: Iterable[Item]) -> list[Item]:
    return list({item.id: item for item in items}.values())


def _encode(
    runs: Mapping[str, Run], items: Sequence[Item], preparing: Preparing, advance: Callable[[], None]
) -> dict[str, Rows]:
    found: dict[str, Rows] = {name: {} for name in runs}
    for start in range(0, len(items), _BATCH):
        batch = items[start : start + _BATCH]
        pictures = preparing.readable(batch)
        if pictures:
            inputs = preparing.prepare(list(pictures.values()))
            for name, run in runs.items():
                found[name] |= dict(zip(pictures, run(inputs), strict=True))
        for _ in batch:
            advance()
    return found


def _score(setting: Setting, sketches: Rows, photos: Rows) -> float:
    queries = [item for item in setting.queries if item.id in sketches]
    gallery = [item for item in setting.gallery if item.id in photos]
    codes, searched = (
        pack(np.stack([rows[item.id] for item in items])) for rows, items in ((sketches, queries), (photos, gallery))
    )
    return mean_average_precision(rank_codes(codes, searched, labels(queries), labels(gallery))).value
