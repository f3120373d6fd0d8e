"""Scribbles: strokes that mean nothing."""

import numpy as np
import pytest

from sketchhash.datasets.scribbles import SCRIBBLES, scribble
from sketchhash.imaging import rasterise, share_of_ink


@pytest.mark.parametrize("kind", SCRIBBLES)
def test_every_kind_leaves_ink_and_differs_from_seed_to_seed(kind):
    curves = [SCRIBBLES[kind](np.random.default_rng(seed)) for seed in (1, 2)]
    assert all(np.isfinite(curve).all() and curve.shape[1] == 2 for drawn in curves for curve in drawn)
    assert [each.tolist() for each in curves[0]] != [each.tolist() for each in curves[1]]


def test_a_seed_gives_the_same_scribble_again():
    pictures = [rasterise(scribble(np.random.default_rng(seed)), 64) for seed in (5, 5, 6)]
    assert (pictures[0] == pictures[1]).all()
    assert (pictures[0] != pictures[2]).any()


def test_scribbles_have_ink_and_leave_paper():
    rng = np.random.default_rng(0)
    shares = [share_of_ink(rasterise(scribble(rng), 64)) for _ in range(100)]
    assert min(shares) > 0
    assert max(shares) < 0.6
