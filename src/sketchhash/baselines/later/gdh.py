"""Generative domain-migration hashing, as layers on features.

Zhang, Shen, Liu, Zhu, Yu, Shao, Shen, Van Gool. Generative domain-migration hashing for sketch-to-image retrieval.
ECCV 2018.

| symbol   | here                                                                           |
|----------|--------------------------------------------------------------------------------|
| G_I, G_S | ``migrate``, ``back``: features of sketches as those of photos, and the other way |
| D_I, D_S | the judges: is this a feature of a picture, or a migrated one?                 |
| h        | ``hashing``: one for photos and migrated sketches                              |
| b        | the code of a category                                                         |

    L = ‖h(p) − b‖² + ‖h(G_I(s)) − b‖² + c (|G_S(G_I(s)) − s| + |G_I(G_S(p)) − p|) + a (what both judges err)

G_I and G_S learn to be taken for the other domain, while the judges learn to tell. A sketch is migrated, and then
hashed as a photo is.

Where we differ: the original migrates pictures, by networks of convolutions with attention; here features that are
given are migrated, by two layers. Judges and migration learn in one step, by reversing the gradient between them (Ganin
and Lempitsky, ICML 2015), instead of in turns. The original learns b from labels, and but for a weight of 1e-5 from
labels alone, so that all pictures of a category have one code from the first step on; here it is drawn, and stays.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, cast

from sketchhash.baselines.deep.network_method import OPTIMISER
from sketchhash.baselines.later.feature_heads import BATCHES, DROPOUT, FeatureNetworks
from sketchhash.baselines.method import Card, Distance, Input, Kind, Views

if TYPE_CHECKING:
    from torch import Generator, Tensor, nn

    from sketchhash.baselines.deep.networks import Branches


@dataclass(eq=False)
class DomainMigration(FeatureNetworks):
    """Migrates sketches among photos, and hashes both alike; ``cycle`` and ``adversarial`` are c and a."""

    _: KW_ONLY
    cycle: float = 0.1
    adversarial: float = 0.1

    def build(self) -> Branches:
        """Build the migration of sketches, and one hashing network for both views."""
        from torch import nn

        from sketchhash.baselines.deep.networks import Branches

        photos, sketches = self._widths
        hashing = nn.Sequential(*_two_layers(photos, self.hidden, self.size), nn.Tanh())
        standards = [nn.BatchNorm1d(width, affine=False) for width in self._widths]
        migrate = _two_layers(sketches, self.hidden, photos)
        return Branches(
            nn.Sequential(OrderedDict(standard=standards[0], hashing=hashing)),
            nn.Sequential(OrderedDict(standard=standards[1], migrate=migrate, hashing=hashing)),
        )

    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Minimise all parts of the loss together."""
        import torch
        from torch import nn
        from torch.nn import functional

        from sketchhash.baselines.deep.training import CategorySampler, TrainingLoop
        from sketchhash.devices import on_device

        sampler = CategorySampler.of(views)
        photo_features = on_device(self.read_photos(views.photos))
        sketch_features = on_device(self.read_sketches(views.sketches))
        codes = on_device(torch.randint(0, 2, (len(sampler.photos), self.size), generator=generator) * 2.0 - 1)
        of_photos, of_sketches = (cast("Any", branch) for branch in (network.photos, network.sketches))
        photo_width, sketch_width = self._widths
        back = _two_layers(photo_width, self.hidden, sketch_width)
        judges = [_two_layers(width, self.hidden, 1) for width in self._widths]

        def loss() -> Tensor:
            batch = sampler.draw(generator)
            photos = of_photos.standard(photo_features[batch.photos])
            sketches = of_sketches.standard(sketch_features[batch.sketches])
            migrated, drawn = of_sketches.migrate(sketches), back(photos)
            values, targets = of_photos.hashing(torch.cat([photos, migrated])), codes[batch.labels].repeat(2, 1)
            cycles = functional.l1_loss(back(migrated), sketches) + functional.l1_loss(
                of_sketches.migrate(drawn), photos
            )
            judged = _judged(judges[0], photos, migrated) + _judged(judges[1], sketches, drawn)
            return functional.mse_loss(values, targets) + self.cycle * cycles + self.adversarial * judged

        module = nn.ModuleList([network, back, *judges])
        return TrainingLoop(self.epochs).run(module, sampler.batches_per_epoch, loss)


CARD = Card(
    name="gdh",
    title="GDH-style",
    kind=Kind.HASHING,
    paper="Zhang, Shen, Liu, Zhu, Yu, Shao, Shen, Van Gool. Generative domain-migration hashing for sketch-to-image "
    "retrieval. ECCV",
    year=2018,
    sees=Input.FEATURES,
    distance=Distance.HAMMING,
    method=DomainMigration,
    choices=(
        "After the paper. Features are migrated, and not pictures: two layers each way, 512 hidden units, dropout 0.2.",
        "Judges learn with the rest, by a reversed gradient; a tenth of their error and of the cycles' counts.",
        "A category's code is drawn, and not learned.",
        BATCHES,
        f"10 epochs. {OPTIMISER}",
    ),
    published="Its authors train whole networks, by the protocol of Deep Sketch Hashing. At 32, 64 and 128 bits "
    "their poster gives an mAP of 0.563, 0.690 and 0.651 or 0.659 on TU-Berlin Extension, of 0.724, 0.810 or 0.811 and "
    "0.784 on Sketchy: two numbers where its two tables disagree.",
)


def _two_layers(width: int, hidden: int, size: int) -> nn.Sequential:
    from torch import nn

    return nn.Sequential(
        nn.Dropout(DROPOUT),
        nn.Linear(width, hidden),
        nn.ReLU(inplace=True),
        nn.Dropout(DROPOUT),
        nn.Linear(hidden, size),
    )


def _judged(judge: nn.Module, real: Tensor, made: Tensor) -> Tensor:
    """Return how far a judge errs; what it learns to tell apart, the features that were made learn to hide."""
    import torch
    from torch.nn import functional

    verdicts = judge(torch.cat([real.detach(), reversed_gradient(made)]))[:, 0]
    truth = torch.cat([torch.ones(len(real)), torch.zeros(len(made))]).to(verdicts.device)
    return functional.binary_cross_entropy_with_logits(verdicts, truth)


def reversed_gradient(values: Tensor) -> Tensor:
    """Return equal values whose gradient changes its sign on the way back."""
    return 2 * values.detach() - values
