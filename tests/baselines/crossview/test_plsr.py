import numpy as np
import pytest
from sklearn.cross_decomposition import PLSRegression

from sketchhash.baselines.crossview import PartialLeastSquares


@pytest.mark.parametrize("components", [1, 3, 10])
def test_predictions_equal_those_of_scikit_learn(views, drawn_pairs, components):
    photos, sketches = drawn_pairs(1200)
    theirs = PLSRegression(components, scale=True, tol=1e-14, max_iter=10_000).fit(sketches, photos)
    ours = PartialLeastSquares(4096, components=components, pairs=1200).fit(views)
    predicted = ours.encode_sketches(views.sketches) * photos.std(axis=0) + photos.mean(axis=0)
    np.testing.assert_allclose(predicted, theirs.predict(views.sketches), atol=1e-6)


def test_all_components_are_least_squares(views, drawn_pairs):
    photos, sketches = drawn_pairs(1200)
    ours = PartialLeastSquares(4096, components=1000, pairs=1200).fit(views)
    design, target = ((rows - rows.mean(axis=0)) / rows.std(axis=0) for rows in (sketches, photos))
    expected = design @ np.linalg.lstsq(design, target, rcond=None)[0]
    np.testing.assert_allclose(ours.encode_sketches(sketches), expected, atol=1e-6)


def test_photos_keep_their_features(views):
    encoded = PartialLeastSquares(4096, pairs=1200).fit(views).encode_photos(views.photos)
    assert encoded.shape == views.photos.shape
    assert np.corrcoef(encoded[:, 3], views.photos[:, 3])[0, 1] == pytest.approx(1)
