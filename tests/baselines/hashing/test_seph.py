import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from sketchhash.baselines import Views
from sketchhash.baselines.hashing import SemanticsPreservingHashing
from sketchhash.baselines.hashing.seph import KernelClassifier, learn_codes, objective_and_gradient, regress
from sketchhash.errors import BadArgument


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(2, 6), st.floats(0, 10))
def test_the_objective_by_category_is_that_of_all_pairs_of_samples(seed, categories, per_category, binariness):
    values = np.random.default_rng(seed).normal(size=(categories, 3))
    labels = np.repeat(np.arange(categories), per_category)
    h, n = values[labels], len(labels)
    p = (labels[:, None] == labels).astype(float)
    likeness = 1 / (1 + 0.25 * np.square(h[:, None] - h).sum(axis=2))
    for matrix in (p, likeness):
        np.fill_diagonal(matrix, 0)
    p, q = p / p.sum(), likeness / likeness.sum()
    weight = binariness / (3 * n)
    expected = (p[p > 0] * np.log(p[p > 0] / q[p > 0])).sum() + weight * np.square(np.abs(h) - 1).sum()
    pull = (p - q) * likeness
    slope = pull.sum(axis=1)[:, None] * h - pull @ h + 2 * weight * (np.abs(h) - 1) * np.sign(h)

    objective, gradient = objective_and_gradient(values, per_category, binariness)
    assert objective == pytest.approx(expected)
    np.testing.assert_allclose(gradient, slope[::per_category], atol=1e-12)


def test_the_gradient_is_the_slope_of_the_objective():
    values = np.random.default_rng(0).normal(size=(4, 3))
    _, gradient = objective_and_gradient(values, 5, 1.0)
    step = np.zeros_like(values)
    step[2, 1] = 1e-6
    higher, lower = (objective_and_gradient(values + sign * step, 5, 1.0)[0] for sign in (1, -1))
    assert (higher - lower) / 2e-6 == pytest.approx(5 * gradient[2, 1], rel=1e-5)  # all five samples of it moved


def test_the_objective_falls_and_the_best_codes_are_kept():
    start = np.random.default_rng(0).normal(scale=1e-4, size=(10, 16))
    best, objectives = learn_codes(start, 500, 0.01)
    assert objectives[-1] < 0.5 * objectives[0]
    assert objective_and_gradient(best, 500, 0.01)[0] == min(objectives)
    codes = np.sign(best)
    assert len(np.unique(codes, axis=0)) == 10


def test_bits_learned_together_are_those_learned_one_by_one():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(80, 6))
    bits = np.sign(features @ rng.normal(size=(6, 3)) + rng.normal(size=(80, 3)))
    weights = regress(features, bits, penalty=0.5)
    for bit in range(3):
        alone = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-8).fit(features, bits[:, bit])
        np.testing.assert_allclose(weights[:, bit], alone.coef_[0], atol=1e-3)


def test_kernels_learn_what_no_line_can_part():
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 2))
    bits = np.where(np.linalg.norm(features, axis=1, keepdims=True) < 1.1, 1, -1).astype(np.int8)
    classifier = KernelClassifier.fit(features, bits, 40, 0.01, rng)
    assert (np.sign(classifier(features)) == bits).mean() > 0.95


def test_the_methods_own_objective_falls(views):
    method = SemanticsPreservingHashing(8).fit(views)
    assert min(method.objectives) < 0.5 * method.objectives[0]


def test_one_category_is_refused():
    one = np.zeros(4, np.int64)
    with pytest.raises(BadArgument, match="at least two"):
        SemanticsPreservingHashing(2).fit(Views(np.eye(4), one, np.eye(4), one))
