"""Start C2 from the trunk of a model folder's sketch net, so that it learns on instead of anew.

An exported graph has each batch normalisation folded into its convolution. To train on, both are needed again:
convolutions take the stored weights, each filter as long as the network's own start had it, and normalisations take the
statistics that the stored net has on some sketches. What the net computes stays the same, up to rounding; what
normalises it follows the new data from the first step on. A net that does not learn on takes convolutions as they are
stored, whatever the sketches: so what its trunk puts out is the same for every split, and is computed once.

The layers behind the trunk begin anew. Those of a model have learned the codes of the very sketches and photos that
taught it, so whatever starts from a model that was taught everything could be measured by none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import onnx
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from sketchhash.dsh.networks import Net
from sketchhash.errors import IncompatibleModel

_C2 = "network.c2."  # how `export` names the weights of C2
_HALF = ".half"
_BATCH = 64
_SHORTEST = 1e-6  # a shorter filter is dead: it keeps its length


def start_from(net: Net, sketch_graph: Path, sketches: Tensor | None) -> None:
    """Load the trunk of a model folder's sketch net into C2.

    Its normalisations are measured on ``sketches`` ``(n, 1, side, side)``; without any they only add their bias, which
    is right for a trunk that stays as it is.

    Raises:
        IncompatibleModel: If the graph is not one of a network of this size.
    """
    stored = _stored_weights(sketch_graph)

    def take(name: str, shape: torch.Size) -> Tensor:
        weights = stored.get(_C2 + name)
        if weights is None or weights.shape != shape:
            raise IncompatibleModel(
                f"{sketch_graph} cannot be trained on: it has no {name} of shape {tuple(shape)}. "
                "It must be the model of a network of the same size."
            )
        return weights

    units = list(_normalised_convolutions(net.trunk))
    lengths = [_lengths(convolution) for _, convolution, _ in units]
    with torch.no_grad():
        for name, convolution, norm in units:
            convolution.weight.copy_(take(f"trunk.{name}.weight", convolution.weight.shape))
            _pass_through(norm, take(f"trunk.{name}.weight_bias", norm.bias.shape))
        if sketches is None:
            return
        moments = _measure(net, [convolution for _, convolution, _ in units], sketches)
        for (_, convolution, norm), length, (mean, variance) in zip(units, lengths, moments, strict=True):
            _unfold(convolution, norm, length, mean, variance)


def _stored_weights(path: Path) -> dict[str, Tensor]:
    try:
        model = onnx.load(path)
    except Exception as problem:  # onnx raises several kinds for a damaged file
        raise IncompatibleModel(f"{path} cannot be read as an ONNX graph: {problem}.") from problem
    return {
        weights.name.removesuffix(_HALF): torch.from_numpy(numpy_helper.to_array(weights).copy()).float()
        for weights in model.graph.initializer
    }


def _normalised_convolutions(trunk: nn.Module) -> Iterator[tuple[str, nn.Conv2d, nn.BatchNorm2d]]:
    """Find each convolution that a batch normalisation follows, with its name."""
    for prefix, part in trunk.named_modules():
        if isinstance(part, nn.Sequential):
            for (name, layer), (_, following) in pairwise(part.named_children()):
                if isinstance(layer, nn.Conv2d) and isinstance(following, nn.BatchNorm2d):
                    yield f"{prefix}.{name}".removeprefix("."), layer, following


def _lengths(convolution: nn.Conv2d) -> Tensor:
    lengths: Tensor = convolution.weight.detach().flatten(1).norm(dim=1)
    return lengths


def _pass_through(norm: nn.BatchNorm2d, bias: Tensor) -> None:
    """Make a normalisation that adds ``bias`` and nothing else."""
    assert norm.running_mean is not None and norm.running_var is not None
    norm.running_mean.zero_()
    norm.running_var.fill_(1 - norm.eps)
    norm.weight.fill_(1)
    norm.bias.copy_(bias)


def _measure(net: Net, convolutions: list[nn.Conv2d], sketches: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Return mean and variance of what each convolution puts out, by channel."""
    sums = [[torch.zeros(layer.out_channels, dtype=torch.float64) for _ in range(2)] for layer in convolutions]
    counts = [0] * len(convolutions)

    def listener(index: int) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], None]:
        def listen(layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
            values = output.double()
            counts[index] += values.numel() // values.shape[1]
            sums[index][0] += values.sum(dim=(0, 2, 3))
            sums[index][1] += values.square().sum(dim=(0, 2, 3))

        return listen

    hooks = [layer.register_forward_hook(listener(index)) for index, layer in enumerate(convolutions)]
    net.eval()
    for batch in sketches.split(_BATCH):
        net.pool3(batch)
    for hook in hooks:
        hook.remove()
    means = [total / count for (total, _), count in zip(sums, counts, strict=True)]
    return [
        (mean.float(), (squares / count - mean.square()).clamp(min=0).float())
        for mean, (_, squares), count in zip(means, sums, counts, strict=True)
    ]


def _unfold(convolution: nn.Conv2d, norm: nn.BatchNorm2d, length: Tensor, mean: Tensor, variance: Tensor) -> None:
    """Scale filters to ``length``, and let the normalisation undo it with the statistics that were measured."""
    assert norm.running_mean is not None and norm.running_var is not None
    now = _lengths(convolution)
    scale = torch.where(now > _SHORTEST, length / now.clamp(min=_SHORTEST), torch.ones_like(now))
    convolution.weight.mul_(scale.view(-1, 1, 1, 1))
    norm.running_mean.copy_(mean * scale)
    norm.running_var.copy_(variance * scale.square())
    norm.weight.copy_((norm.running_var + norm.eps).sqrt() / scale)
    norm.bias.add_(mean)
