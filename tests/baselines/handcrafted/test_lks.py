import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skimage.feature import daisy

from sketchhash.baselines.handcrafted.lks import LKS, REACH, describe, spreads_of, votes
from sketchhash.errors import BadArgument

from .conftest import draw_sketch


@given(st.integers(0, 2**32), st.integers(1, 20), st.floats(1e-3, 10))
def test_the_votes_of_a_point_sum_to_one(seed, keyshapes, spread):
    rng = np.random.default_rng(seed)
    descriptors, centres = (rng.normal(size=(n, 5)).astype(np.float32) for n in (7, keyshapes))
    nearest, shares = votes(descriptors, centres, np.full(keyshapes, spread, dtype=np.float32))
    assert nearest.shape == shares.shape == (7, min(4, keyshapes))
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert (np.diff(shares, axis=1) <= 1e-12).all()


def test_votes_are_normal_densities():
    descriptor = np.zeros((1, 2), dtype=np.float32)
    keyshapes = np.array([[3, 4], [0, 1], [2, 0], [9, 9], [0, 3]], dtype=np.float32)
    spreads = np.array([2, 1, 3, 1, 0.5], dtype=np.float32)
    nearest, shares = votes(descriptor, keyshapes, spreads)
    assert nearest.tolist() == [[1, 2, 4, 0]]
    distance, spread = np.array([1, 2, 3, 5]), np.array([1, 3, 0.5, 2])
    densities = np.exp(-0.5 * distance**2 / spread**2) / (spread * np.sqrt(2 * np.pi))
    np.testing.assert_allclose(shares[0], densities / densities.sum(), rtol=1e-5)


def test_a_spread_is_the_root_mean_square_distance_of_members():
    keyshapes = np.array([[0, 0], [10, 0], [50, 0]], dtype=np.float32)
    members = np.array([[1, 0], [0, -2], [10, 3], [11, 0]], dtype=np.float32)
    everyone = np.sqrt((1 + 4 + 9 + 1) / 4)
    np.testing.assert_allclose(spreads_of(keyshapes, members), [np.sqrt(5 / 2), np.sqrt(5), everyone], rtol=1e-6)


def test_votes_fall_into_the_regions_where_the_ink_is(shapes):
    method = LKS(9 * 6).fit(shapes)
    corner = np.full((200, 200), 255, dtype=np.uint8)
    corner[10:50, 150:153] = 0
    (rooted,) = method.encode_sketches([corner])
    by_region = np.square(rooted).reshape(3, 3, 6).sum(axis=2)
    np.testing.assert_allclose(by_region, [[0, 0, 1], [0, 0, 0], [0, 0, 0]], atol=1e-9)


def test_a_mirrored_sketch_puts_its_votes_into_mirrored_regions(shapes):
    method = LKS(9 * 6).fit(shapes)
    sketch = draw_sketch(1)
    shares = np.square(method.encode_sketches([sketch, sketch[:, ::-1].copy()]))
    upright, mirrored = shares.reshape(2, 3, 3, 6).sum(axis=3)
    np.testing.assert_allclose(mirrored, upright[:, ::-1], atol=0.1)


def test_a_size_that_is_not_nine_times_the_keyshapes_is_refused():
    with pytest.raises(BadArgument, match="1350"):
        LKS(1300)


def test_descriptors_are_close_to_those_of_scikit_image():
    ink = draw_sketch(3, side=100)
    points = np.argwhere(ink < 128)[::17]
    darkness = np.pad(1 - ink / 255.0, 2 * REACH)  # it describes pixels at least REACH from the border
    dense = daisy(darkness, step=1, radius=REACH, rings=2, histograms=8, orientations=8, normalization="l2")
    expected = dense[points[:, 0] + REACH, points[:, 1] + REACH]
    found = describe(ink, points)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1, rtol=1e-5)
    assert (found * expected).sum(axis=1).min() > 0.99  # the smoothing is cut off earlier


def test_a_moved_stroke_keeps_its_description():
    ink = np.full((60, 60), 255, dtype=np.uint8)
    ink[20:30, 20:23] = 0
    moved = np.roll(ink, (7, 11), axis=(0, 1))
    here, there = describe(ink, np.array([[25, 21]])), describe(moved, np.array([[32, 32]]))
    np.testing.assert_allclose(here, there, atol=1e-6)


def test_points_at_the_border_see_paper_beyond_it():
    ink = np.full((60, 60), 255, dtype=np.uint8)
    ink[:3, :] = 0
    inside = np.pad(ink, 10, constant_values=255)
    point = np.array([[1, 30]])
    np.testing.assert_allclose(describe(ink, point), describe(inside, point + 10), atol=1e-6)
