import numpy as np
import pytest

from sketchhash.baselines import CanonicalCorrelation, ClassCodes, Views
from sketchhash.codes import hamming, pack
from sketchhash.errors import NotFitted


@pytest.fixture
def views():
    """Six categories as clouds around centres of their own in each view."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(6), 30)
    photos = rng.normal(size=(6, 20))[labels] + 0.3 * rng.normal(size=(180, 20))
    sketches = rng.normal(size=(6, 12))[labels] + 0.3 * rng.normal(size=(180, 12))
    return Views(photos, labels, sketches, labels)


@pytest.mark.parametrize("method", [ClassCodes(32), CanonicalCorrelation(8, pairs_per_category=100)])
def test_codes_of_one_category_meet_across_the_views(views, method):
    method.fit(views)
    distances = hamming(pack(method.encode_sketches(views.sketches)), pack(method.encode_photos(views.photos)))
    nearest = views.photo_labels[distances.argmin(axis=1)]
    assert (nearest == views.sketch_labels).mean() > 0.9


@pytest.mark.parametrize(
    "make", [lambda seed: ClassCodes(16, seed=seed), lambda seed: CanonicalCorrelation(8, seed=seed)]
)
def test_a_seed_decides_everything_and_inputs_stay(views, make):
    before = views.photos.copy()
    first, second, other = (make(seed).fit(views).encode_photos(views.photos) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)
    np.testing.assert_array_equal(views.photos, before)


@pytest.mark.parametrize("method", [ClassCodes(16), CanonicalCorrelation(16)])
def test_encoding_before_fitting_is_refused(views, method):
    with pytest.raises(NotFitted, match="Call fit first"):
        method.encode_photos(views.photos)


def test_ridge_without_penalty_is_least_squares(views):
    method = ClassCodes(8, ridge=0.0).fit(views)
    design = np.column_stack([views.photos, np.ones(len(views.photos))])
    codes = np.random.default_rng(0).choice([-1.0, 1.0], (6, 8))[views.photo_labels]
    expected = design @ np.linalg.lstsq(design, codes, rcond=None)[0]
    np.testing.assert_allclose(method.encode_photos(views.photos), expected, atol=1e-8)


def test_canonical_correlations_are_those_of_the_projections(views):
    method = CanonicalCorrelation(4, ridge=1e-9, pairs_per_category=500).fit(views)
    photo_rows, sketch_rows = views.pairs(500, np.random.default_rng(0))
    photos = method.encode_photos(views.photos[photo_rows])
    sketches = method.encode_sketches(views.sketches[sketch_rows])
    measured = [np.corrcoef(photos[:, k], sketches[:, k])[0, 1] for k in range(4)]
    np.testing.assert_allclose(measured, method.correlations[:4], atol=1e-6)
    assert (np.diff(method.correlations) <= 1e-12).all()


def test_canonical_correlations_equal_the_textbook_eigenvalues(views):
    method = CanonicalCorrelation(4, ridge=1e-9, pairs_per_category=500).fit(views)
    photo_rows, sketch_rows = views.pairs(500, np.random.default_rng(0))
    x, y = (m - m.mean(axis=0) for m in (views.photos[photo_rows], views.sketches[sketch_rows]))
    between = np.linalg.solve(x.T @ x, x.T @ y) @ np.linalg.solve(y.T @ y, y.T @ x)
    expected = np.sqrt(np.sort(np.linalg.eigvals(between).real)[::-1][:4])
    np.testing.assert_allclose(method.correlations[:4], expected, atol=1e-6)


def test_pairs_share_their_category_and_skip_what_one_view_lacks():
    views = Views(np.zeros((4, 1)), np.array([0, 0, 1, 2]), np.zeros((3, 1)), np.array([0, 1, 3]))
    photo_rows, sketch_rows = views.pairs(5, np.random.default_rng(0))
    assert (views.photo_labels[photo_rows] == views.sketch_labels[sketch_rows]).all()
    assert set(views.photo_labels[photo_rows]) == {0, 1}
