"""Deep cross-modal hashing, DCMH (Jiang and Li, CVPR 2017): codes whose inner products say how likely two things match.

| symbol     | here                                                                        |
|------------|-----------------------------------------------------------------------------|
| F, G       | values of all photos and of all sketches, kept while their networks learn   |
| B          | their signs, one set a view                                                 |
| S          | 1 where the categories are equal, else 0                                    |
| Θ          | ½ F Gᵀ                                                                      |
| γ, η       | ``quantisation``, ``balance``                                               |
| L          | Σ (log(1 + e^Θ) − S Θ) + γ (‖B − F‖² + ‖B − G‖²) + η (‖F1‖² + ‖G1‖²)         |

In turn, the photos' network learns against all of G, the sketches' network against all of F, and codes are the signs of
both. A batch is compared with the whole other view, whose values are those of the last time it was seen.

Where we differ: as in the paper's comparison (section 4.1), the text network is replaced by one like that of the
photos. Photos and sketches come in no pairs, so each has its own code instead of sharing one. The convolutions are
AlexNet's, frozen, in place of CNN-F, and fc6 and fc7 are narrower, see `alexnet`. AdamW replaces plain descent, and
names are learned first, see `naming`.

Similar pairs weigh as much as all others together. DCMH was made for pictures with several labels each, where much is
similar; where each has one of C categories, one pair in C is, and the likelihood as it stands leaves every value near
zero and photos and sketches with nothing in common.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass, field

import torch
from torch import Generator, Tensor, nn
from torch.nn import functional

from sketchhash.baselines.deep.alexnet import AlexNet, AlexNetMethod, convolutions, fully_connected
from sketchhash.baselines.deep.naming import learn_names
from sketchhash.baselines.deep.network_method import Branches
from sketchhash.baselines.deep.training import Descent, Lesson, Source

_BATCH = 128


@dataclass(frozen=True)
class Weights:
    """What the two penalties weigh beside the likelihood."""

    quantisation: float = 1.0
    balance: float = 1.0


@dataclass(eq=False)
class DCMH(AlexNetMethod):
    """Learn a network a view, whose signs are codes of ``size`` bits."""

    _: KW_ONLY
    naming_epochs: int = 8
    epochs: int = 20
    weights: Weights = field(default_factory=Weights)

    def build(self) -> Branches:
        """Make a head for either view, on the same convolutions."""
        trunk = convolutions()
        photos, sketches = (
            nn.Sequential(
                *fully_connected(self.pool5, self.hidden, self.hidden),
                nn.ReLU(inplace=True),
                nn.Linear(self.hidden, self.size),
            )
            for _ in range(2)
        )
        return Branches(AlexNet(trunk, photos), AlexNet(trunk, sketches))

    def learn_heads(self, heads: Branches, lesson: Lesson) -> list[float]:
        """Learn names, then descend on each view's loss in turn."""
        learn_names(heads, lesson, self.size, self.naming_epochs)
        generator = lesson.generator
        photos = Side.of(heads.photos, lesson.photos, lesson.batches.photos, generator)
        sketches = Side.of(heads.sketches, lesson.sketches, lesson.batches.sketches, generator)
        turns = _turns(photos, sketches, generator)

        def loss() -> Tensor:
            learner, other, places = next(turns)
            fresh = learner.net(learner.source.draw(learner.rows[places], generator))
            return batch_loss(fresh, places, learner, other, self.weights)

        return Descent(self.epochs).run(heads, photos.parts + sketches.parts, loss)


@dataclass(eq=False)
class Side:
    """One view: its network, its rows with their labels, and the values ``(n, bits)`` last seen, with their signs."""

    net: nn.Module
    source: Source
    rows: Tensor
    labels: Tensor
    values: Tensor
    codes: Tensor

    @classmethod
    def of(cls, net: nn.Module, source: Source, categories: list[Tensor], generator: Generator) -> Side:
        """Encode every row once, with what was learned so far."""
        net.eval()
        rows = torch.cat(categories)
        labels = torch.arange(len(categories)).repeat_interleave(torch.tensor([len(some) for some in categories]))
        with torch.no_grad():
            values = torch.cat([net(source.draw(some, generator)) for some in rows.split(_BATCH)])
        return cls(net, source, rows, labels, values, signs(values))

    @property
    def parts(self) -> int:
        """How many batches show every row once."""
        return max(1, len(self.rows) // _BATCH)


def batch_loss(fresh: Tensor, places: Tensor, learner: Side, other: Side, weights: Weights) -> Tensor:
    """Estimate L, a pair's mean, from some values ``(batch, bits)`` that stand at ``places``; keep the values."""
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
    """Tell what share of all pairs has one label."""
    categories = int(max(labels.max(), others.max())) + 1
    pairs = labels.bincount(minlength=categories) @ others.bincount(minlength=categories)
    return pairs.item() / (len(labels) * len(others))


def imbalance(fresh: Tensor, count: int) -> Tensor:
    """Estimate ‖F1‖² of a view of ``count`` rows from some of them.

    The values kept of the others are up to a whole turn old, and steps that follow their sum overshoot. The mean of a
    batch, squared, holds the batch's own spread too: following it, all values shrink to nothing. So squares and
    products of two rows are counted apart, each as often as the whole view has them; on average that is ‖F1‖².
    """
    batch, squares = len(fresh), (fresh**2).sum()
    products = (fresh.sum(dim=0) ** 2).sum() - squares
    return squares * count / batch + products * count * (count - 1) / max(batch * (batch - 1), 1)


def signs(values: Tensor) -> Tensor:
    """Give ±1, and 1 for 0."""
    return torch.where(values >= 0, 1.0, -1.0)


def _turns(photos: Side, sketches: Side, generator: Generator) -> Iterator[tuple[Side, Side, Tensor]]:
    """Let each view see all its rows in batches, against the other; then take new codes, and so on."""
    while True:
        for learner, other in ((photos, sketches), (sketches, photos)):
            for places in torch.randperm(len(learner.rows), generator=generator).tensor_split(learner.parts):
                yield learner, other, places
        for side in (photos, sketches):
            side.codes = signs(side.values)
