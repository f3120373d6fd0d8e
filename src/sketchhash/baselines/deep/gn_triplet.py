"""GN Triplet (Sangkloy, Burnell, Ham and Hays, *The Sketchy Database*, SIGGRAPH 2016): triplets, and names.

    L = a · (CE(sketch) + CE(photo)) + max(0, Δ + ‖s − p⁺‖² − ‖s − p⁻‖²)

A GoogLeNet for sketches and one for photos, positive or negative; each learns the categories, and both learn to
meet in pool5. ``a`` is 10 in the authors' published training.

Where we differ: the comparison of Deep Sketch Hashing took the authors' weights, trained on Sketchy from ImageNet's.
These cannot be had, so both networks are trained here, from random weights and at reduced size. The hinge is on pool5
of unit length, as angles rank afterwards; the published training puts it on a small layer of its own behind pool5. A
positive is any photo of the category, not the very photo that was drawn, which other datasets do not know.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from torch import Generator, Tensor, nn
from torch.nn import functional

from sketchhash.baselines.deep.inception import google_net
from sketchhash.baselines.deep.losses import triplet_hinge
from sketchhash.baselines.deep.network_method import Branches, NetworkMethod
from sketchhash.baselines.deep.pictures import Colour, Ink, read_ink, read_photos
from sketchhash.baselines.deep.training import Descent
from sketchhash.baselines.views import Given, Views

_NAMING = 10.0  # a


@dataclass(eq=False)
class GNTriplet(NetworkMethod):
    """Two GoogLeNets that name what they see and meet in their last layer.

    Args:
        epochs: Times that the larger view is seen.
        side: Of the pictures, in pixels; the original has 224.
        width: Of all layers but the last, as a share of the original's.
        margin: Δ, of squared distances between unit vectors.
    """

    _: KW_ONLY
    epochs: int = 12
    side: int = 96
    width: float = 0.5
    margin: float = 0.3

    def read_photos(self, photos: Given) -> Tensor:
        """Squeeze photos."""
        return read_photos(photos, self.side)

    def read_sketches(self, sketches: Given) -> Tensor:
        """Resize ink."""
        return read_ink(sketches, self.side)

    def build(self) -> Branches:
        """Make a network for either view."""
        return Branches(
            nn.Sequential(Colour(), google_net(3, self.size, self.width)),
            nn.Sequential(Ink(), google_net(1, self.size, self.width)),
        )

    def learn(self, network: Branches, views: Views, generator: Generator) -> list[float]:
        """Descend on names and triplets together."""
        lesson = self.lesson(views, generator)
        categories = len(lesson.batches.photos)
        namers = Branches(nn.Linear(self.size, categories), nn.Linear(self.size, categories))

        def loss() -> Tensor:
            pixels, ink, labels = lesson.draw()
            embedded = network(pixels, ink)
            naming = sum(functional.cross_entropy(names, labels) for names in namers(*embedded))
            photos, sketches = (functional.normalize(values) for values in embedded)
            return _NAMING * naming + triplet_hinge(sketches, photos, labels, self.margin)

        return Descent(self.epochs).run(nn.ModuleList([network, namers]), lesson.batches.an_epoch, loss)
