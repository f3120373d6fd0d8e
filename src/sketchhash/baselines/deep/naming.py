"""A first lesson for networks that start from nothing: the names of categories.

Contrastive losses have a trap: where all pairs are equally far apart, the pull on the same ones and the push on the
others cancel. Networks with random weights walk into it and hardly leave it (the loss then is a quarter of the squared
margin). The originals start from trained weights; ours first learn to name what they see, in both views by one layer
of scores, which is thrown away afterwards.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from sketchhash.baselines.deep.network_method import Branches
from sketchhash.baselines.deep.training import Descent, Lesson

_SHARPNESS = 10.0  # scores of unit vectors would be too much alike to tell


def learn_names(network: Branches, lesson: Lesson, size: int, epochs: int) -> None:
    """Teach both views the categories, through their embeddings ``(n, size)``."""
    scores = nn.Linear(size, len(lesson.batches.photos))

    def loss() -> Tensor:
        photos, sketches, labels = lesson.draw()
        directions = functional.normalize(torch.cat(network(photos, sketches)))
        return functional.cross_entropy(scores(_SHARPNESS * directions), labels.repeat(2))

    Descent(epochs).run(nn.ModuleList([network, scores]), lesson.batches.an_epoch, loss)
