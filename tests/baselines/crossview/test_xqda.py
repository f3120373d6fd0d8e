import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.baselines import Views
from sketchhash.baselines.crossview import CrossViewQuadratic
from sketchhash.baselines.crossview.xqda import difference_covariances
from sketchhash.errors import BadArgument


@given(st.integers(0, 2**32 - 1))
def test_covariances_of_differences_are_those_of_all_pairs_one_by_one(seed):
    rng = np.random.default_rng(seed)
    photos, sketches = rng.normal(size=(9, 3)), rng.normal(size=(7, 3))
    photo_labels, sketch_labels = np.append(rng.integers(0, 4, 8), 0), np.append(rng.integers(0, 3, 5), [0, 1])
    within, between = difference_covariances(photos, photo_labels, sketches, sketch_labels)

    differences = (sketches[:, None] - photos).reshape(-1, 3)
    same = (sketch_labels[:, None] == photo_labels).ravel()
    for found, some in ((within, differences[same]), (between, differences[~same])):
        np.testing.assert_allclose(found, some.T @ some / len(some), atol=1e-10)


def test_inner_products_rank_like_the_quadratic_distance(views):
    method = CrossViewQuadratic(8, axes=12).fit(views)
    photos, sketches = method.encode_photos(views.photos), method.encode_sketches(views.sketches)
    metric = method.state()["metric"]
    z, x = photos[:, :-1], method._projection("sketches")(views.sketches)
    difference = x[:, None] - z
    distances = np.einsum("spi,ij,spj->sp", difference, metric, difference)
    own = np.einsum("si,ij,sj->s", x, metric, x)  # the same for every photo
    np.testing.assert_allclose(-sketches @ photos.T, distances - own[:, None], atol=1e-8)


def test_the_metric_is_what_the_definition_says(views):
    method = CrossViewQuadratic(8, axes=12).fit(views)
    projected = method._projection("photos")(views.photos), method._projection("sketches")(views.sketches)
    within, between = difference_covariances(projected[0], views.photo_labels, projected[1], views.sketch_labels)
    kept = int((np.diag(method.state()["metric"]) > 0).sum())
    expected = np.linalg.inv(within[:kept, :kept]) - np.linalg.inv(between[:kept, :kept])
    np.testing.assert_allclose(method.state()["metric"][:kept, :kept], expected, atol=0.02)  # apart from the ridge


def test_directions_that_tell_nothing_are_left_empty(views):
    photos = CrossViewQuadratic(12, axes=12).fit(views).encode_photos(views.photos)
    assert photos.shape == (165, 13)
    assert (photos[:, :-1].std(axis=0) == 0).any()


def test_one_category_is_refused():
    one = np.zeros(4, np.int64)
    with pytest.raises(BadArgument, match="two categories"):
        CrossViewQuadratic(2).fit(Views(np.eye(4), one, np.eye(4), one))
