"""Where a batch comes from: pictures read and augmented anew, or trunk outputs computed once and kept.

A trunk that no longer learns gives the same output for the same picture, so it is run once for each of a few
augmented views; from then on training touches only the layers behind it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from sketchhash.datasets import Item
from sketchhash.devices import device, on_device
from sketchhash.dsh.checkpoints import read_array, write_parts
from sketchhash.dsh.networks import Net
from sketchhash.dsh.progress import Progress
from sketchhash.dsh.tracing import traced_function
from sketchhash.errors import DamagedState

_BATCH = 64
_MANY = 5000  # pictures that are worth tracing a trunk for


class Kind(StrEnum):
    """What a network may be shown; ink is sketches and token maps together."""

    PHOTOS = "photos"
    TOKENS = "tokens"
    SKETCHES = "sketches"
    INK = "ink"


class Source(Protocol):
    """Items of one kind that can be asked for by row; pixels come on the device, where they are augmented."""

    def batch(self, rows: Tensor, generator: Generator | None) -> Tensor:
        """Return these rows: augmented at random, or as they are when ``generator`` is None."""
        ...


@dataclass(frozen=True)
class Pictures:
    """Pixels ``(n, channels, side, side)``, read when asked."""

    items: Sequence[Item]
    read: Callable[[Sequence[Item]], NDArray[np.uint8]]
    augment: Callable[[Tensor, Generator], Tensor]

    def batch(self, rows: Tensor, generator: Generator | None) -> Tensor:
        """Read these rows."""
        pixels = on_device(torch.from_numpy(self.read([self.items[row] for row in rows.tolist()])))
        return pixels if generator is None else self.augment(pixels, generator)


@dataclass(frozen=True)
class Loaded:
    """Pixels ``(n, channels, side, side)``, in memory."""

    pixels: Tensor
    augment: Callable[[Tensor, Generator], Tensor]

    def batch(self, rows: Tensor, generator: Generator | None) -> Tensor:
        """Pick these rows."""
        pixels = on_device(self.pixels[rows])
        return pixels if generator is None else self.augment(pixels, generator)


@dataclass(frozen=True)
class Redrawn:
    """Pixels in memory of items that were drawn several times.

    Item i has the rows from ``starts[i]`` to ``starts[i + 1]``, and the first of them is the item as it is.
    """

    pixels: Tensor
    starts: Tensor
    augment: Callable[[Tensor, Generator], Tensor]

    def batch(self, rows: Tensor, generator: Generator | None) -> Tensor:
        """Pick these rows, each in a picture of its own."""
        first = self.starts[rows]
        if generator is None:
            return on_device(self.pixels[first])
        count = self.starts[rows + 1] - first
        other = (torch.rand(len(rows), generator=generator) * count).long()
        return self.augment(on_device(self.pixels[first + other]), generator)


@dataclass(frozen=True)
class Joined:
    """Two sources of like pictures as one: the ``count`` rows of the first, then those of the second."""

    first: Source
    count: int
    second: Source

    def batch(self, rows: Tensor, generator: Generator | None) -> Tensor:
        """Ask each source for its share of the rows, and neither for none."""
        shares = [(self.first, rows < self.count, 0), (self.second, rows >= self.count, self.count)]
        shares = [share for share in shares if share[1].any()]
        parts = [source.batch(rows[mine] - start, generator) for source, mine, start in shares]
        batch = parts[0].new_empty(len(rows), *parts[0].shape[1:])
        for (_, mine, _), part in zip(shares, parts, strict=True):
            batch[mine] = part
        return batch


@dataclass(frozen=True)
class Alternating:
    """Sources of the same items in several styles; an augmented row is shown in any of them, others in the first."""

    styles: Sequence[Source]

    def batch(self, rows: Tensor, generator: Generator | None) -> Tensor:
        """Pick these rows, each in a style of its own."""
        if generator is None:
            return self.styles[0].batch(rows, None)
        chosen = torch.randint(len(self.styles), (len(rows),), generator=generator)
        parts = [(chosen == style, source) for style, source in enumerate(self.styles)]
        drawn = [(mine, source.batch(rows[mine], generator)) for mine, source in parts if mine.any()]
        batch = drawn[0][1].new_empty(len(rows), *drawn[0][1].shape[1:])
        for mine, part in drawn:
            batch[mine] = part
        return batch


@dataclass(frozen=True)
class Features:
    """Trunk outputs ``(views, items, width)``: view 0 of the pictures as they are, the others augmented.

    ``rows`` picks some of the items, without a copy of what may be larger than the memory; otherwise all are meant.
    """

    views: Tensor
    rows: Tensor | None = None

    def batch(self, rows: Tensor, generator: Generator | None) -> Tensor:
        """Look these rows up, each in a view of its own."""
        items = rows if self.rows is None else self.rows[rows]
        if generator is None:
            return self.views[0, items]
        return self.views[torch.randint(len(self.views), (len(items),), generator=generator), items]

    def take(self, rows: Tensor) -> Features:
        """Return the features of these rows."""
        return Features(self.views, rows if self.rows is None else self.rows[rows])

    def in_memory(self) -> Tensor:
        """Return all views of the picked items, ``(views, n, width)``."""
        return self.views if self.rows is None else self.views[:, self.rows]


@dataclass(frozen=True)
class Absent:
    """Stands in for the pictures of a branch that an ablation removes."""

    shape: tuple[int, ...]

    def batch(self, rows: Tensor, generator: Generator | None) -> Tensor:
        """Return zeros, which the network does not look at."""
        return torch.zeros(len(rows), *self.shape)


@dataclass(frozen=True)
class InputSet:
    """Items of one kind as a network is shown them; ``load`` is called only when they are needed.

    The fingerprint changes with everything that changes the pixels. A frozen trunk sees each item in so many
    ``views``; pixels are augmented anew each time. ``groups`` name where each item comes from, for balanced sampling.
    """

    kind: Kind
    items: Sequence[Item]
    load: Callable[[], Source]
    fingerprint: str
    views: int = 1
    groups: Sequence[str] = ()


@dataclass(frozen=True)
class FeatureStore:
    """Outputs of frozen trunks, on disk by everything they depend on."""

    folder: Path
    seed: int
    progress: Progress

    def get(self, net: Net, shown: InputSet) -> Features:
        """Return the trunk's output for pictures, computed and kept if it is not there yet."""
        kind, items, views = shown.kind, shown.items, shown.views
        facts = f"{kind} {weights_hash(net.trunk)} {views} {self.seed} {shown.fingerprint}"
        path = self.folder / f"{kind}-{hashlib.sha256(facts.encode()).hexdigest()[:32]}.npy"
        shape = (views, len(items), net.backbone.features)
        outputs = read_array(path, shape, np.float32)
        if outputs is None:
            source = shown.load()  # before the stage: reading may take long, and shows progress of its own
            with self.progress.stage(f"features of {kind}", views * len(items)) as advance:
                write_parts(path, shape, self._extract(net, len(items), source, views, advance))
            outputs = read_array(path, shape, np.float32)
        if outputs is None:
            raise DamagedState(f"{path} was written and cannot be read. See whether the disk is sound.")
        return Features(torch.from_numpy(outputs))

    def _extract(
        self, net: Net, count: int, source: Source, views: int, advance: Callable[[], None]
    ) -> Iterator[NDArray[np.float32]]:
        pool3 = _Pool3(net).to(device())
        is_many = count * views >= _MANY and device().type == "cpu"
        first = source.batch(torch.arange(1), None).float()
        compute = traced_function(pool3, first) if is_many else pool3.compute
        for view in range(views):
            generator = torch.Generator().manual_seed(self.seed * 1000 + view) if view else None
            for rows in torch.arange(count).split(_BATCH):
                yield compute(source.batch(rows, generator).float())
                for _ in range(len(rows)):
                    advance()


class _Pool3(nn.Module):
    """A net up to pool3, as it is when its trunk no longer learns."""

    def __init__(self, net: Net) -> None:
        super().__init__()
        self.net, self.trunk = net.eval(), fused(net.trunk)

    def forward(self, pictures: Tensor) -> Tensor:
        return self.net.pool3(pictures, self.trunk)

    @torch.inference_mode()
    def compute(self, pictures: Tensor) -> NDArray[np.float32]:
        """Run on the device."""
        values: NDArray[np.float32] = self(pictures.to(device())).cpu().numpy()
        return values


def fused(trunk: nn.Module) -> nn.Module:
    """Copy a trunk that no longer learns, each normalisation made part of its convolution: a third faster."""
    copy = deepcopy(trunk).eval()
    for part in copy.modules():
        if isinstance(part, nn.Sequential):
            for (name, layer), (next_name, next_layer) in pairwise(list(part.named_children())):
                if isinstance(layer, nn.Conv2d) and isinstance(next_layer, nn.BatchNorm2d):
                    setattr(part, name, fuse_conv_bn_eval(layer, next_layer))
                    setattr(part, next_name, nn.Identity())
    return copy


def weights_hash(module: nn.Module) -> str:
    """Hash every weight and buffer of a module."""
    digest = hashlib.sha256()
    for name, tensor in sorted(module.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().numpy().tobytes())
    return digest.hexdigest()
