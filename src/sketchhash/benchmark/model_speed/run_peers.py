"""Peers made from a training run: its network in PyTorch, and exported in several number formats."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from numpy.typing import NDArray

from sketchhash.benchmark.model_speed.peer_scores import Preparing, score_peers
from sketchhash.benchmark.model_speed.peers import Peer, PeerFigures, onnx_peer, time_peers
from sketchhash.benchmark.model_speed.quantising import write_dynamic, write_static
from sketchhash.benchmark.model_speed.stages import Inputs, Stages
from sketchhash.dsh import cards
from sketchhash.dsh.export import Weights, export
from sketchhash.dsh.networks import HashNetwork
from sketchhash.dsh.runs import Job
from sketchhash.evaluation.settings import Setting

_log = logging.getLogger(__name__)

_BATCH = 16
_CALIBRATED_ON = 64
_SEED = 0


def compare(
    job: Job, network: HashNetwork, settings: Sequence[Setting], seconds: float, advance: Callable[[], None]
) -> list[PeerFigures]:
    """Score and time a run's network in every form; ``advance`` is called for each item that all have encoded."""
    with TemporaryDirectory() as place:
        folders = export_all(job, network, Path(place))
        peers = [*(onnx_peer(name, folder) for name, folder in folders.items()), torch_peer(network)]
        stages = Stages(folders[Weights.FLOAT32])
        scores = score_peers(peers, stages, settings, advance)
        sketches = Preparing.sketches(stages).one_by_one(settings[0].queries[:_BATCH])
        photos = Preparing.photos(stages).one_by_one(settings[0].gallery[:_BATCH])
        times = time_peers(peers, sketches, photos, seconds)
    return [PeerFigures(peer.name, peer.bytes, times[peer.name], scores[peer.name]) for peer in peers]


def export_all(job: Job, network: HashNetwork, place: Path) -> dict[str, Path]:
    """Write the network in ``float32``, ``float16`` and, where the runtime can, ``int8``: folders by name."""
    folders = {str(weights): place / weights for weights in Weights}
    for weights in Weights:
        export(network, job, folders[weights], cards.describe(job), {}, weights)
    plain = folders[Weights.FLOAT32]
    calibration = _calibration(job, Stages(plain))
    integers: dict[str, Callable[[Path], None]] = {
        "int8, dynamic": lambda target: write_dynamic(plain, target),
        "int8, static": lambda target: write_static(plain, target, *calibration),
    }
    for name, write in integers.items():
        target = place / name.replace(", ", "-")
        try:
            write(target)
            Stages(target)
        except Exception as problem:  # the runtime's many errors share no nearer ancestor
            _log.warning("%s networks cannot be made: %s", name, problem)
        else:
            folders[name] = target
    return folders


def torch_peer(network: HashNetwork) -> Peer:
    """Run a network eagerly, on one thread."""
    torch.set_num_threads(1)
    network.eval()
    spec = network.spec

    def photos(inputs: Inputs) -> NDArray[np.float32]:
        rows = len(next(iter(inputs.values())))
        absent = np.zeros((rows, spec.ink_side, spec.ink_side), dtype=np.uint8)
        tokens = torch.from_numpy(inputs.get("tokens", absent)).unsqueeze(1)
        pictures = torch.from_numpy(inputs["photos"]).permute(0, 3, 1, 2) if "photos" in inputs else tokens
        with torch.inference_mode():
            return network.encode_photos(pictures, tokens).numpy()

    def sketches(inputs: Inputs) -> NDArray[np.float32]:
        with torch.inference_mode():
            return network.encode_sketches(torch.from_numpy(inputs["sketches"]).unsqueeze(1)).numpy()

    size = sum(tensor.nbytes for tensor in network.state_dict().values())
    return Peer("PyTorch, float32", size, photos, sketches)


def _calibration(job: Job, stages: Stages) -> tuple[list[Inputs], list[Inputs]]:
    """Prepare some of the pictures that the network was trained on."""
    parts = job.split.apply(job.dataset)
    rng = np.random.default_rng(_SEED)
    photos, sketches = (
        [items[row] for row in rng.permutation(len(items))[:_CALIBRATED_ON].tolist()]
        for items in (parts.training_photos, parts.training_sketches)
    )
    return Preparing.photos(stages).one_by_one(photos), Preparing.sketches(stages).one_by_one(sketches)
