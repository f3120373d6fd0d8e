from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sketchhash.baselines import Views
from sketchhash.baselines.hashing import SimilaritySensitiveHashing
from sketchhash.baselines.hashing.cmssh import LabelledPairs, best_cuts, boost
from sketchhash.codes import sign
from sketchhash.errors import BadArgument


@pytest.fixture
def pairs(views):
    rng = np.random.default_rng(0)
    photo_rows, sketch_rows = rng.integers(0, len(views.photos), 400), rng.integers(0, len(views.sketches), 400)
    alike = views.photo_labels[photo_rows] == views.sketch_labels[sketch_rows]
    return LabelledPairs(views.photos, views.sketches, photo_rows, sketch_rows, np.where(alike, 1.0, -1.0))


def bits_of(pairs, bit):
    photos = sign(pairs.photos[pairs.photo_rows] @ bit.photos - bit.photo_cut)
    return photos * sign(pairs.sketches[pairs.sketch_rows] @ bit.sketches - bit.sketch_cut)


def test_weights_stay_a_distribution_and_grow_where_a_bit_was_wrong(pairs):
    learned = list(islice(boost(pairs), 12))
    for bit, following in pairwise(learned):
        assert (following.weights > 0).all()
        assert following.weights.sum() == pytest.approx(1)
        is_right = bits_of(pairs, bit) == pairs.similar
        growth = following.weights / bit.weights
        assert growth[is_right].max() < growth[~is_right].min()


def test_agreements_are_what_all_pairs_say_one_by_one(pairs):
    for bit in islice(boost(pairs), 12):
        assert bit.agreement == pytest.approx((bit.weights * pairs.similar * bits_of(pairs, bit)).sum())
        assert bit.agreement > 0


def test_directions_are_the_leading_ones_of_the_weighted_correlation(pairs):
    for bit in islice(boost(pairs), 5):
        x, y = pairs.photos[pairs.photo_rows], pairs.sketches[pairs.sketch_rows]
        x, y = (rows - bit.weights @ rows for rows in (x, y))
        moment = (x * (bit.weights * pairs.similar)[:, None]).T @ y
        assert bit.photos @ moment @ bit.sketches == pytest.approx(np.linalg.svd(moment)[1][0])
        np.testing.assert_allclose([np.linalg.norm(bit.photos), np.linalg.norm(bit.sketches)], 1)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.booleans())
def test_cuts_are_the_best_of_the_grid(seed, length, has_ties):
    rng = np.random.default_rng(seed)
    photos, sketches, votes = rng.normal(size=12), rng.normal(size=9), rng.normal(size=length)
    if has_ties:
        photos, sketches = photos.round(), sketches.round()
    rows = rng.integers(0, 12, length), rng.integers(0, 9, length)
    pairs = LabelledPairs(photos[:, None], sketches[:, None], *rows, np.sign(votes))
    photo_cut, sketch_cut, agreement = best_cuts(pairs, photos, sketches, votes)

    x, y = photos[rows[0]], sketches[rows[1]]
    assert agreement == pytest.approx(votes @ (sign(x - photo_cut) * sign(y - sketch_cut)), abs=1e-9)
    levels = (np.arange(64) + 0.5) / 64
    by_photo = sign(x - np.quantile(photos, levels)[:, None]).astype(float)
    by_sketch = sign(y - np.quantile(sketches, levels)[:, None]).astype(float)
    assert agreement == pytest.approx((by_photo * votes @ by_sketch.T).max(), abs=1e-9)


def test_dissimilar_pairs_need_two_categories():
    one = np.zeros(4, np.int64)
    with pytest.raises(BadArgument, match="two categories"):
        SimilaritySensitiveHashing(2, pairs=8).fit(Views(np.eye(4), one, np.eye(4), one))
