"""The perceptual hash: copies share it but for a few bits, and other pictures do not."""

import io

import numpy as np
import pytest
from PIL import Image, ImageEnhance

from sketchhash.imaging import perceptual_hash, read_photo, thumbnail
from sketchhash.imaging.perceptual import PERCEPTUAL_BYTES


def scene(seed):
    """Return a picture with soft light and some shapes in it, different for each seed."""
    rng = np.random.default_rng(seed)
    soft = Image.fromarray(rng.integers(0, 256, (7, 9, 3), dtype=np.uint8)).resize((400, 300), Image.Resampling.BICUBIC)
    for _ in range(6):
        size = tuple(rng.integers(20, 120, 2).tolist())
        colour, corner = tuple(rng.integers(0, 256, 3).tolist()), tuple(rng.integers(0, 280, 2).tolist())
        soft.paste(Image.new("RGB", size, colour), corner)
    return soft


def differing(one, other):
    own, theirs = (perceptual_hash(np.asarray(each)) for each in (one, other))
    return (int.from_bytes(own, "big") ^ int.from_bytes(theirs, "big")).bit_count()


def compressed(picture, quality):
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=quality)
    return Image.open(io.BytesIO(file.getvalue())).convert("RGB")


@pytest.mark.parametrize(
    ("alter", "most"),
    [
        (lambda picture: picture.resize((150, 112)), 3),
        (lambda picture: compressed(picture, 30), 3),
        (lambda picture: ImageEnhance.Brightness(picture).enhance(1.15), 8),
        (lambda picture: picture.crop((6, 5, 394, 296)), 14),
    ],
    ids=["resized", "recompressed", "brightened", "cropped"],
)
def test_copies_share_their_hash_but_for_a_few_bits(alter, most):
    assert max(differing(scene(seed), alter(scene(seed))) for seed in range(10)) <= most


def test_other_pictures_differ_in_about_half_of_the_bits():
    far = [differing(scene(seed), scene(seed + 1)) for seed in range(20)]
    assert min(far) > 14
    assert 24 < np.mean(far) < 40


def test_thumbnails_have_the_hash_of_their_photo():
    for seed in range(10):
        small = read_photo(thumbnail(np.asarray(scene(seed).resize((1200, 900)))))
        assert differing(scene(seed).resize((1200, 900)), Image.fromarray(small)) <= 2


@pytest.mark.parametrize("colour", ["black", "white", "teal"])
def test_a_picture_of_one_colour_has_no_hash(colour):
    assert perceptual_hash(np.asarray(Image.new("RGB", (80, 60), colour))) == b""


def test_every_other_picture_has_eight_bytes():
    rng = np.random.default_rng(0)
    for shape in ((1, 1, 3), (1, 500, 3), (700, 3, 3), (90, 70, 3)):
        pixels = rng.integers(0, 256, shape, dtype=np.uint8)
        assert len(perceptual_hash(pixels)) in (0, PERCEPTUAL_BYTES)
    assert len(perceptual_hash(np.asarray(scene(0)))) == PERCEPTUAL_BYTES
