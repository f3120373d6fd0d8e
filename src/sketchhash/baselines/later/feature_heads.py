"""Two layers for each view behind given features, whose signs are codes; a method says what loss they learn from.

| layer     | what it does                                             |
|-----------|----------------------------------------------------------|
| standard  | batch normalisation without weights                      |
| hidden    | dropout, ``hidden`` units, ReLU                          |
| values    | dropout, as many values as bits, between -1 and 1 (tanh) |

All such methods have these layers, batches and steps, so that only their losses differ.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.deep.network_method import NetworkMethod
from sketchhash.baselines.linear import check_width
from sketchhash.baselines.method import Matrix, Samples, Views, features_of
from sketchhash.errors import DamagedState

if TYPE_CHECKING:
    from torch import Generator, Tensor, nn

    from sketchhash.baselines.deep.networks import Branches
    from sketchhash.baselines.deep.training import Batch

    Loss = Callable[[Tensor, Tensor, Batch], Tensor]

# Choices that several cards state.
ON_FEATURES = "Only the loss, on given features: two layers a view, 512 hidden units, dropout 0.2, tanh."
BATCHES = "Batches have 4 photos and 4 sketches of each of 16 categories."

DROPOUT = 0.2
_WIDTHS = ("photos.standard.running_mean", "sketches.standard.running_mean")


@dataclass(eq=False)
class FeatureNetworks(NetworkMethod):
    """Networks on features, whose branches begin with a layer ``standard`` as wide as the features of their view."""

    _: KW_ONLY
    hidden: int = 512
    epochs: int = 10
    _widths: tuple[int, int] = field(default=(0, 0), init=False, repr=False)

    def fit(self, views: Views) -> Self:
        """Train new layers on features as wide as these."""
        photos, sketches = views.matrices
        self._widths = photos.shape[1], sketches.shape[1]
        return super().fit(views)

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> Self:
        """Load what `state` returned."""
        if not all(name in state for name in _WIDTHS):
            raise DamagedState(f"These weights are not those of {type(self).__name__}. Fit the method again.")
        photos, sketches = (state[name].shape[0] for name in _WIDTHS)
        self._widths = photos, sketches
        return super().restore(state)

    def read_photos(self, photos: Samples) -> Tensor:
        """Return features as a tensor."""
        return _tensor(photos, self._widths[0])

    def read_sketches(self, sketches: Samples) -> Tensor:
        """Return features as a tensor."""
        return _tensor(sketches, self._widths[1])

    def _encode(self, pictures: Samples, embed: Callable[[Samples], Tensor]) -> Matrix:
        import torch

        with torch.inference_mode():
            values: Matrix = embed(features_of(pictures)).cpu().double().numpy()
        return values


@dataclass(eq=False)
class FeatureHeads(FeatureNetworks):
    """Learns two layers for each view from a loss on batches of values between -1 and 1."""

    @abstractmethod
    def lesson(self, views: Views) -> tuple[nn.Module, Loss]:
        """Return layers that only learning needs, and the loss of a batch.

        The loss is given the values ``(n, size)`` of photos and of sketches, and the batch they belong to.
        """

    def build(self) -> Branches:
        """Build the layers of both views."""
        from sketchhash.baselines.deep.networks import Branches

        return Branches(*(self._head(width) for width in self._widths))

    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Minimise the loss of batches with some photos and sketches of some categories."""
        from torch import nn

        from sketchhash.baselines.deep.training import Batch, CategorySampler, TrainingLoop
        from sketchhash.devices import on_device

        sampler = CategorySampler.of(views)
        photos, sketches = map(on_device, (self.read_photos(views.photos), self.read_sketches(views.sketches)))
        more, batch_loss = self.lesson(views)

        def loss() -> Tensor:
            batch = Batch(*map(on_device, sampler.draw(generator)))
            photo_values, sketch_values = network(photos[batch.photos], sketches[batch.sketches])
            return batch_loss(photo_values, sketch_values, batch)

        return TrainingLoop(self.epochs).run(nn.ModuleList([network, more]), sampler.batches_per_epoch, loss)

    def _head(self, width: int) -> nn.Sequential:
        from collections import OrderedDict

        from torch import nn

        return nn.Sequential(
            OrderedDict(
                standard=nn.BatchNorm1d(width, affine=False),
                dropout=nn.Dropout(DROPOUT),
                hidden=nn.Linear(width, self.hidden),
                relu=nn.ReLU(inplace=True),
                hidden_dropout=nn.Dropout(DROPOUT),
                values=nn.Linear(self.hidden, self.size),
                tanh=nn.Tanh(),
            )
        )


def _tensor(samples: Samples, width: int) -> Tensor:
    import torch

    features = features_of(samples)
    check_width(features, width)
    return torch.from_numpy(np.asarray(features, dtype=np.float32))
