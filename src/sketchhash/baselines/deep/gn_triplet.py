"""GN Triplet (Sangkloy, Burnell, Ham and Hays, *The Sketchy Database*, SIGGRAPH 2016): triplets and classification.

    L = a · (CE(sketch) + CE(photo)) + max(0, Δ + ‖s − p⁺‖² − ‖s − p⁻‖²)

One GoogLeNet for sketches and one for photos, positive or negative; each learns the categories, and both learn a common
space in pool5. ``a`` is 10 in the authors' published training.

Where we differ: the comparison of Deep Sketch Hashing used the authors' weights, trained on Sketchy from ImageNet's.
These are not available, nor is a GoogLeNet of ImageNet: two AlexNets start from ImageNet's convolutions and learn on
here, at reduced size, with a new layer of 1024 outputs in the place of pool5. Without ``pretrained`` it is GoogLeNet,
at reduced width and from random weights. The hinge is on that layer at unit length, because angles rank afterwards; the
published training puts it on a small layer of its own behind pool5. A positive is any photo of the category, not the
very photo that was drawn, which other datasets do not know.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, cast

from sketchhash.baselines.deep.alexnet import FROM_IMAGENET
from sketchhash.baselines.deep.network_method import (
    ALL_TRIPLETS,
    AUGMENTED,
    GENTLE,
    GENTLE_RATE,
    NetworkMethod,
)
from sketchhash.baselines.method import Card, Distance, Input, Kind, Reported, Samples, Views

if TYPE_CHECKING:
    from torch import Generator, Tensor

    from sketchhash.baselines.deep.networks import AlexNet, Branches

_CLASSIFICATION = 10.0  # a


@dataclass(eq=False)
class GNTriplet(NetworkMethod):
    """Trains two networks that classify their pictures and share the space of their last layer.

    Args:
        epochs: Times that the larger view is seen.
        side: Side of the pictures, in pixels; the original has 224.
        width: Width of all layers of GoogLeNet but the last, as a share of the original's.
        margin: Δ, of squared distances between unit vectors.
        pretrained: Start AlexNets from ImageNet's convolutions, instead of GoogLeNets from random weights.
    """

    _: KW_ONLY
    epochs: int = 12
    side: int = 128
    width: float = 0.5
    margin: float = 0.3
    pretrained: bool = True

    def read_photos(self, photos: Samples) -> Tensor:
        """Squeeze photos into squares."""
        from sketchhash.baselines.deep.pictures import read_photos

        return read_photos(photos, self.side)

    def read_sketches(self, sketches: Samples) -> Tensor:
        """Resize ink."""
        from sketchhash.baselines.deep.pictures import read_ink

        return read_ink(sketches, self.side)

    def build(self) -> Branches:
        """Build a network for each view."""
        from torch import nn

        from sketchhash.baselines.deep.alexnet import fine_tuned
        from sketchhash.baselines.deep.networks import Branches, Colour, Ink, google_net

        if self.pretrained:
            photos = fine_tuned(self.size, self.side)
            return Branches(photos, deepcopy(photos))  # both views start in one space, as the original's do
        return Branches(
            nn.Sequential(Colour(), google_net(3, self.size, self.width)),
            nn.Sequential(Ink(), google_net(1, self.size, self.width)),
        )

    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Minimise classification and triplet losses together."""
        from torch import nn
        from torch.nn import functional

        from sketchhash.baselines.deep.alexnet import load_imagenet
        from sketchhash.baselines.deep.networks import Branches
        from sketchhash.baselines.deep.training import TrainingLoop, triplet_hinge

        if self.pretrained:
            for branch in (network.photos, network.sketches):
                load_imagenet(cast("AlexNet", branch).trunk)
        loader = self.loader(views, generator)
        categories = len(loader.sampler.photos)
        classifiers = Branches(nn.Linear(self.size, categories), nn.Linear(self.size, categories))

        def loss() -> Tensor:
            pixels, ink, labels = loader.draw()
            embedded = network(pixels, ink)
            classification = sum(functional.cross_entropy(scores, labels) for scores in classifiers(*embedded))
            photos, sketches = (functional.normalize(values) for values in embedded)
            return _CLASSIFICATION * classification + triplet_hinge(sketches, photos, labels, self.margin)

        module = nn.ModuleList([network, classifiers])
        loop = TrainingLoop(self.epochs, GENTLE_RATE) if self.pretrained else TrainingLoop(self.epochs)
        return loop.run(module, loader.sampler.batches_per_epoch, loss)


CARD = Card(
    name="gn-triplet",
    title="GN Triplet",
    kind=Kind.DEEP,
    paper="Sangkloy, Burnell, Ham, Hays. The Sketchy Database: Learning to Retrieve Badly Drawn Bunnies. SIGGRAPH",
    year=2016,
    sees=Input.PICTURES,
    distance=Distance.COSINE,
    method=GNTriplet,
    choices=(
        "The paper used the authors' weights without training; these are not available. " + FROM_IMAGENET,
        "Reduced: pictures of 128 pixels instead of 224, 12 epochs. pretrained=false is GoogLeNet at half width (but "
        "1024 features), from random weights and with normalised batches instead of auxiliary classifiers.",
        "Classification weighs 10 beside the triplets, whose margin is 0.3 on squared distances of unit vectors.",
        "A positive is any photo of the sketch's category. " + ALL_TRIPLETS,
        AUGMENTED,
        GENTLE,
    ),
    tuberlin=Reported.at(1024, 0.187, 0.301),
    sketchy=Reported.at(1024, 0.529, 0.716),
    sizes=(1024,),
    differs="The paper has the authors' GoogLeNet, which learned from ImageNet and Sketchy; here AlexNets learn on "
    "from ImageNet's convolutions, on pictures of 128 pixels instead of 224, for 12 epochs.",
    earlier="The paper has the authors' GoogLeNet, which learned from ImageNet and Sketchy; it was a GoogLeNet of half "
    "the width, which learned from random weights, on small pictures and for 12 epochs.",
)
