"""Plain methods on the features that a run's trunks give: what its codes have to beat."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from sketchhash.baselines import CanonicalCorrelation, ClassCodes, Method, Views
from sketchhash.baselines.deep.triplet_alexnet import TripletHeads
from sketchhash.datasets import Item, Partition
from sketchhash.dsh.inputs import NetworkInputs
from sketchhash.dsh.sources import Source
from sketchhash.evaluation.ranking import labels

RIDGE = "ridge to random class codes"
CCA = "sign of CCA"
TRIPLET = "triplet heads"


def reference(name: str, inputs: NetworkInputs, parts: Partition, bits: int, seed: int) -> Reference:
    """Fit a method on trunk features of plain pictures, the same that the run's own layers start from."""
    found = {photo.label for photo in parts.training_photos}
    sketches = [sketch for sketch in parts.training_sketches if sketch.label in found]
    photos = parts.training_photos
    views = Views(_plain(inputs.photos, photos), labels(photos), _plain(inputs.sketches, sketches), labels(sketches))
    return Reference(_METHODS[name](views, bits, seed).fit(views), inputs)


@dataclass(frozen=True)
class Reference:
    """A fitted method on the features of a inputs, as an encoder of items."""

    method: Method
    inputs: NetworkInputs

    def photo_values(self, items: Sequence[Item]) -> NDArray[np.floating]:
        """Encode photos."""
        return self.method.encode_photos(_plain(self.inputs.photos, items))

    def sketch_values(self, items: Sequence[Item]) -> NDArray[np.floating]:
        """Encode sketches."""
        return self.method.encode_sketches(_plain(self.inputs.sketches, items))


def _triplet(views: Views, bits: int, seed: int) -> TripletHeads:
    photos, sketches = (np.asarray(view).shape[1] for view in (views.photos, views.sketches))
    return TripletHeads(bits, seed=seed, photo_features=photos, sketch_features=sketches)


_METHODS: Mapping[str, Callable[[Views, int, int], Method]] = {
    RIDGE: lambda _, bits, seed: ClassCodes(bits, seed=seed),
    CCA: lambda _, bits, seed: CanonicalCorrelation(bits, seed=seed),
    TRIPLET: _triplet,
}


def _plain(source: Callable[[Sequence[Item]], Source], items: Sequence[Item]) -> NDArray[np.float32]:
    features: NDArray[np.float32] = source(items).batch(torch.arange(len(items)), None).numpy()
    return features
