"""Deep cross-modal hashing, DCMH (Jiang and Li, CVPR 2017): inner products of codes say how likely two things match.

| symbol     | here                                                                        |
|------------|-----------------------------------------------------------------------------|
| F, G       | values of all photos and of all sketches, kept while their networks learn   |
| B          | their signs, one set per view                                               |
| S          | 1 where the categories are equal, else 0                                    |
| Θ          | ½ F Gᵀ                                                                      |
| γ, η       | ``quantisation``, ``balance``                                               |
| L          | Σ (log(1 + e^Θ) − S Θ) + γ (‖B − F‖² + ‖B − G‖²) + η (‖F1‖² + ‖G1‖²)         |

In turn, the photos' network learns against all of G, the sketches' network against all of F, and codes are the signs of
both. A batch is compared with the whole other view, whose values date from when each was last computed.

Where we differ: as in the paper's comparison (section 4.1), the text network is replaced by one like that of the
photos. Photos and sketches are not paired, so each has its own code instead of sharing one. The convolutions are
AlexNet's, frozen, instead of CNN-F, and fc6 and fc7 are narrower, see `alexnet`. AdamW replaces plain gradient descent,
after pre-training on categories, see `training`.

Similar pairs weigh as much as all others together. DCMH was made for pictures with several labels each, where many
pairs are similar; where each has one of C categories, one pair in C is, and the likelihood as it stands leaves every
value near zero, with nothing in common between photos and sketches.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

from sketchhash.baselines.deep.alexnet import FROZEN, AlexNetMethod
from sketchhash.baselines.deep.network_method import OPTIMISER, pretrained_on_categories
from sketchhash.baselines.method import Card, Distance, Input, Kind, Reported

if TYPE_CHECKING:
    from torch import Generator, Tensor, nn

    from sketchhash.baselines.deep.networks import Branches
    from sketchhash.baselines.deep.training import Loader, Source

_BATCH = 128


@dataclass(frozen=True)
class Weights:
    """The weights of the two penalties beside the likelihood."""

    quantisation: float = 1.0
    balance: float = 1.0


@dataclass(eq=False)
class DCMH(AlexNetMethod):
    """Learns one network per view, whose signs are codes of ``size`` bits."""

    _: KW_ONLY
    naming_epochs: int = 8
    epochs: int = 20
    weights: Weights = field(default_factory=Weights)

    def build(self) -> Branches:
        """Build a head for each view, on the same convolutions."""
        from torch import nn

        from sketchhash.baselines.deep.networks import AlexNet, Branches, alexnet_trunk, fully_connected

        trunk = alexnet_trunk()
        photos, sketches = (
            nn.Sequential(
                *fully_connected(self.pool5, self.hidden, self.hidden),
                nn.ReLU(inplace=True),
                nn.Linear(self.hidden, self.size),
            )
            for _ in range(2)
        )
        return Branches(AlexNet(trunk, photos), AlexNet(trunk, sketches))

    def learn_heads(self, heads: Branches, loader: Loader) -> list[float]:
        """Pre-train on categories, then minimise each view's loss in turn."""
        from sketchhash.baselines.deep.training import TrainingLoop, pretrain_on_categories

        pretrain_on_categories(heads, loader, self.size, self.naming_epochs)
        generator = loader.generator
        photos = ViewState.of(heads.photos, loader.photos, loader.sampler.photos, generator)
        sketches = ViewState.of(heads.sketches, loader.sketches, loader.sampler.sketches, generator)
        turns = _turns(photos, sketches, generator)

        def loss() -> Tensor:
            learner, other, places = next(turns)
            fresh = learner.net(learner.source.draw(learner.rows[places], generator))
            return batch_loss(fresh, places, learner, other, self.weights)

        return TrainingLoop(self.epochs).run(heads, photos.batches + sketches.batches, loss)


CARD = Card(
    name="dcmh",
    title="DCMH",
    kind=Kind.HASHING,
    paper="Jiang, Li. Deep Cross-Modal Hashing. CVPR",
    year=2017,
    sees=Input.PICTURES,
    distance=Distance.HAMMING,
    method=DCMH,
    choices=(
        "The text network is replaced by one like that of the photos, as in the paper.",
        "Photos and sketches are not paired: each has its own code, the signs of its values.",
        "Similar pairs weigh as much as all others together: one in as many as there are categories is similar.",
        "γ and η are 1, as published; the balance of bits is estimated from each batch.",
        FROZEN,
        "Reduced: fc6 and fc7 have 1024 outputs instead of 4096; dropout is 0.2.",
        pretrained_on_categories(epochs=8),
        f"Reduced: 20 more epochs instead of 500, in batches of 128. {OPTIMISER}",
    ),
    tuberlin=Reported.by_bits((0.274, 0.382, 0.425), (0.332, 0.467, 0.540)),
    sketchy=Reported.by_bits((0.560, 0.622, 0.656), (0.730, 0.771, 0.784)),
    differs="AlexNet's convolutions stay frozen, where the original trains all of CNN-F; narrower layers learn for 20 "
    "epochs after pre-training instead of 500; similar pairs weigh as much as all others together.",
)


@dataclass(eq=False)
class ViewState:
    """One view in training: its network, its rows with their labels, and the latest values ``(n, bits)`` and codes."""

    net: nn.Module
    source: Source
    rows: Tensor
    labels: Tensor
    values: Tensor
    codes: Tensor

    @classmethod
    def of(cls, net: nn.Module, source: Source, categories: list[Tensor], generator: Generator) -> ViewState:
        """Encode every row once with the network as it is."""
        import torch

        from sketchhash.devices import on_device

        net.eval()
        rows = torch.cat(categories)
        labels = torch.arange(len(categories)).repeat_interleave(torch.tensor([len(some) for some in categories]))
        labels = on_device(labels)
        with torch.no_grad():
            values = torch.cat([net(source.draw(some, generator)) for some in rows.split(_BATCH)])
        return cls(net, source, rows, labels, values, signs(values))

    @property
    def batches(self) -> int:
        """The number of batches that show every row once."""
        return max(1, len(self.rows) // _BATCH)


def batch_loss(fresh: Tensor, places: Tensor, learner: ViewState, other: ViewState, weights: Weights) -> Tensor:
    """Estimate L, averaged over pairs, from new values ``(batch, bits)`` of the rows at ``places``; keep the values."""
    import torch
    from torch.nn import functional

    learner.values[places] = fresh.detach()
    theta = fresh @ other.values.T / 2
    similar = learner.labels[places, None] == other.labels[None, :]
    share = similar_share(learner.labels, other.labels)
    weight = torch.where(similar, 0.5 / share, 0.5 / (1 - share))
    likelihood = (weight * (functional.softplus(theta) - similar * theta)).sum()
    quantisation = ((learner.codes[places] - fresh) ** 2).sum()
    balance = imbalance(fresh, len(learner.values)) / (len(learner.values) * len(other.values))
    return (likelihood + weights.quantisation * quantisation) / theta.numel() + weights.balance * balance


def similar_share(labels: Tensor, others: Tensor) -> float:
    """Return the share of all pairs that have the same label."""
    categories = int(max(labels.max(), others.max())) + 1
    pairs = labels.bincount(minlength=categories) * others.bincount(minlength=categories)
    return pairs.sum().item() / (len(labels) * len(others))


def imbalance(fresh: Tensor, count: int) -> Tensor:
    """Estimate ‖F1‖² of a view of ``count`` rows from some of them.

    The values kept of the others are up to a whole turn old, and steps that follow their sum overshoot. The squared
    mean of a batch also contains the batch's own spread, and following it shrinks all values to zero. So squares and
    products of two rows are counted separately, each as often as the whole view has them; the expectation is ‖F1‖².
    """
    batch, squares = len(fresh), (fresh**2).sum()
    products = (fresh.sum(dim=0) ** 2).sum() - squares
    return squares * count / batch + products * count * (count - 1) / max(batch * (batch - 1), 1)


def signs(values: Tensor) -> Tensor:
    """Return ±1, and 1 for 0."""
    import torch

    return torch.where(values >= 0, 1.0, -1.0)


def _turns(
    photos: ViewState, sketches: ViewState, generator: Generator
) -> Iterator[tuple[ViewState, ViewState, Tensor]]:
    """Yield batches of each view in turn, beside the other view; update the codes after both."""
    import torch

    while True:
        for learner, other in ((photos, sketches), (sketches, photos)):
            for places in torch.randperm(len(learner.rows), generator=generator).tensor_split(learner.batches):
                yield learner, other, places
        for view in (photos, sketches):
            view.codes = signs(view.values)
