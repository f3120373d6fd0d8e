"""What it costs to read a phone's photo as HEIC and as JPEG, in processor time.

    python benchmarks/formats.py --out formats.json

The photo is of the synthetic world, enlarged to 12 megapixels. "HEIC" holds a thumbnail of 320 pixels, as phones put
one beside each photo; "HEIC without thumbnail" must be decoded whole. All are read at 256 pixels, as for indexing.
Files are made by ``pillow-heif``, which only tests and this script need.
"""

from __future__ import annotations

import io
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Annotated

import numpy as np
import typer
from PIL import Image

from sketchhash.datasets.synthetic.photos import render_photo
from sketchhash.imaging import read_small_photo
from sketchhash.results import markdown_table
from timing import RecordFile, finish, processor_time, run

_SIDE = 256


@dataclass(frozen=True)
class FormatCosts:
    """Milliseconds of processor time to read one photo, by its format."""

    width: int
    height: int
    milliseconds: dict[str, float]

    @property
    def ratio(self) -> float:
        """How many times a JPEG a HEIC costs."""
        return self.milliseconds["HEIC"] / self.milliseconds["JPEG"]


def main(
    repeats: Annotated[int, typer.Option(min=1, help="How often each file is read.")] = 5,
    width: Annotated[int, typer.Option(min=400, help="The width of the photo, whose height is three quarters.")] = 4000,
    out: RecordFile = None,
) -> None:
    """Print what it costs to read a photo as HEIC and as JPEG, and how many times a JPEG a HEIC costs."""
    costs = measure(width, repeats)
    rows = ((name, f"{time:.1f}") for name, time in costs.milliseconds.items())
    page = f"{markdown_table(('format', 'ms'), rows)}\n\nA HEIC costs {costs.ratio:.2f} times a JPEG."
    finish(page, asdict(costs), out)


def measure(width: int, repeats: int) -> FormatCosts:
    """Time the reading of one photo in every format."""
    heif = import_module("pi_heif")
    heif.options.DECODE_THREADS = 1
    picture = Image.fromarray(render_photo("duck", np.random.default_rng(2), 800)).resize((width, 3 * width // 4))
    files = {"JPEG": _jpeg(picture), "HEIC": _heic(picture, [320]), "HEIC without thumbnail": _heic(picture, [])}
    times = {name: 1000 * _reading_time(content, repeats) for name, content in files.items()}
    return FormatCosts(*picture.size, times)


def _reading_time(content: bytes, repeats: int) -> float:
    return processor_time(lambda _: read_small_photo(content, _SIDE), repeats)


def _jpeg(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=90)
    return file.getvalue()


def _heic(picture: Image.Image, thumbnails: list[int]) -> bytes:
    made = import_module("pillow_heif").from_pillow(picture)
    made.info["thumbnails"] = thumbnails
    file = io.BytesIO()
    made.save(file, quality=80, enc_params={"preset": "ultrafast"})
    return file.getvalue()


if __name__ == "__main__":
    run(main)
