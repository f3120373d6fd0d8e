"""The contract of a method, kept for all that are a pair of networks: `sketchhash.baselines.method`.

A method of this kind says how it reads pictures, what its networks are and how they learn.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Self, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Generator, Tensor, nn
from torch.nn import functional

from sketchhash.baselines.deep.batches import CategoryBatches
from sketchhash.baselines.deep.training import Jostled, Lesson, seeded
from sketchhash.baselines.views import Given, Matrix, Picture, Views
from sketchhash.errors import DamagedState, NotFitted

_ENCODED_AT_ONCE = 64


class Branches(nn.Module):
    """One network for photos and one for sketches; the same one, where both views share weights."""

    def __init__(self, photos: nn.Module, sketches: nn.Module) -> None:
        """Hold both."""
        super().__init__()
        self.photos, self.sketches = photos, sketches

    def forward(self, photos: Tensor, sketches: Tensor) -> tuple[Tensor, Tensor]:
        """Embed both views: each ``(n, size)``."""
        return self.photos(photos), self.sketches(sketches)


class UnitLength(nn.Module):
    """Scales each embedding to length 1: margins then mean the same throughout a training."""

    def forward(self, values: Tensor) -> Tensor:
        """Map ``(n, size)`` to the unit sphere."""
        return functional.normalize(values)


@dataclass(eq=False)
class NetworkMethod(ABC):
    """Learns one network a view; ``losses`` then holds the loss at each step of the training."""

    size: int
    _: KW_ONLY
    seed: int = 0
    losses: list[float] = field(default_factory=list, init=False, repr=False)
    _network: Branches | None = field(default=None, init=False, repr=False)

    @abstractmethod
    def read_photos(self, photos: Given) -> Tensor:
        """Turn photos into what the photo branch is fed, ``(n, channels, side, side)``."""

    @abstractmethod
    def read_sketches(self, sketches: Given) -> Tensor:
        """Turn sketches into what the sketch branch is fed, ``(n, 1, side, side)``."""

    @abstractmethod
    def build(self) -> Branches:
        """Make the networks, with random weights."""

    @abstractmethod
    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Train the networks and give the loss at each step."""

    def fit(self, views: Views) -> Self:
        """Train new networks; all that is random comes from the seed."""
        with seeded(self.seed) as generator:
            network = _laid_out(self.build())
            self.losses = self.learn(network, views, generator)
        self._network = network.eval()
        return self

    def lesson(self, views: Views, generator: Generator) -> Lesson:
        """Read both views, to learn from pixels."""
        batches = CategoryBatches.of(views)
        photos, sketches = self.read_photos(views.photos), self.read_sketches(views.sketches)
        return Lesson(Jostled(photos), Jostled(sketches), batches, generator)

    def encode_photos(self, photos: Given) -> Matrix:
        """Embed photos: ``(n, size)``."""
        branch = self._fitted().photos
        return self._encode(photos, lambda some: branch(self.read_photos(some)))

    def encode_sketches(self, sketches: Given) -> Matrix:
        """Embed sketches: ``(n, size)``."""
        branch = self._fitted().sketches
        return self._encode(sketches, lambda some: branch(self.read_sketches(some)))

    def state(self) -> Mapping[str, NDArray[np.generic]]:
        """Give all weights; those that both views share once, under the photos' name."""
        return {name: tensor.numpy(force=True).copy(order="C") for name, tensor in _tensors(self._fitted()).items()}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> Self:
        """Take back what `state` gave."""
        with seeded(self.seed):
            network = _laid_out(self.build())
        tensors = _tensors(network)
        found = {name: array.shape for name, array in state.items()}
        if found != {name: tuple(tensor.shape) for name, tensor in tensors.items()}:
            raise DamagedState(
                f"These weights are not those of {self}: names or shapes differ. Fit the method again, or build it "
                "as it was when they were kept."
            )
        with torch.no_grad():
            for name, tensor in tensors.items():
                tensor.copy_(torch.from_numpy(np.array(state[name])))
        self._network = network.eval()
        return self

    def _fitted(self) -> Branches:
        if self._network is None:
            raise NotFitted(f"{type(self).__name__} has learned nothing yet. Call fit first.")
        return self._network

    def _encode(self, pictures: Given, embed: Callable[[Given], Tensor]) -> Matrix:
        """Read and embed some pictures at a time: a gallery need not fit into memory as pixels."""
        with torch.inference_mode():
            parts = [embed(some) for some in in_parts(pictures)]
        values: Matrix = torch.cat(parts).double().numpy() if parts else np.empty((0, self.size))
        return values


def in_parts(pictures: Given) -> Iterator[list[Picture]]:
    """Decode pictures a few at a time, in order; a sequence need not know slices."""
    sequence = cast(Sequence[Picture], pictures)
    for first in range(0, len(sequence), _ENCODED_AT_ONCE):
        yield [sequence[row] for row in range(first, min(first + _ENCODED_AT_ONCE, len(sequence)))]


def _laid_out(network: Branches) -> Branches:
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # missing in torch's stubs
    return network


def _tensors(network: nn.Module) -> dict[str, Tensor]:
    """Name every weight and statistic, once even if two branches share it."""
    return {**dict(network.named_parameters()), **dict(network.named_buffers())}
