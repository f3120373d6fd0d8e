"""What it costs to read a phone's photo as HEIC and as JPEG, in processor time, and by how many bits the codes differ.

    python benchmarks/formats.py --out results/formats.json

The photo is of the synthetic world, enlarged to 12 megapixels. "HEIC" holds a thumbnail of 320 pixels, as phones put
one beside each photo; "HEIC without thumbnail" must be decoded whole. All are read at 256 pixels, as for indexing.
Files are made by ``pillow-heif``, which only tests and this script need.

Codes are those of the shipped model, of other photos of the synthetic world, at 2 megapixels. All are compared with a
JPEG of quality 95. What another JPEG of the same picture and the picture itself (PNG) differ by is the loss of JPEG:
no format can be expected to come nearer. The thumbnail is one of 320 pixels, resized well, as phones do it.
"""

from __future__ import annotations

import io
from dataclasses import asdict, dataclass
from importlib import import_module
from typing import Annotated

import numpy as np
import typer
from PIL import Image

from sketchhash.datasets.synthetic.catalogue import CATEGORIES
from sketchhash.datasets.synthetic.photos import render_photo
from sketchhash.imaging import read_small_photo
from sketchhash.model import Model
from sketchhash.model.folder import default_model_folder
from sketchhash.results import markdown_table
from timing import RecordFile, finish, processor_time, run

_SIDE = 256


@dataclass(frozen=True)
class FormatCosts:
    """Milliseconds of processor time to read one photo, by its format."""

    width: int
    height: int
    milliseconds: dict[str, float]
    bits: dict[str, list[int]]

    @property
    def ratio(self) -> float:
        """How many times a JPEG a HEIC costs."""
        return self.milliseconds["HEIC"] / self.milliseconds["JPEG"]


def main(
    repeats: Annotated[int, typer.Option(min=1, help="How often each file is read.")] = 5,
    width: Annotated[int, typer.Option(min=400, help="The width of the photo, whose height is three quarters.")] = 4000,
    photos: Annotated[int, typer.Option(min=2, help="How many photos are encoded in every format.")] = 40,
    out: RecordFile = None,
) -> None:
    """Print what it costs to read a photo as HEIC and as JPEG, and by how many bits codes differ from a JPEG's."""
    costs = measure(width, repeats, photos)
    times = ((name, f"{time:.1f}") for name, time in costs.milliseconds.items())
    differing = [
        (name, *(f"{value:.1f}" for value in (np.median(bits), np.mean(bits), max(bits))), f"{_share(bits):.0%}")
        for name, bits in costs.bits.items()
    ]
    page = f"{markdown_table(('format', 'ms'), times)}\n\nA HEIC costs {costs.ratio:.2f} times a JPEG."
    heads = ("format", "bits: median", "mean", "most", "at most 2")
    finish(f"{page}\n\n{markdown_table(heads, differing)}", asdict(costs), out)


def measure(width: int, repeats: int, photos: int) -> FormatCosts:
    """Time the reading of one photo in every format, and compare the codes of several."""
    heif = import_module("pi_heif")
    heif.options.DECODE_THREADS = 1
    picture = Image.fromarray(render_photo("duck", np.random.default_rng(2), 800)).resize((width, 3 * width // 4))
    files = {"JPEG": _jpeg(picture), "HEIC": _heic(picture, [320]), "HEIC without thumbnail": _heic(picture, [])}
    times = {name: 1000 * _reading_time(content, repeats) for name, content in files.items()}
    return FormatCosts(*picture.size, times, differing_bits(photos))


def differing_bits(photos: int) -> dict[str, list[int]]:
    """Count the bits in which the codes of photos differ from those of their JPEGs, by format."""
    model = Model.load(default_model_folder())
    found: dict[str, list[int]] = {}
    for number in range(photos):
        rng = np.random.default_rng(number)
        photo = Image.fromarray(render_photo(CATEGORIES[number * 7 % len(CATEGORIES)], rng, 1024))
        picture = photo.crop((0, 128, 1024, 896)).resize((1600, 1200), Image.Resampling.LANCZOS)
        small = picture.resize((320, 240), Image.Resampling.LANCZOS)
        files = {
            "JPEG of quality 85": _jpeg(picture, 85),
            "PNG": _png(picture),
            "HEIC": _heic(picture, []),
            "HEIC by its thumbnail": _heic(small, []),
        }
        values = model.encode_photos([model.read_photo(each) for each in (_jpeg(picture, 95), *files.values())])
        for name, differing in zip(files, (values[1:] >= 0) != (values[0] >= 0), strict=True):
            found.setdefault(name, []).append(int(differing.sum()))
    return found


def _share(bits: list[int]) -> float:
    return float(np.mean(np.array(bits) <= 2))


def _reading_time(content: bytes, repeats: int) -> float:
    return processor_time(lambda _: read_small_photo(content, _SIDE), repeats)


def _jpeg(picture: Image.Image, quality: int = 90) -> bytes:
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=quality)
    return file.getvalue()


def _png(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG", compress_level=1)
    return file.getvalue()


def _heic(picture: Image.Image, thumbnails: list[int]) -> bytes:
    made = import_module("pillow_heif").from_pillow(picture)
    made.info["thumbnails"] = thumbnails
    file = io.BytesIO()
    made.save(file, quality=80, enc_params={"preset": "ultrafast"})
    return file.getvalue()


if __name__ == "__main__":
    run(main)
