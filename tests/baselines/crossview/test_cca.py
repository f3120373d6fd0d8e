import numpy as np
import pytest
from scipy.linalg import block_diag, eigh

from sketchhash.baselines import CanonicalCorrelation
from sketchhash.errors import BadArgument


def test_canonical_correlations_are_those_of_the_projections(views, drawn_pairs):
    method = CanonicalCorrelation(4, ridge=1e-9, pairs=3000).fit(views)
    photos, sketches = drawn_pairs(3000)
    photos, sketches = method.encode_photos(photos), method.encode_sketches(sketches)
    measured = [np.corrcoef(photos[:, k], sketches[:, k])[0, 1] for k in range(4)]
    np.testing.assert_allclose(measured, method.correlations[:4], atol=1e-6)
    assert (np.diff(method.correlations) <= 1e-12).all()


@pytest.mark.parametrize("ridge", [1e-9, 0.1])
def test_directions_solve_the_textbook_eigenvalue_problem(views, drawn_pairs, ridge):
    method = CanonicalCorrelation(4, ridge=ridge, pairs=3000).fit(views)
    x, y = ((rows - rows.mean(axis=0)) / rows.std(axis=0) for rows in drawn_pairs(3000))
    cross = x.T @ y / len(x)
    within = block_diag(x.T @ x / len(x), y.T @ y / len(y)) + ridge * np.eye(38)
    between = block_diag(np.zeros((20, 20)), np.zeros((18, 18)))
    between[:20, 20:], between[20:, :20] = cross, cross.T
    values, vectors = eigh(between, within)
    np.testing.assert_allclose(method.correlations[:4], values[::-1][:4], atol=1e-8)

    for k in range(4):
        photo, sketch = vectors[:20, -1 - k], vectors[20:, -1 - k]
        ours = np.concatenate([method.state()["photos_weights"][:, k], method.state()["sketches_weights"][:, k]])
        expected = np.concatenate([photo, sketch]) * np.sqrt(2)  # the joint problem shares one unit of length
        np.testing.assert_allclose(ours * np.sign(ours @ expected), expected, atol=1e-6)


def test_more_dimensions_than_features_are_refused(views):
    with pytest.raises(BadArgument, match="width 18"):
        CanonicalCorrelation(19).fit(views)
