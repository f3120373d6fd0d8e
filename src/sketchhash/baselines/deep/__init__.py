"""Deep methods, trained from pictures.

| method           | network                       | learns from                                    |
|------------------|-------------------------------|------------------------------------------------|
| `SiameseCNN`     | `AlexNet`, shared             | contrastive loss; photos as edge maps          |
| `SketchANet`     | `sketch_a_net`, shared        | categories of sketches; photos as edge maps    |
| `GNTriplet`      | `AlexNet`, one per view       | triplets and categories                        |
| `Shape3D`        | `shape_net`, one per view     | pairs within and across views; edge maps       |
| `SiameseAlexNet` | `AlexNet`, shared             | contrastive loss                               |
| `TripletAlexNet` | `AlexNet`, one head per view  | triplets                                       |
| `DCMH`           | `AlexNet`, one head per view  | likelihood of similar codes, all pairs at once |

They share `network_method` (the contract), `networks`, `pictures` (reading and augmentation) and `training` (batches,
losses, the training loop). PyTorch is imported when a method is fitted or restored, not with its module: the cards must
be readable without it.
"""

from sketchhash.baselines.deep.dcmh import DCMH
from sketchhash.baselines.deep.gn_triplet import GNTriplet
from sketchhash.baselines.deep.shape3d import Shape3D
from sketchhash.baselines.deep.siamese_alexnet import SiameseAlexNet
from sketchhash.baselines.deep.siamese_cnn import SiameseCNN
from sketchhash.baselines.deep.sketch_a_net import SketchANet
from sketchhash.baselines.deep.triplet_alexnet import TripletAlexNet, TripletHeads

__all__ = [
    "DCMH",
    "GNTriplet",
    "Shape3D",
    "SiameseAlexNet",
    "SiameseCNN",
    "SketchANet",
    "TripletAlexNet",
    "TripletHeads",
]
