import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from sketchhash.tokens.forest import LEAF
from sketchhash.tokens.training.growing import _strict, grow, join
from sketchhash.tokens.training.sampling import BACKGROUND, Sample

single = st.floats(-1e6, 1e6, width=32)


def make_sample(seed, pixels=300):
    """Three tokens and background, told apart by features 5, 40 and 900; most values tie with others."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 12, (pixels, 3)).astype(np.float32) / 7
    classes = np.digitize(values @ np.array([1, 0.5, 0.2]), [0.7, 1.2, 1.9]).astype(np.int32) + BACKGROUND
    return Sample(np.array([5, 40, 900], dtype=np.int32), values, classes)


def walk(forest, tree, described):
    """Follow one patch, as the documents of `Forest` say."""
    node = forest.roots[tree]
    while forest.left[node] != LEAF:
        goes_left = described[forest.feature[node]] < forest.threshold[node]
        node = forest.left[node] if goes_left else forest.left[node] + 1
    return forest.contour[node]


def describe(sample):
    described = np.zeros((len(sample.values), 1000), dtype=np.float32)
    described[:, sample.features] = sample.values
    return described


def test_a_tree_answers_as_scikit_learns_does_on_every_pixel():
    sample = make_sample(0)
    forest = grow(sample, np.random.default_rng(0))
    reference = DecisionTreeClassifier(
        max_features=3, min_samples_leaf=5, random_state=int(np.random.default_rng(0).integers(2**31))
    ).fit(sample.values, sample.classes)
    expected = 1 - reference.predict_proba(sample.values)[:, 0]
    got = [walk(forest, 0, patch) for patch in describe(sample)]
    np.testing.assert_allclose(got, expected, atol=1e-6)
    assert len(set(got)) > 3


def test_children_are_side_by_side_and_after_their_parents():
    forest = grow(make_sample(1), np.random.default_rng(0))
    inner = np.flatnonzero(forest.left != LEAF)
    assert (forest.left[inner] > inner).all()
    children = np.concatenate([forest.left[inner], forest.left[inner] + 1])
    assert sorted(children) == list(range(1, len(forest.left)))


def test_no_leaf_has_fewer_than_five_pixels():
    sample = make_sample(2)
    forest = grow(sample, np.random.default_rng(0))
    ends = []
    for patch in describe(sample):
        node = 0
        while forest.left[node] != LEAF:
            node = forest.left[node] + int(not patch[forest.feature[node]] < forest.threshold[node])
        ends.append(node)
    visits = np.bincount(ends, minlength=len(forest.left))
    assert visits[forest.left == LEAF].min() >= 5


def test_the_same_generator_grows_the_same_tree():
    first, again = (grow(make_sample(3), np.random.default_rng(9)) for _ in range(2))
    assert first.fingerprint == again.fingerprint


def test_joined_trees_answer_as_they_did_alone():
    samples = [make_sample(seed) for seed in range(3)]
    trees = [grow(sample, np.random.default_rng(0)) for sample in samples]
    forest = join(trees)
    for patch in describe(make_sample(7, pixels=40)):
        assert [walk(forest, number, patch) for number in range(3)] == [walk(tree, 0, patch) for tree in trees]


def test_a_sample_of_one_class_is_one_leaf():
    values = np.ones((10, 1), dtype=np.float32)
    forest = grow(Sample(np.array([3], dtype=np.int32), values, np.full(10, 2, np.int32)), np.random.default_rng(0))
    assert forest.left.tolist() == [LEAF]
    assert forest.contour.tolist() == [1]


@given(single, single)
def test_strict_thresholds_part_any_two_values_as_before(low, high):
    threshold = np.array([(low + high) / 2, low, high])  # scikit-learn splits in the middle, in double precision
    values = np.array([low, high], dtype=np.float32)[:, None]
    np.testing.assert_array_equal(values < _strict(threshold), values <= threshold)


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, np.float32(0.1), -1e-30])
def test_a_value_on_the_threshold_still_goes_left(value):
    assert np.float32(value) < _strict(np.array([value], dtype=np.float64))[0]
