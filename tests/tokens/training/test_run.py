import shutil
from dataclasses import replace

import numpy as np
import pytest

from sketchhash.errors import DamagedState, NotFitted
from sketchhash.tokens.channels import channels
from sketchhash.tokens.features import lookup_planes
from sketchhash.tokens.training import Run
from sketchhash.tokens.training import run as run_module


@pytest.fixture
def run(photos, tiny, tmp_path):
    return Run(photos, tiny, seed=0, work=tmp_path / "work")


@pytest.fixture(scope="module")
def forest(photos, tiny, tmp_path_factory):
    finished = Run(photos, tiny, seed=0, work=tmp_path_factory.mktemp("work"))
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
