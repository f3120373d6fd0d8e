"""Similarity and confidence, against what chance gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.codes import hamming
from sketchhash.server.similarity import Chance


def random_codes(count, bits, rng):
    return rng.integers(0, 256, (count, bits // 8), dtype=np.uint8)


@given(
    photos=st.integers(1, 10**9),
    middle=st.floats(0, 1024),
    spread=st.floats(0.5, 100),
    distances=st.lists(st.integers(0, 1024), min_size=2, max_size=2),
)
def test_similarity_never_rises_with_the_distance(photos, middle, spread, distances):
    chance = Chance(photos, middle, spread)
    near, far = sorted(distances)
    assert 1 >= chance.similarity(near) >= chance.similarity(far) >= 0


@pytest.mark.parametrize("bits", [16, 64, 256])
def test_middle_and_spread_are_those_of_unrelated_codes(bits):
    rng = np.random.default_rng(0)
    chance = Chance.estimate(random_codes(1, bits, rng), random_codes(4096, bits, rng), 10**6)
    assert chance.middle == pytest.approx(bits / 2, rel=0.05)
    assert chance.spread == pytest.approx(np.sqrt(bits) / 2, rel=0.15)


def test_photos_of_what_was_drawn_do_not_widen_the_spread():
    rng = np.random.default_rng(0)
    code, sample = random_codes(1, 64, rng), random_codes(4096, 64, rng)
    without = Chance.estimate(code, sample, 10**6)
    sample[:400] = code  # a tenth
    assert Chance.estimate(code, sample, 10**6).spread == pytest.approx(without.spread, rel=0.1)


def test_the_expected_number_of_chance_hits_is_about_right():
    rng = np.random.default_rng(1)
    gallery = random_codes(100_000, 64, rng)
    for code in random_codes(5, 64, rng):
        chance = Chance.estimate(code[None], gallery[::25], len(gallery))
        within = int((hamming(code[None], gallery) <= 20).sum())
        assert chance.expected(20) == pytest.approx(within, rel=0.3)


def test_noise_is_seldom_called_close():
    rng = np.random.default_rng(2)
    gallery = random_codes(20_000, 64, rng)
    verdicts = []
    for code in random_codes(200, 64, rng):
        chance = Chance.estimate(code[None], gallery[:4096], len(gallery))
        verdicts.append(chance.confidence(int(hamming(code[None], gallery).min())))
    assert verdicts.count("none") >= 160
    assert verdicts.count("close") <= 2


def test_a_photo_that_stands_out_is_close():
    rng = np.random.default_rng(3)
    code, gallery = random_codes(1, 64, rng), random_codes(20_000, 64, rng)
    chance = Chance.estimate(code, gallery[:4096], len(gallery))
    assert chance.confidence(4) == "close"
    assert chance.similarity(4) > 0.999
    assert chance.confidence(None) == "none"


def test_a_gallery_of_equal_codes_or_of_few_is_no_trouble():
    code = np.zeros((1, 4), dtype=np.uint8)
    assert Chance.estimate(code, np.zeros((100, 4), dtype=np.uint8), 100).confidence(0) == "none"
    few = Chance.estimate(code, np.zeros((3, 4), dtype=np.uint8), 3)
    assert (few.middle, few.confidence(0), few.confidence(16)) == (16, "close", "none")
