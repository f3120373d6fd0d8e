"""How much memory a process holds that has loaded a model; each is measured in a process of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import numpy as np

from sketchhash.benchmark.serving import Figures, fill_with_random_codes
from sketchhash.benchmark.serving import measure as let_people_draw
from sketchhash.gallery import GalleryFile
from sketchhash.model import Model

if TYPE_CHECKING:
    from sketchhash.dsh.networks import HashNetwork, NetworkSpec

_STATUS = Path("/proc/self/statm")


def bare_bytes() -> int:
    """Measure Python with this package's measuring code, and nothing loaded."""
    return _in_another_process(resident_bytes)


def model_bytes(folder: Path) -> int:
    """Measure a process that has encoded a sketch and a photo with a model folder."""
    return _in_another_process(_load_model, folder)


def torch_bytes(network: HashNetwork) -> int:
    """Measure a process that has done the same with the network in PyTorch."""
    import torch

    with TemporaryDirectory() as place:
        weights = Path(place) / "weights.pt"
        torch.save(network.state_dict(), weights)
        return _in_another_process(_load_network, network.spec, weights)


def serve_random_codes(folder: Path, codes: int, seconds: float) -> Figures:
    """Serve a gallery of so many random codes to one drawer, and give how the service did: memory and times."""
    with TemporaryDirectory() as place:
        path = Path(place) / "random.gallery"
        with GalleryFile.create(path, Model.load(folder)) as gallery:
            fill_with_random_codes(gallery, codes)
        return let_people_draw(path, folder, drawers=1, seconds=seconds)


def resident_bytes() -> int:
    """Give the memory that this process holds: 0 where the system does not tell, which is all but Linux."""
    if not _STATUS.exists():
        return 0
    return int(_STATUS.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _in_another_process(work: Callable[..., int], *arguments: object) -> int:
    context = get_context("spawn")  # a fork would start with all that this process has loaded
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(work, *arguments).result()


def _load_model(folder: Path) -> int:
    model = Model.load(folder)
    size = model.manifest.ink.size
    model.encode_sketches(np.full((1, size, size), 255, dtype=np.uint8))
    model.encode_photos([np.zeros((size, size, 3), dtype=np.uint8)])
    return resident_bytes()


def _load_network(spec: NetworkSpec, weights: Path) -> int:
    import torch

    from sketchhash.dsh.networks import build_network

    torch.set_num_threads(1)
    network = build_network(spec, seed=0, pretrained=False).eval()
    network.load_state_dict(torch.load(weights, weights_only=True))
    ink = torch.zeros(1, 1, spec.ink_side, spec.ink_side, dtype=torch.uint8)
    photos = torch.zeros(1, 3, spec.photo_side, spec.photo_side, dtype=torch.uint8)
    with torch.inference_mode():
        network.encode_sketches(ink)
        network.encode_photos(photos, ink)
    return resident_bytes()
