"""The script that learns and measures shapes: its drawings, its learning and its measures."""

import numpy as np
import pytest

import redrawing
import shape as script
from redrawing import Contoured, Hand
from sketchhash.tokens.contours import Ridges
from sketchhash.tokens.shape import GRID, ShapeMetric


def ridges(seed, count=200):
    """Return an arc and a line that differ for each seed."""
    rng = np.random.default_rng(seed)
    turn = np.linspace(0, 3, count) + rng.uniform(0, 6)
    arc = 0.5 + 0.3 * np.column_stack([np.sin(turn), np.cos(turn)]) * rng.uniform(0.5, 1, 2)
    return Ridges(arc, rng.uniform(0.5, 1, count), turn % np.pi)


def photo(seed, category="cup"):
    return Contoured(category, ridges(seed), np.array([0.75, 1.0]), np.ones((7, 7), dtype=np.float32))


@pytest.mark.parametrize("hardness", [0.0, 2.2])
def test_a_drawing_fills_its_sheet_but_for_the_margins(hardness):
    drawn = Hand(hardness, np.random.default_rng(0)).redraw(photo(1), ridges(2))
    low, high = drawn.places.min(axis=0), drawn.places.max(axis=0)
    assert (high - low).max() == pytest.approx(0.9)
    np.testing.assert_allclose((low + high) / 2, 0.5)
    assert ((drawn.angles >= 0) & (drawn.angles <= np.pi)).all()


def test_background_is_left_out_where_the_region_is_empty():
    region = np.zeros((7, 7), dtype=np.float32)
    region[:, :3] = 1
    seen = Contoured("cup", ridges(1), np.ones(2), region)
    kept = Hand(0.0, np.random.default_rng(0))._chosen(seen)
    assert 40 <= len(kept) < len(seen.ridges)
    assert kept.places[:, 1].max() < 0.5 < seen.ridges.places[:, 1].max()


def test_photos_are_kept_to_a_byte_a_number(tmp_path):
    photos = [photo(1), photo(2, "cat")]
    redrawing.save(tmp_path / "kept.npz", photos)
    for before, after in zip(photos, redrawing.load(tmp_path / "kept.npz"), strict=True):
        assert before.category == after.category
        np.testing.assert_allclose(after.ridges.places, before.ridges.places, atol=0.003)
        np.testing.assert_allclose(after.ridges.angles, before.ridges.angles, atol=0.013)
        np.testing.assert_array_equal(after.proportions, before.proportions)


def test_mirroring_twice_changes_nothing_and_once_turns_slants():
    grids = np.random.default_rng(0).random((3, 2 * GRID), dtype=np.float32)
    np.testing.assert_array_equal(script.mirrored(script.mirrored(grids)), grids)
    assert not np.array_equal(script.mirrored(grids), grids)


def test_learning_ranks_own_photos_better_than_nothing_learned():
    photos = [photo(seed, f"kind {seed % 3}") for seed in range(45)]
    pairs = script.make_pairs(photos, lambda _: (2.0, 2.0), seed=0)
    metric = script.learn(pairs, script.Settings(epochs=20))
    found = {way: script.ranks(pairs, scorer)["rank"] for way, scorer in script.scorers(pairs, metric).items()}
    assert found["shape"] < found["both grids, nothing learned"] < 0.5


def test_precision_is_expected_over_ties():
    assert script._precision([True, False, True], np.array([1, 2, 3])) == pytest.approx((1 + 2 / 3) / 2)
    tied = script._precision([True, False], np.array([1, 1]))
    assert tied == pytest.approx((1 + 1 / 2) / 2)


def test_people_prefer_their_own_category_by_the_start_of_the_metric():
    photos = [photo(seed, f"kind {seed}") for seed in (1, 1, 2, 2)]
    pairs = script.make_pairs(photos, lambda _: (0.0, 0.0), seed=0)
    start = ShapeMetric(np.concatenate([np.eye(GRID), np.eye(GRID)], axis=1).astype(np.float32))
    liked = script.preference(pairs, pairs.drawings[:, 0], pairs.categories.tolist(), start)
    assert liked["shape"] > 0.9
