"""How well the perceptual hash finds copies of photos, and how fast all copies among a million are found.

    python benchmarks/copies.py --photos DIR ... --landscapes DIR ... --out results/copies.json

Photos are altered as people alter them: resized to 35 to 80 % of their sides, recompressed (JPEG of quality 20 to 60),
brightened by 8 to 20 %, cropped by 3 % of width and height at a random place, and by 3 % at every side. All are saved
as JPEG once more. An alteration is found if its hash differs in no more bits than the radius. Landscapes are photos of
different places, of which no two should be taken for copies; those that are equal pixel for pixel count once.

The radius is chosen on one half of photos and landscapes and reported on the other: the smallest that finds 95 % of
resized, recompressed and brightened photos, 90 % of crops, and 80 % of those at every side.

Speed is that of `near_pairs` on random hashes, of which a tenth are copies, beside the scan of every hash by the
package's own index, for some of them; both in processor time on one thread: set ``OMP_NUM_THREADS=1``.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from PIL import Image, ImageEnhance

from sketchhash.codes import hamming
from sketchhash.errors import BadArgument
from sketchhash.gallery.copies import COPY_RADIUS
from sketchhash.gallery.photos import find_photos
from sketchhash.imaging import read_photo
from sketchhash.imaging.perceptual import PERCEPTUAL_BYTES, perceptual_hash
from sketchhash.index import near_pairs, scan_index
from sketchhash.results import markdown_table
from timing import RecordFile, finish, run, say

ASKED = {"resized": 0.95, "recompressed": 0.95, "brightened": 0.95, "cropped": 0.9, "cropped at every side": 0.8}
RADII = range(2, 13)
_SCANNED = 2048  # queries that stand for all

Hashes = NDArray[np.uint8]


def alterations(photo: Image.Image, rng: np.random.Generator) -> Iterator[tuple[str, Image.Image]]:
    """Yield a photo as people alter it, and what was done to it."""
    width, height = photo.size
    scale = rng.uniform(0.35, 0.8)
    size = max(8, round(width * scale)), max(8, round(height * scale))
    yield "resized", photo.resize(size, Image.Resampling.LANCZOS)
    yield "recompressed", _saved(photo, int(rng.integers(20, 60)))
    yield "brightened", ImageEnhance.Brightness(photo).enhance(rng.uniform(1.08, 1.2))
    less = round(width * 0.03), round(height * 0.03)
    left, top = int(rng.integers(0, less[0] + 1)), int(rng.integers(0, less[1] + 1))
    yield "cropped", photo.crop((left, top, left + width - less[0], top + height - less[1]))
    yield "cropped at every side", photo.crop((*less, width - less[0], height - less[1]))


def distances(files: Sequence[Path], seed: int = 0) -> dict[str, NDArray[np.int64]]:
    """Return in how many bits the hash of each altered photo differs, by what was done to it."""
    found: dict[str, list[int]] = {}
    for number, file in enumerate(files):
        photo = Image.fromarray(read_photo(file))
        own = perceptual_hash(np.asarray(photo))
        for name, altered in alterations(photo, np.random.default_rng([seed, number])):
            other = perceptual_hash(np.asarray(_saved(altered, 85)))
            far = _differing(own, other) if own and other else 8 * PERCEPTUAL_BYTES
            found.setdefault(name, []).append(far)
        if number % 200 == 0:
            say(f"{number:,} of {len(files):,} photos ...")
    return {name: np.array(some) for name, some in found.items()}


def shares_found(measured: dict[str, NDArray[np.int64]], radius: int) -> dict[str, float]:
    """Return the share of alterations that a radius finds."""
    return {name: round(float((some <= radius).mean()), 4) for name, some in measured.items()}


def chosen_radius(measured: dict[str, NDArray[np.int64]]) -> int:
    """Return the smallest radius that finds as many as `ASKED`."""
    for radius in RADII:
        shares = shares_found(measured, radius)
        if all(shares[name] >= share for name, share in ASKED.items()):
            return radius
    raise BadArgument("No radius finds enough copies of these photos. Name others.")


def different(files: Sequence[Path]) -> Hashes:
    """Return the hashes ``(photos, 8)`` of pictures, those that are equal pixel for pixel once."""
    seen: dict[bytes, bytes] = {}
    for file in files:
        pixels = read_photo(file)
        seen.setdefault(pixels.tobytes(), perceptual_hash(pixels))
    hashes = [each for each in seen.values() if each]
    return np.frombuffer(b"".join(hashes), dtype=np.uint8).reshape(-1, PERCEPTUAL_BYTES)


def speed(size: int) -> dict[str, float]:
    """Time the search for all pairs among hashes of which a tenth are copies."""
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 256, (size, PERCEPTUAL_BYTES), dtype=np.uint8)
    hashes[: size // 10] = hashes[size // 10 : size // 10 * 2]
    hashes[: size // 10, 0] ^= 5
    start = process_time()
    pairs = near_pairs(hashes, COPY_RADIUS)
    together = process_time() - start
    index, some = scan_index(np.arange(size), hashes), hashes[: min(size, _SCANNED)]
    start = process_time()
    index.within(some, COPY_RADIUS)
    scan = (process_time() - start) * size / len(some)
    return {
        "photos": size,
        "pairs": len(pairs),
        "seconds": round(together, 2),
        "seconds_of_scans": round(scan, 2),
        "times_faster": round(scan / together, 1),
    }


def tables(record: dict[str, dict[str, dict[str, float]]], times: dict[str, float]) -> str:
    """Return what was measured as Markdown."""
    rows = [
        [half, radius, *(f"{share:.1%}" for share in shares.values())]
        for half, radii in record.items()
        for radius, shares in radii.items()
    ]
    names = next(iter(next(iter(record.values())).values())).keys()
    return f"{markdown_table(('half', 'radius', *names), rows)}\n\n{times}"


def main(
    photos: Annotated[list[Path], typer.Option(metavar="DIR", help="Photos to alter; repeat for several folders.")],
    landscapes: Annotated[list[Path], typer.Option(metavar="DIR", help="Photos of different places; repeatable.")],
    most: Annotated[int, typer.Option(min=10, help="How many photos to alter, of each folder.")] = 1000,
    size: Annotated[int, typer.Option(min=1000, help="How many hashes to compare for the speed.")] = 1_000_000,
    out: RecordFile = None,
) -> None:
    """Measure how well copies are found, and how fast."""
    rng = np.random.default_rng(0)
    altered = [file for place in photos for file in _drawn([place], most, rng)]
    places = _drawn(landscapes, 10**9, rng)
    halves = {"choosing": slice(0, None, 2), "reported": slice(1, None, 2)}
    measured = {name: distances(altered[half]) for name, half in halves.items()}
    radius = chosen_radius(measured["choosing"])
    scenes = {name: different(places[half]) for name, half in halves.items()}
    shares = {
        name: {str(each): shares_found(measured[name], each) for each in range(max(radius - 2, 0), radius + 3)}
        for name in halves
    }
    pairs = {
        name: {"photos": len(some), "pairs": len(near_pairs(some, radius)), "nearest": _nearest(some)}
        for name, some in scenes.items()
    }
    times = speed(size)
    record = {
        "radius": radius,
        "photos": {name: len(next(iter(some.values()))) for name, some in measured.items()},
        "found": shares,
        "landscapes": pairs,
        "speed": times,
    }
    finish(f"{tables(shares, times)}\n\nlandscapes: {pairs}\n\nradius: {radius}", record, out)


def _nearest(hashes: Hashes) -> int:
    """Return in how many bits the two most similar of some hashes differ."""
    far = hamming(hashes, hashes)
    np.fill_diagonal(far, 8 * PERCEPTUAL_BYTES)
    return int(far.min())


def _drawn(places: Sequence[Path], most: int, rng: np.random.Generator) -> list[Path]:
    files = sorted(file for file in find_photos(places) if isinstance(file, Path))
    return [files[number] for number in rng.permutation(len(files))[:most].tolist()]


def _differing(one: bytes, other: bytes) -> int:
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).bit_count()


def _saved(photo: Image.Image, quality: int) -> Image.Image:
    file = io.BytesIO()
    photo.save(file, "JPEG", quality=quality)
    return Image.open(io.BytesIO(file.getvalue())).convert("RGB")


if __name__ == "__main__":
    run(main)
