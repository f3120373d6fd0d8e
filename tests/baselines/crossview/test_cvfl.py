import numpy as np
from scipy.linalg import solve_sylvester

from sketchhash.baselines.crossview import CrossViewFeatureLearning
from sketchhash.baselines.crossview.cvfl import laplacian


def test_weights_satisfy_the_sylvester_equation(views, drawn_pairs):
    method = CrossViewFeatureLearning(4096, ridge=0.2, smoothness=0.7, neighbours=4, pairs=1200).fit(views)
    photos, sketches = ((rows - rows.mean(axis=0)) / rows.std(axis=0) for rows in drawn_pairs(1200))
    graph = laplacian(photos.T @ photos / len(photos), 4)
    spread = sketches.T @ sketches / len(sketches) + 0.2 * np.eye(sketches.shape[1])
    expected = solve_sylvester(spread, 0.7 * graph, sketches.T @ photos / len(sketches))
    np.testing.assert_allclose(method.state()["sketches_weights"], expected, atol=1e-9)


def test_without_smoothness_it_is_ridge_regression(views, drawn_pairs):
    method = CrossViewFeatureLearning(4096, ridge=0.3, smoothness=0.0, pairs=1200).fit(views)
    photos, sketches = ((rows - rows.mean(axis=0)) / rows.std(axis=0) for rows in drawn_pairs(1200))
    expected = np.linalg.solve(sketches.T @ sketches + 0.3 * len(sketches) * np.eye(18), sketches.T @ photos)
    np.testing.assert_allclose(method.state()["sketches_weights"], expected, atol=1e-9)


def test_a_laplacian_joins_only_the_nearest_and_measures_differences():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(50, 6)) + rng.normal(size=(50, 1))
    correlations = np.corrcoef(features.T)
    graph = laplacian(correlations, 2)
    affinity = np.diag(np.diag(graph)) - graph
    assert ((affinity > 0).sum(axis=1) >= 2).all() and ((affinity == 0).sum(axis=1) > 1).any()
    np.testing.assert_allclose(affinity[affinity > 0], correlations[affinity > 0])
    weights = rng.normal(size=(3, 6))
    squares = np.square(weights[:, :, None] - weights[:, None]).sum(axis=0)
    np.testing.assert_allclose(np.trace(weights @ graph @ weights.T), (affinity * squares).sum() / 2)
