"""The same networks run in several ways: other weights, other number formats, another runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sketchhash.benchmark.model_speed.stages import Inputs, Stages
from sketchhash.benchmark.search_speed.timing import Schedule, Timing, interleaved
from sketchhash.model import manifest

_ROUNDS = 5
_CALLS_A_TURN = 20

Run = Callable[[Inputs], NDArray[np.float32]]


@dataclass(frozen=True)
class Peer:
    """One way to run the networks; ``bytes`` are those of its two graphs, or of its weights."""

    name: str
    bytes: int
    photos: Run
    sketches: Run


@dataclass(frozen=True)
class PeerTimes:
    """Seconds of one call, on one thread, with pictures that are prepared already."""

    sketch: Timing
    photo: Timing
    batch: Timing


@dataclass(frozen=True)
class PeerFigures:
    """A peer in numbers: both networks' bytes, times, and mAP by the title of a setting."""

    name: str
    bytes: int
    times: PeerTimes
    scores: Mapping[str, float]


def onnx_peer(name: str, folder: Path) -> Peer:
    """Run the graphs of a model folder."""
    stages = Stages(folder)
    size = sum((folder / graph).stat().st_size for graph in (manifest.IMAGE_NETWORK, manifest.SKETCH_NETWORK))
    return Peer(name, size, stages.image.run, stages.sketch.run)


def time_peers(
    peers: Sequence[Peer], sketches: Sequence[Inputs], photos: Sequence[Inputs], seconds: float
) -> dict[str, PeerTimes]:
    """Time all peers in turns, each number for about ``seconds`` a peer; a batch is all photos together."""
    batch = {name: np.concatenate([photo[name] for photo in photos]) for name in photos[0]}
    sketch_times = _timed({peer.name: peer.sketches for peer in peers}, sketches, seconds)
    photo_times = _timed({peer.name: peer.photos for peer in peers}, photos, seconds)
    batch_times = _timed({peer.name: peer.photos for peer in peers}, [batch], seconds)
    return {
        peer.name: PeerTimes(sketch_times[peer.name], photo_times[peer.name], batch_times[peer.name]) for peer in peers
    }


def _timed(runs: Mapping[str, Run], inputs: Sequence[Inputs], seconds: float) -> dict[str, Timing]:
    for run in runs.values():
        run(inputs[0])  # whatever is built at first use

    def call(run: Run) -> Callable[[int], object]:
        return lambda number: run(inputs[number % len(inputs)])

    calls = {name: call(run) for name, run in runs.items()}
    return interleaved(calls, Schedule(_ROUNDS, _CALLS_A_TURN, seconds))
