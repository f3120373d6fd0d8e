import numpy as np
import pytest

from sketchhash.benchmark import (
    BallScore,
    mean_radius_curve,
    pooled_radius_curve,
    precision_within,
    rank_codes,
)
from sketchhash.codes import pack, sign, unpack
from sketchhash.errors import BadArgument

# Distances 0 to 4; the second query's ball of radius 2 is empty, the third has nothing to find.
NEAR = [(0, 0), (2, 2), (2, 1), (4, 0), (2, 1)]
FAR = [(0, 0), (0, 0), (0, 0), (5, 1), (5, 1)]
HOPELESS = [(10, 0), (0, 0), (0, 0), (0, 0), (0, 0)]


@pytest.fixture
def groups(tie_groups):
    return tie_groups(NEAR, FAR, HOPELESS, bits=4)


def test_an_empty_ball_counts_as_zero_and_is_reported(groups):
    assert precision_within(groups, 2) == BallScore(radius=2, value=(3 / 4 + 0) / 2, empty=1 / 2, mean_size=2)


def test_the_pooled_curve_counts_pairs_and_leaves_out_radii_without_any(groups):
    curve = pooled_radius_curve(groups)
    assert curve.radii == (1, 2, 3, 4)
    assert curve.precision == (2 / 2, 3 / 4, 4 / 13, 6 / 20)
    assert curve.recall == (2 / 6, 3 / 6, 4 / 6, 1.0)


def test_the_mean_curve_averages_queries(groups):
    curve = mean_radius_curve(groups)
    assert curve.radii == (0, 1, 2, 3, 4)
    assert curve.precision == pytest.approx([0, 1 / 2, 3 / 8, (3 / 8 + 1 / 5) / 2, (4 / 10 + 2 / 10) / 2])
    assert curve.recall == pytest.approx([0, 1 / 4, 3 / 8, (3 / 4 + 1 / 2) / 2, 1])


def test_balls_of_real_codes_hold_what_a_plain_count_finds():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 80)
    gallery = pack(sign(rng.standard_normal((80, 8))))
    groups = rank_codes(gallery[:5], gallery, labels[:5], labels)

    distances = (unpack(gallery[:5])[:, None] != unpack(gallery)[None]).sum(axis=2)
    inside, is_relevant = distances <= 2, labels[:5, None] == labels[None]
    ball = precision_within(groups, 2)
    assert ball.value == pytest.approx(np.mean((inside & is_relevant).sum(axis=1) / inside.sum(axis=1)))
    assert ball.mean_size == inside.sum() / 5
    assert pooled_radius_curve(groups).recall[2] == (inside & is_relevant).sum() / is_relevant.sum()


@pytest.mark.parametrize("radius", [-1, 5])
def test_a_radius_beyond_the_code_is_refused(groups, radius):
    with pytest.raises(BadArgument, match="4 bits"):
        precision_within(groups, radius)


@pytest.mark.parametrize("metric", [pooled_radius_curve, mean_radius_curve, lambda groups: precision_within(groups, 2)])
def test_rankings_that_are_not_of_codes_have_no_radius(groups, metric):
    with pytest.raises(BadArgument, match="binary codes"):
        metric(groups.merged())
