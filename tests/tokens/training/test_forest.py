import shutil
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from sketchhash.errors import DamagedState, NotFitted
from sketchhash.tokens.channels import channels, lookup_planes
from sketchhash.tokens.sketch_tokens import LEAF
from sketchhash.tokens.training import ForestTrainer
from sketchhash.tokens.training import forest as run_module
from sketchhash.tokens.training.forest import _strict, grow, join
from sketchhash.tokens.training.samples import BACKGROUND, Sample

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


@pytest.fixture
def run(photos, tiny, tmp_path):
    return ForestTrainer(photos, tiny, seed=0, work=tmp_path / "work")


@pytest.fixture(scope="module")
def forest(photos, tiny, tmp_path_factory):
    finished = ForestTrainer(photos, tiny, seed=0, work=tmp_path_factory.mktemp("work"))
    list(finished.grow())
    return finished.forest()


def test_the_forest_tells_contours_from_background(forest, photos):
    for traced in photos:
        planes = lookup_planes(channels(traced.photo))
        height, width = traced.photo.shape[:2]
        corners = (np.arange(height)[:, None] * planes.shape[2] + np.arange(width)).ravel()
        scores = forest.contour_share(planes, corners).reshape(height, width)
        on, off = scores[traced.contours.any(axis=0)], scores[~traced.contours.any(axis=0)]
        assert on.mean() > off.mean() + 0.3


def test_every_tree_is_told_once_it_is_on_disk(run):
    told = []
    for number in run.grow():
        told.append(number)
        assert number not in run.missing_trees()
    assert told == [0, 1, 2]


def test_a_run_that_broke_off_goes_on_and_ends_with_the_same_forest(run, forest, monkeypatch):
    grow = run_module.grow
    rounds = iter((True, False))

    def broken(sample, rng):
        if next(rounds, False):
            return grow(sample, rng)
        raise MemoryError("no room for the second tree")

    monkeypatch.setattr(run_module, "grow", broken)
    with pytest.raises(MemoryError):
        list(run.grow())
    assert run.missing_trees() == [1, 2]

    monkeypatch.setattr(run_module, "grow", grow)
    assert list(run.grow()) == [1, 2]
    assert run.forest().fingerprint == forest.fingerprint


def test_two_trees_at_a_time_are_the_same_trees(run, forest):
    assert sorted(run.grow(jobs=2)) == [0, 1, 2]
    assert run.forest().fingerprint == forest.fingerprint


def test_another_seed_grows_other_trees_from_the_same_classes(run, forest):
    other = replace(run, seed=1)
    run.find_classes()
    shutil.copytree(run.folder, other.folder)
    list(other.grow())
    assert other.forest().fingerprint != forest.fingerprint


def test_an_unfinished_forest_is_not_joined(run):
    run.find_classes()
    with pytest.raises(NotFitted, match="3 of 3 trees are still to be grown"):
        run.forest()


def test_another_seed_preset_or_photo_is_another_run(run):
    changed = replace(run.photos[0], photo=run.photos[0].photo ^ 1)
    retraced = replace(run.photos[0], contours=run.photos[0].contours[:, ::-1])
    others = [
        replace(run, seed=1),
        replace(run, preset=replace(run.preset, positives=41)),
        replace(run, photos=[changed, *run.photos[1:]]),
        replace(run, photos=[retraced, *run.photos[1:]]),
    ]
    assert len({run.folder, *(other.folder for other in others)}) == 5
    assert replace(run).folder == run.folder


def test_classes_are_found_once(run, monkeypatch):
    found = run.find_classes()
    monkeypatch.setattr(run_module, "find_classes", None)
    kept = run.find_classes()
    for name, array in vars(found).items():
        np.testing.assert_array_equal(getattr(kept, name), array)


@pytest.mark.parametrize("damage", [lambda data: b"", lambda data: b"junk", lambda data: data[: len(data) // 2]])
def test_damaged_classes_are_named(run, damage):
    run.find_classes()
    path = run.folder / "classes.npz"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(DamagedState, match=r"classes\.npz cannot be read"):
        run.find_classes()
