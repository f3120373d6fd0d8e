"""The hand-crafted methods of the paper's comparison: photos become line drawings, and drawings are described alike.

| card     | sees photos as | describes                                          | learns           |
|----------|----------------|----------------------------------------------------|------------------|
| `hog`    | Canny's edges  | gradients in cells of the sheet                    | nothing          |
| `gf-hog` | Canny's edges  | windows on a gradient field, as a bag of words     | words, of photos |
| `shelo`  | Canny's edges  | orientations in cells of the sheet, softly         | nothing          |
| `lks`    | sketch tokens  | strokes around points, as votes for keyshapes      | keyshapes, of sketches |

What they share: `edges` draws, `fixed` keeps the contract of what learns nothing, `words` clusters, `rows` goes
through pictures that are decoded one at a time.
"""

from sketchhash.baselines.handcrafted.cards import CARDS

__all__ = ["CARDS"]
