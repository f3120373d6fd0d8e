"""The contract of a method, for methods that are a pair of networks.

A subclass says how it reads pictures, what its networks are and how they are trained. PyTorch is imported inside the
functions that need it, so that a method's card can be read without it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.method import Matrix, Samples, Views
from sketchhash.errors import DamagedState, NotFitted, require

if TYPE_CHECKING:
    from torch import Generator, Tensor, nn

    from sketchhash.baselines.deep.networks import Branches
    from sketchhash.baselines.deep.training import Loader

# Choices that several cards state.
ALL_PAIRS = "Every pair of a batch is used: 4 photos and 4 sketches of each of 16 categories."
ALL_TRIPLETS = "Every triplet of a batch is used: 4 photos and 4 sketches of each of 16 categories."
OPTIMISER = "AdamW with a rate of 1e-3, warmed up, then falling along a cosine; weight decay 0.02."
AUGMENTED = "Pictures are mirrored, rotated by up to 0.2 radians, scaled by up to 15 % and shifted a little."
GENTLE_RATE = 1e-4  # for weights that know something already
GENTLE = "AdamW with a rate of 1e-4, warmed up, then falling along a cosine; weight decay 0.02."
FROM_SCRATCH = "Trained from random weights."
NORMALISED = "Batches are normalised after each convolution, for a short training."
EDGES = "Photos are Canny edges, drawn with the sketches' pen; lines below 60 % of a photo's strongest are left out."


def pretrained_on_categories(epochs: int) -> str:
    """State the choice to pre-train on categories, for a card."""
    return f"Both views first learn the categories, for {epochs} epochs: from random weights the loss alone stalls."


@dataclass(eq=False)
class NetworkMethod(ABC):
    """Learns one network per view; ``losses`` holds the loss at each step of the last training."""

    size: int
    _: KW_ONLY
    seed: int = 0
    losses: list[float] = field(default_factory=list, init=False, repr=False)
    _network: Branches | None = field(default=None, init=False, repr=False)

    @abstractmethod
    def read_photos(self, photos: Samples) -> Tensor:
        """Turn photos into the photo branch's input, ``(n, channels, side, side)``."""

    @abstractmethod
    def read_sketches(self, sketches: Samples) -> Tensor:
        """Turn sketches into the sketch branch's input, ``(n, 1, side, side)``."""

    @abstractmethod
    def build(self) -> Branches:
        """Build the networks, with random weights."""

    @abstractmethod
    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Train the networks and return the loss at each step."""

    def fit(self, views: Views) -> Self:
        """Train new networks on the device; all randomness comes from the seed."""
        require("torch", "train")
        from sketchhash.baselines.deep.training import seeded
        from sketchhash.devices import device

        with seeded(self.seed) as generator:
            network = _channels_last(self.build()).to(device())
            self.losses = self.learn(network, views, generator)
        self._network = network.eval()
        return self

    def loader(self, views: Views, generator: Generator) -> Loader:
        """Read both views, to train on augmented pixels."""
        from sketchhash.baselines.deep.training import AugmentedPixels, CategorySampler, Loader

        sampler = CategorySampler.of(views)
        photos, sketches = self.read_photos(views.photos), self.read_sketches(views.sketches)
        return Loader(AugmentedPixels(photos), AugmentedPixels(sketches), sampler, generator)

    def encode_photos(self, photos: Samples) -> Matrix:
        """Embed photos: ``(n, size)``."""
        branch = self._fitted().photos
        return self._encode(photos, lambda some: branch(_beside(branch, self.read_photos(some))))

    def encode_sketches(self, sketches: Samples) -> Matrix:
        """Embed sketches: ``(n, size)``."""
        branch = self._fitted().sketches
        return self._encode(sketches, lambda some: branch(_beside(branch, self.read_sketches(some))))

    def state(self) -> Mapping[str, NDArray[np.generic]]:
        """Return all weights; those that both views share once, under the photos' name."""
        return {name: tensor.numpy(force=True).copy(order="C") for name, tensor in _tensors(self._fitted()).items()}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> Self:
        """Load what `state` returned."""
        torch = require("torch", "train")
        from sketchhash.baselines.deep.training import seeded
        from sketchhash.devices import device

        with seeded(self.seed):
            network = _channels_last(self.build()).to(device())
        tensors = _tensors(network)
        found = {name: array.shape for name, array in state.items()}
        if found != {name: tuple(tensor.shape) for name, tensor in tensors.items()}:
            raise DamagedState(
                f"These weights are not those of {self}: names or shapes differ. Fit the method again, or build it "
                "as it was when they were saved."
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

    def _encode(self, pictures: Samples, embed: Callable[[Samples], Tensor]) -> Matrix:
        """Read and embed some pictures at a time: a gallery need not fit into memory as pixels."""
        import torch

        from sketchhash.baselines.deep.pictures import in_parts

        with torch.inference_mode():
            parts = [embed(some) for some in in_parts(pictures)]
        values: Matrix = torch.cat(parts).cpu().double().numpy() if parts else np.empty((0, self.size))
        return values


class LineMethod(NetworkMethod):
    """Reads both views as line drawings of one size: sketches as ink, photos as edge maps."""

    @property
    @abstractmethod
    def ink_side(self) -> int:
        """The side of the networks' input, in pixels."""

    def read_photos(self, photos: Samples) -> Tensor:
        """Draw edge maps."""
        from sketchhash.baselines.deep.pictures import read_edges

        return read_edges(photos, self.ink_side)

    def read_sketches(self, sketches: Samples) -> Tensor:
        """Resize ink."""
        from sketchhash.baselines.deep.pictures import read_ink

        return read_ink(sketches, self.ink_side)


def _beside(branch: nn.Module, values: Tensor) -> Tensor:
    """Copy values to where a branch was learned."""
    return values.to(next(branch.parameters()).device)


def _channels_last(network: Branches) -> Branches:
    import torch

    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # missing in torch's stubs
    return network


def _tensors(network: nn.Module) -> dict[str, Tensor]:
    """Name every weight and statistic, once even if two branches share it."""
    return {**dict(network.named_parameters()), **dict(network.named_buffers())}
