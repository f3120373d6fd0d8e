"""Methods that see lines only: sketches as ink, and photos as edge maps drawn like them."""

from __future__ import annotations

from abc import abstractmethod

from torch import Tensor

from sketchhash.baselines.deep.network_method import NetworkMethod
from sketchhash.baselines.deep.pictures import read_edges, read_ink
from sketchhash.baselines.views import Given


class LineMethod(NetworkMethod):
    """Reads both views as ink of one size."""

    @property
    @abstractmethod
    def ink_side(self) -> int:
        """The side of what the networks are fed, in pixels."""

    def read_photos(self, photos: Given) -> Tensor:
        """Draw edge maps."""
        return read_edges(photos, self.ink_side)

    def read_sketches(self, sketches: Given) -> Tensor:
        """Resize ink."""
        return read_ink(sketches, self.ink_side)
