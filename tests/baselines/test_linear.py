import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.baselines import Views
from sketchhash.baselines.linear import Pairs, Standard
from sketchhash.errors import BadArgument


@given(st.integers(0, 2**32 - 1), st.integers(2, 60))
def test_covariances_are_those_of_all_pairs_one_by_one(seed, total):
    rng = np.random.default_rng(seed)
    views = Views(rng.normal(size=(7, 3)), rng.integers(0, 2, 7) * 0, rng.normal(size=(5, 4)), np.zeros(5, np.int64))
    pairs = Pairs.draw(views, total, np.random.default_rng(seed))
    photo_rows, sketch_rows = views.pairs(total, np.random.default_rng(seed))
    x, y = ((rows - rows.mean(axis=0)) for rows in (views.photos[photo_rows], views.sketches[sketch_rows]))
    x, y = (rows / np.where(rows.std(axis=0) > 1e-9, rows.std(axis=0), 1) for rows in (x, y))

    found = pairs.covariances()
    np.testing.assert_allclose(found.photos, x.T @ x / total, atol=1e-9)
    np.testing.assert_allclose(found.sketches, y.T @ y / total, atol=1e-9)
    np.testing.assert_allclose(found.cross, x.T @ y / total, atol=1e-9)


def test_categories_share_the_pairs_evenly(views):
    pairs = Pairs.draw(views, 600, np.random.default_rng(0))
    assert np.bincount(views.photo_labels[pairs.photo_rows]).tolist() == [100] * 6
    np.testing.assert_allclose([pairs.photo_shares.sum(), pairs.sketch_shares.sum()], 1)


def test_more_directions_than_features_are_refused(views):
    covariances = Pairs.draw(views, 600, np.random.default_rng(0)).covariances()
    covariances.check(18)
    with pytest.raises(BadArgument, match="19 cannot be learned"):
        covariances.check(19)


def test_weights_count_rows_as_if_they_were_repeated():
    rng = np.random.default_rng(0)
    features, counts = rng.normal(size=(5, 3)), np.array([1, 0, 2, 3, 1])
    weighted, repeated = Standard.of(features, counts / 7), Standard.of(np.repeat(features, counts, axis=0))
    np.testing.assert_allclose(weighted.mean, repeated.mean)
    np.testing.assert_allclose(weighted.deviation, repeated.deviation)


def test_a_constant_feature_is_shifted_and_not_scaled():
    constant = np.full((7, 1), 0.1)
    assert Standard.of(constant).deviation == 1
    np.testing.assert_allclose(Standard.of(constant)(constant + 2), np.full((7, 1), 2.0))
