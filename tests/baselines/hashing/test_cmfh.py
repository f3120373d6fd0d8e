import numpy as np

from sketchhash.baselines.hashing import CollectiveFactorisation


def rows_of_pairs(drawn_pairs, total):
    return [(rows - rows.mean(axis=0)) / rows.std(axis=0) for rows in drawn_pairs(total)]


def objective(x, v, u, p, method):
    total = method.penalty * np.square(v).sum()
    for t, balance in enumerate((method.balance, 1 - method.balance)):
        total += balance * np.square(x[t] - v @ u[t]).sum() + method.prediction * np.square(v - x[t] @ p[t]).sum()
        total += method.penalty * (np.square(u[t]).sum() + np.square(p[t]).sum())
    return total / len(v)


def test_the_objective_never_rises(views):
    method = CollectiveFactorisation(8, pairs=600, iterations=40).fit(views)
    fall = -np.diff(method.objectives)
    assert (fall >= -1e-9 * method.objectives[0]).all()
    assert method.objectives[-1] < 0.9 * method.objectives[0]


def test_iterations_on_covariances_are_those_on_rows(views, drawn_pairs):
    method = CollectiveFactorisation(4, pairs=600, balance=0.3, prediction=2.0, penalty=5.0, iterations=3).fit(views)

    x = rows_of_pairs(drawn_pairs, 600)
    rng = np.random.default_rng(0)
    views.pairs(100, rng)  # the method draws its start after its pairs
    v = sum(rows @ rng.normal(size=(rows.shape[1], 4)) / np.sqrt(rows.shape[1]) for rows in x)
    balances, objectives = (0.3, 0.7), []
    for _ in range(3):
        u = [np.linalg.solve(v.T @ v + 5 / b * np.eye(4), v.T @ rows) for b, rows in zip(balances, x, strict=True)]
        p = [np.linalg.solve(rows.T @ rows + 5 / 2 * np.eye(rows.shape[1]), rows.T @ v) for rows in x]
        gram = sum(b * basis @ basis.T for b, basis in zip(balances, u, strict=True)) + (2 * 2 + 5) * np.eye(4)
        v = sum(rows @ (b * u[t].T + 2 * p[t]) for t, (b, rows) in enumerate(zip(balances, x, strict=True)))
        v = v @ np.linalg.inv(gram)
        objectives.append(objective(x, v, u, p, method))

    np.testing.assert_allclose(method.objectives, objectives)
    np.testing.assert_allclose(method.state()["photos_weights"], p[0], atol=1e-9)
    np.testing.assert_allclose(method.state()["sketches_weights"], p[1], atol=1e-9)
