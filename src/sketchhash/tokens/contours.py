"""From a detector's scores to a token map: thin the ridges, keep the strong ones, draw them.

The threshold is the paper's (Liu et al., section 2.1: 60 % of the maximum score). Thinning follows the edge
step of Sketch Tokens (Lim, Zitnick and Dollár, CVPR 2013), with the exact principal curvature for the normal.
The guard rails are ours: relative to its own maximum, a flat photo would be all contours.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sketchhash.errors import BadArgument
from sketchhash.imaging.ink import InkStyle
from sketchhash.tokens.components import without_specks
from sketchhash.tokens.detector import Detector
from sketchhash.tokens.filters import blur, slopes
from sketchhash.tokens.pen import draw

_LONGEST_SIDE = 256  # contours are looked for at this size, whatever the photo's
_SHORTEST_SIDE = 32  # a panorama is stretched to this, or nothing would be left inside its border
_BORDER = 5  # scores fade out over this many pixels


@dataclass(frozen=True)
class TokenStyle:
    """Which contours become ink, and what the ink looks like.

    Args:
        threshold: Share of the photo's highest score that a contour must reach.
        floor: A photo whose highest score is lower gives blank paper.
        most_ink: Share of the pixels that may lie on contours; the threshold rises until they fit.
        fewest: A contour of fewer pixels is a speck, and erased; the ring around a lone dot has 20.
        ink: The style of the sketches; a token map takes its line width and has no margin.
    """

    threshold: float = 0.6
    floor: float = 0.1
    most_ink: float = 0.08
    fewest: int = 24
    ink: InkStyle = field(default_factory=InkStyle)

    def __post_init__(self) -> None:
        """Refuse shares that are not shares."""
        for name in ("threshold", "floor", "most_ink"):
            if not 0 <= getattr(self, name) <= 1:
                raise BadArgument(f"{name} is a share, from 0 to 1; got {getattr(self, name)}.")


DEFAULT_STYLE = TokenStyle()


def token_map(
    photo: NDArray[np.uint8], detector: Detector, size: int, style: TokenStyle = DEFAULT_STYLE
) -> NDArray[np.uint8]:
    """Draw the contours of a photo, ``(h, w)`` or ``(h, w, 3)``, on a square sheet ``(size, size)``.

    Paper is 255 and ink 0. The photo is squeezed to the square, as the photo branch sees it.
    """
    if size < 1:
        raise BadArgument(f"A token map is at least 1 pixel wide; got size={size}.")
    scores = detector.detect(_at_working_size(photo))
    return draw(strong_contours(scores, style), size, style.ink.line_width)


def strong_contours(scores: NDArray[np.float32], style: TokenStyle = DEFAULT_STYLE) -> NDArray[np.bool_]:
    """Mark the pixels on contours worth drawing: ``(h, w)``, lines about one pixel thin."""
    ridges = thin(scores)
    peak = ridges.max()
    if peak < style.floor:
        return np.zeros(ridges.shape, dtype=np.bool_)
    crowded = np.quantile(ridges, 1 - style.most_ink, method="higher")
    return without_specks((ridges >= style.threshold * peak) & (ridges > crowded), style.fewest)


def thin(scores: NDArray[np.float32]) -> NDArray[np.float32]:
    """Keep the scores on ridge lines and set all others to zero; scores near the border fade out.

    A pixel stays where the scores one pixel along the normal, on either side, are not higher.
    """
    right, down = _normals(scores)
    ahead, behind = _sample(scores, right, down), _sample(scores, -right, -down)
    # One side may be a little higher, or curved lines break; the other may not be equal, or a ridge that
    # falls between two pixels becomes two lines.
    is_ridge = (1.01 * scores >= ahead) & (scores > 1.0001 * behind)
    height, width = scores.shape
    return scores * is_ridge * _fade(height)[:, None] * _fade(width)


def as_rgb(photo: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Give a photo three channels, ``(h, w, 3)``, or refuse what is not a photo."""
    is_picture = photo.ndim == 2 or (photo.ndim == 3 and photo.shape[2] == 3)
    if photo.dtype != np.uint8 or not is_picture or photo.size == 0:
        raise BadArgument(f"A photo is uint8 of shape (h, w) or (h, w, 3), not empty; got {photo.dtype} {photo.shape}.")
    return photo if photo.ndim == 3 else np.repeat(photo[:, :, None], 3, axis=2)


def _at_working_size(photo: NDArray[np.uint8]) -> NDArray[np.uint8]:
    picture = Image.fromarray(as_rgb(photo))
    scale = _LONGEST_SIDE / max(picture.size)
    width, height = (max(_SHORTEST_SIDE, round(side * scale)) for side in picture.size)
    return np.asarray(picture.resize((width, height), Image.Resampling.BICUBIC, reducing_gap=3.0))


def _normals(scores: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Unit vectors (x, y) across the ridges: where the smoothed scores curve down the most."""
    along_x, along_y = slopes(blur(scores, 2.0))
    xx, xy = slopes(along_x)
    _, yy = slopes(along_y)
    angle = np.arctan2(-2 * xy, yy - xx) / 2
    right, down = np.cos(angle), np.sin(angle)
    # Neighbours on one ridge should agree on which side is ahead. Some direction has to be the seam;
    # this one is far from the horizontal, vertical and diagonal lines on which exact ties happen.
    facing = np.where(right + down / 2 < 0, np.float32(-1), np.float32(1))
    return right * facing, down * facing


def _sample(scores: NDArray[np.float32], right: NDArray[np.float32], down: NDArray[np.float32]) -> NDArray[np.float32]:
    """Read the scores at an offset of at most one pixel from each pixel, interpolating bilinearly."""
    height, width = scores.shape
    padded = np.pad(scores, 1, mode="edge")
    # Towards the neighbour column, the neighbour row, and the diagonal between them.
    rows = np.arange(1, height + 1)[:, None]
    columns = np.arange(1, width + 1)
    beside = columns + np.where(right < 0, -1, 1)
    across = rows + np.where(down < 0, -1, 1)
    x, y = np.abs(right), np.abs(down)
    near = (1 - x) * scores + x * padded[rows, beside]
    far = (1 - x) * padded[across, columns] + x * padded[across, beside]
    sampled: NDArray[np.float32] = (1 - y) * near + y * far
    return sampled


def _fade(length: int) -> NDArray[np.float32]:
    from_start = np.arange(length, dtype=np.float32)
    return np.minimum(1, np.minimum(from_start, from_start[::-1]) / np.float32(_BORDER))
