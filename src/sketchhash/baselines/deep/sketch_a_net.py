"""Sketch-a-Net (Yu, Yang, Song, Xiang and Hospedales, BMVC 2015): a classifier of sketches, whose fc7 describes them.

It learns the categories of all training sketches; photos are encoded as edge maps, which it has never seen.
`SketchANet.encode_sketches` returns the 512 features by which the paper describes sketches to methods that learn from
features; `SketchANet.classify` says how far these features can be trusted.

Where we differ: one channel and one scale, as in the paper's comparison; batches are normalised after each
convolution, for a short training; and the default side is 129, a quarter of the work of 225. The layers are in
`networks`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.deep.network_method import (
    AUGMENTED,
    EDGES,
    FROM_SCRATCH,
    NORMALISED,
    OPTIMISER,
    LineMethod,
)
from sketchhash.baselines.method import Card, Distance, Input, Kind, Reported, Samples, Views
from sketchhash.errors import NotFitted

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from sketchhash.baselines.deep.networks import Branches

_DROPOUT = 0.5
_BATCH = 64
_LABEL_SMOOTHING = 0.1
_CLASSES = ("classes_labels", "classes_weights", "classes_biases")


@dataclass(eq=False)
class SketchANet(LineMethod):
    """Learns to classify sketches; the last layer before the classes describes sketches and edge maps."""

    _: KW_ONLY
    epochs: int = 30
    side: int = 129
    _classes: Mapping[str, NDArray[np.generic]] = field(default_factory=dict, init=False, repr=False)

    @property
    def ink_side(self) -> int:
        """The chosen side."""
        return self.side

    def build(self) -> Branches:
        """Build one network for both views."""
        from sketchhash.baselines.deep.networks import Branches, sketch_a_net

        net = sketch_a_net(self.size, self.side)
        return Branches(net, net)

    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Minimise the cross-entropy of the sketches' categories."""
        import torch
        from torch import nn
        from torch.nn import functional

        from sketchhash.baselines.deep.pictures import augment
        from sketchhash.baselines.deep.training import TrainingLoop
        from sketchhash.devices import on_device

        ink = self.read_sketches(views.sketches)
        categories, numbers = np.unique(views.sketch_labels, return_inverse=True)
        labels = on_device(torch.from_numpy(numbers))
        last = nn.Linear(self.size, len(categories))
        classifier = nn.Sequential(network.sketches, nn.Dropout(_DROPOUT), last)
        batches = max(1, len(ink) // _BATCH)
        waiting: list[Tensor] = []

        def loss() -> Tensor:
            if not waiting:
                waiting.extend(torch.randperm(len(ink), generator=generator).tensor_split(batches))
            rows = waiting.pop()
            scores = classifier(augment(on_device(ink[rows]), generator))
            return functional.cross_entropy(scores, labels[rows], label_smoothing=_LABEL_SMOOTHING)

        losses = TrainingLoop(self.epochs).run(classifier, batches, loss)
        arrays = (categories, *(tensor.numpy(force=True).copy() for tensor in (last.weight, last.bias)))
        self._classes = dict(zip(_CLASSES, arrays, strict=True))
        return losses

    def classify(self, sketches: Samples) -> NDArray[np.int64]:
        """Return the label that the network gives each sketch ``(n,)``."""
        if not self._classes:
            raise NotFitted("This Sketch-a-Net was kept without its classifier. Fit it again to classify with it.")
        labels, weights, biases = (self._classes[name] for name in _CLASSES)
        scores = self.encode_sketches(sketches) @ weights.T.astype(np.float64) + biases.astype(np.float64)
        found: NDArray[np.int64] = labels[np.argmax(scores, axis=1)].astype(np.int64)
        return found

    def state(self) -> Mapping[str, NDArray[np.generic]]:
        """Return all weights, with those of the classifier."""
        return {**super().state(), **{name: array.copy() for name, array in self._classes.items()}}

    def restore(self, state: Mapping[str, NDArray[np.generic]]) -> Self:
        """Load what `state` returned; that of older versions has no classifier."""
        self._classes = {name: np.array(state[name]) for name in _CLASSES if name in state}
        return super().restore({name: array for name, array in state.items() if name not in _CLASSES})


CARD = Card(
    name="sketch-a-net",
    title="Sketch-a-Net (SaN)",
    kind=Kind.DEEP,
    paper="Yu, Yang, Song, Xiang, Hospedales. Sketch-a-Net that Beats Humans. BMVC",
    year=2015,
    sees=Input.PICTURES,
    distance=Distance.EUCLIDEAN,
    method=SketchANet,
    choices=(
        "One channel and one scale, as in the paper; trained on the categories of all training sketches.",
        EDGES,
        f"{FROM_SCRATCH} {NORMALISED}",
        AUGMENTED,
        f"Reduced: pictures of 129 pixels instead of 225, and 30 epochs in batches of 64. {OPTIMISER}",
        "Labels are smoothed by 0.1.",
    ),
    tuberlin=Reported.at(512, 0.154, 0.225),
    sketchy=Reported.at(512, 0.208, 0.292),
    sizes=(512,),
    differs="It learns here from random weights, on pictures of 129 pixels instead of 225, for 30 epochs, with "
    "normalised batches.",
)
