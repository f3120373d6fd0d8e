import numpy as np
import pytest

from sketchhash.baselines.hashing import OrthogonalCorrelation, SequentialCorrelation
from sketchhash.baselines.hashing.scm import semantic_cross
from sketchhash.baselines.linear import Pairs
from sketchhash.codes import sign

TOTAL = 300
RIDGE = 0.1


@pytest.fixture
def rows(views, drawn_pairs):
    """Standardised rows of all pairs, and S."""
    x, y = ((rows - rows.mean(axis=0)) / rows.std(axis=0) for rows in drawn_pairs(TOTAL))
    labels = np.repeat(np.arange(6), TOTAL // 6)
    return x, y, np.where(labels[:, None] == labels, 1.0, -1.0)


def covariances(x, y):
    return (m.T @ m / len(m) + RIDGE * np.eye(m.shape[1]) for m in (x, y))


def test_sums_by_category_give_the_product_with_all_similarities(views, rows):
    x, y, similarity = rows
    found = semantic_cross(Pairs.draw(views, TOTAL, np.random.default_rng(0)), views)
    np.testing.assert_allclose(found, x.T @ similarity @ y / TOTAL**2, atol=1e-9)


def test_orthogonal_directions_solve_the_eigenvalue_problem(views, rows):
    x, y, similarity = rows
    photo_spread, sketch_spread = covariances(x, y)
    cross = x.T @ similarity @ y / TOTAL**2
    state = OrthogonalCorrelation(10, ridge=RIDGE, pairs=TOTAL).fit(views).state()
    photos, sketches = state["photos_weights"], state["sketches_weights"]
    left = cross @ np.linalg.solve(sketch_spread, cross.T) @ photos
    strengths = np.diag(photos.T @ cross @ sketches)
    np.testing.assert_allclose(left, photo_spread @ photos * strengths**2, atol=1e-9)
    np.testing.assert_allclose(photos.T @ photo_spread @ photos, np.eye(10), atol=1e-8)
    np.testing.assert_allclose(sketches.T @ sketch_spread @ sketches, np.eye(10), atol=1e-8)
    assert (strengths[:5] > 1e-3).all()
    np.testing.assert_allclose(strengths[5:], 0, atol=1e-9)  # six categories have rank five


def test_directions_beyond_the_rank_correlate_among_the_pairs(views, rows):
    x, y, _ = rows
    state = OrthogonalCorrelation(7, ridge=RIDGE, pairs=TOTAL).fit(views).state()
    correlated = np.diag(state["photos_weights"].T @ x.T @ y @ state["sketches_weights"]) / TOTAL
    assert (correlated > 0).all()


def test_sequential_bits_follow_the_definition_on_all_rows(views, rows):
    x, y, similarity = rows
    photo_spread, sketch_spread = covariances(x, y)
    state = SequentialCorrelation(8, ridge=RIDGE, pairs=TOTAL).fit(views).state()
    left_over, last = 8 * similarity, np.inf
    taken = 0
    for bit in range(8):
        cross = x.T @ left_over @ y / TOTAL**2
        values, vectors = np.linalg.eig(np.linalg.solve(photo_spread, cross @ np.linalg.solve(sketch_spread, cross.T)))
        best = values.real.argmax()
        if values.real[best] > last * (1 + 1e-9):
            break
        last = values.real[best]
        photo = vectors[:, best].real
        sketch = np.linalg.solve(sketch_spread, cross.T @ photo)
        ours = state["photos_weights"][:, bit], state["sketches_weights"][:, bit]
        for found, expected in zip(ours, (photo, sketch), strict=True):
            assert abs(found @ expected) / np.linalg.norm(found) / np.linalg.norm(expected) == pytest.approx(
                1, abs=1e-8
            )
        left_over = left_over - np.outer(sign(x @ photo), sign(y @ sketch))
        taken += 1
    assert taken >= 5
