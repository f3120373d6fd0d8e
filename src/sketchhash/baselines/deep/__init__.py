"""The deep methods of the paper's comparison, trained from pictures: their cards, without PyTorch.

| card              | network                  | learns from                                     |
|-------------------|--------------------------|-------------------------------------------------|
| `siamese-cnn`     | `shape_net`, one         | contrastive loss; photos as edge maps           |
| `sketch-a-net`    | `sketch_a_net`, one      | categories of sketches; photos as edge maps     |
| `gn-triplet`      | `inception`, one a view  | triplets and categories                         |
| `3d-shape`        | `shape_net`, one a view  | pairs within and across views; edge maps        |
| `siamese-alexnet` | `alexnet`, one           | contrastive loss                                |
| `triplet-alexnet` | `alexnet`, a head a view | triplets                                        |
| `dcmh`            | `alexnet`, a head a view | likelihood of similar codes, all pairs at once  |

What they share: `pictures` reads, `augment` varies, `batches` draws, `losses` compares, `training` descends, `naming`
is a first lesson, and `network_method` keeps the contract.
"""

from sketchhash.baselines.deep.cards import CARDS

__all__ = ["CARDS"]
