import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import eigh

from sketchhash.baselines import CanonicalCorrelation, Views
from sketchhash.baselines.crossview import CrossViewQuadratic
from sketchhash.baselines.crossview.xqda import difference_covariances
from sketchhash.errors import BadArgument


def joint_differences(photos, sketches):
    """Every pair as a row (sketch, −photo), sketch by sketch."""
    return np.array([np.concatenate([sketch, -photo]) for sketch in sketches for photo in photos])


def standardised(features):
    return (features - features.mean(axis=0)) / features.std(axis=0)


@given(st.integers(0, 2**32 - 1))
def test_covariances_of_differences_are_those_of_all_pairs_one_by_one(seed):
    rng = np.random.default_rng(seed)
    photos, sketches = rng.normal(size=(9, 3)), rng.normal(size=(7, 2))
    photo_labels, sketch_labels = np.append(rng.integers(0, 4, 8), 0), np.append(rng.integers(0, 3, 5), [0, 1])
    within, between = difference_covariances(photos, photo_labels, sketches, sketch_labels)

    differences = joint_differences(photos, sketches)
    same = (sketch_labels[:, None] == photo_labels).ravel()
    for found, some in ((within, differences[same]), (between, differences[~same])):
        np.testing.assert_allclose(found, some.T @ some / len(some), atol=1e-10)


def test_the_ranking_is_that_of_the_definition_on_all_pairs(views):
    """Without principal axes and encodings: Σ_I, Σ_E, W, M and d from every pair of the training data."""
    photos, sketches = standardised(views.photos), standardised(views.sketches)
    differences = joint_differences(photos, sketches)
    same = (views.sketch_labels[:, None] == views.photo_labels).ravel()
    within, between = (some.T @ some / len(some) for some in (differences[same], differences[~same]))
    within += 1e-3 * np.eye(38)
    ratios, vectors = eigh(between, within)
    subspace = vectors[:, ratios > 1][:, ::-1][:, :4]
    metric = np.linalg.inv(subspace.T @ within @ subspace) - np.linalg.inv(subspace.T @ between @ subspace)
    projected = differences @ subspace
    expected = ((projected @ metric) * projected).sum(axis=1).reshape(len(sketches), len(photos))

    method = CrossViewQuadratic(4).fit(views)
    found = -method.encode_sketches(views.sketches) @ method.encode_photos(views.photos).T
    # Encodings leave out what a sketch adds to the distances of all photos.
    np.testing.assert_allclose(found - found[:, :1], expected - expected[:, :1], atol=1e-8)


def test_inner_products_rank_like_the_quadratic_distance(views):
    method = CrossViewQuadratic(8, axes_per_view=12).fit(views)
    photos, sketches = method.encode_photos(views.photos), method.encode_sketches(views.sketches)
    metric = method.state()["metric"]
    z, x = photos[:, :-1], method._projection("sketches")(views.sketches)
    difference = x[:, None] - z
    distances = np.einsum("spi,ij,spj->sp", difference, metric, difference)
    own = np.einsum("si,ij,sj->s", x, metric, x)  # the same for every photo
    np.testing.assert_allclose(-sketches @ photos.T, distances - own[:, None], atol=1e-8)


@pytest.mark.parametrize("widths", [(20, 18), (20, 5)])
def test_views_of_different_features_and_widths_are_aligned(views, widths):
    unlike = Views(
        views.photos[:, : widths[0]], views.photo_labels, views.sketches[:, : widths[1]], views.sketch_labels
    )
    scores = []
    for method in (CrossViewQuadratic(5).fit(unlike), CanonicalCorrelation(5).fit(unlike)):
        likeness = method.encode_sketches(unlike.sketches) @ method.encode_photos(unlike.photos).T
        scores.append(np.mean(unlike.photo_labels[likeness.argmax(axis=1)] == unlike.sketch_labels))
    assert scores[0] > scores[1] - 0.05


def test_the_signs_and_order_of_features_do_not_matter(views):
    rng = np.random.default_rng(0)
    turned = views.sketches[:, rng.permutation(18)] * rng.choice([-1.0, 1.0], 18)
    rankings = []
    for sketches in (views.sketches, turned):
        method = CrossViewQuadratic(5).fit(Views(views.photos, views.photo_labels, sketches, views.sketch_labels))
        rankings.append(method.encode_sketches(sketches) @ method.encode_photos(views.photos).T)
    np.testing.assert_allclose(*rankings, atol=1e-8)


def test_directions_that_tell_nothing_are_left_empty(views):
    photos = CrossViewQuadratic(30).fit(views).encode_photos(views.photos)
    assert photos.shape == (165, 31)
    assert (photos[:, :-1].std(axis=0) == 0).any()


def test_one_category_is_refused():
    one = np.zeros(4, np.int64)
    with pytest.raises(BadArgument, match="two categories"):
        CrossViewQuadratic(2).fit(Views(np.eye(4), one, np.eye(4), one))
