"""How many photos a second the contour detectors take, all in one run.

    python benchmarks/tokens.py --detector sketch-tokens --detector canny

Each thread works on a photo of its own, as in indexing. OpenCV's Canny is the peer: "× canny" is the processor time
of a detector in terms of Canny's on the same photos.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from sketchhash.datasets import Item, open_dataset, photo_pixels
from sketchhash.errors import BadArgument
from sketchhash.imaging import fit_square
from sketchhash.results import NO_VALUE, markdown_table
from sketchhash.tokens import WEIGHTS, Detector, token_map
from sketchhash.tokens import detector as make_detector
from timing import Cost, RecordFile, cost, finish, run, say

Photo = NDArray[np.uint8]

PEER = "canny"

_ALL = ("sketch-tokens", "contour-net", "gradient", PEER, "hed")
_INDEXING_SIZE = 256  # the longest side at which indexing looks for contours
_TOKEN_SIZE = 200  # the input of the paper's network
_BSDS_WIDTH, _BSDS_HEIGHT = 480, 320  # at which Lim, Zitnick and Dollár report about a second
_NOTES = """\
Photos a second by the clock, and processor time a photo.
The authors of Sketch Tokens report about 1 photo a second at 480 × 320."""


@dataclass(frozen=True)
class DetectorSpeed:
    """The speed of a detector on so many threads.

    Attributes:
        detector: Its name.
        threads: Photos worked on at once.
        scored: Only scored, 256 × 256.
        drawn: Scored, thinned and drawn as token maps, 256 × 256.
        scored_large: Only scored, 480 × 320.
    """

    detector: str
    threads: int
    scored: Cost
    drawn: Cost
    scored_large: Cost


def main(
    data: Annotated[
        str, typer.Option(metavar="DIR", help="Take the photos from this dataset, not from the synthetic world.")
    ] = "synthetic",
    detector: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help=f"A detector; repeat for several.  [{', '.join(_ALL)}]")
    ] = None,
    forest: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The forest of sketch-tokens, if not the shipped one.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="How many different photos.")] = 24,
    seconds: Annotated[float, typer.Option(min=0, help="How long each number is measured.")] = 3.0,
    out: RecordFile = None,
) -> None:
    """Time contour detectors, on one thread and on two."""
    # OpenCV reads this when it is loaded: each thread has a photo of its own, for every detector alike.
    os.environ["OPENCV_FOR_THREADS_NUM"] = "1"
    shown = open_dataset(data).photos
    items = shown[:: max(1, len(shown) // count)][:count]
    speeds = []
    for name in detector or _ALL:
        for threads in (1, 2):
            say(f"{name}, {threads} {'thread' if threads == 1 else 'threads'} ...")
            made = make_detector(name, forest if name in WEIGHTS else None)
            speeds.append(measure(made, items, threads, seconds))
    finish(f"{speed_table(speeds)}\n\n{_NOTES}", {"detectors": [asdict(speed) for speed in speeds]}, out)


def measure(detector: Detector, items: Sequence[Item], threads: int, seconds: float) -> DetectorSpeed:
    """Time a detector for about ``seconds`` on each of the three tasks; decoding is left out."""
    if not items:
        raise BadArgument("There is no photo to measure with.")
    decoded = [photo_pixels(item) for item in items]
    small = [fit_square(photo, _INDEXING_SIZE) for photo in decoded]
    large = [fit_square(photo, _BSDS_WIDTH)[:_BSDS_HEIGHT] for photo in decoded]

    def draw(photo: Photo) -> Photo:
        return token_map(photo, detector, _TOKEN_SIZE)

    return DetectorSpeed(
        detector.name,
        threads,
        scored=cost(detector.detect, small, seconds, threads),
        drawn=cost(draw, small, seconds, threads),
        scored_large=cost(detector.detect, large, seconds, threads),
    )


def speed_table(speeds: Sequence[DetectorSpeed]) -> str:
    """Return the speeds as Markdown."""
    peers = {speed.threads: speed.scored.cpu_milliseconds for speed in speeds if speed.detector == PEER}
    heading = ("detector", "threads", "scored, 256 × 256", "drawn, 256 × 256", "scored, 480 × 320", f"× {PEER}")
    rows = (
        (
            speed.detector,
            speed.threads,
            *(
                f"{c.per_second:.1f}/s, {c.cpu_milliseconds:.0f} ms"
                for c in (speed.scored, speed.drawn, speed.scored_large)
            ),
            f"{speed.scored.cpu_milliseconds / peers[speed.threads]:.1f}" if speed.threads in peers else NO_VALUE,
        )
        for speed in speeds
    )
    return markdown_table(heading, rows)


if __name__ == "__main__":
    run(main)
