"""The script that compares searches by code and by values: its times, its mAP and its record."""

import json

import numpy as np
import pytest

import by_values as script
from sketchhash.codes import pack
from timing import Schedule


@pytest.fixture(scope="module")
def drawn():
    """Return values of sketches and of photos of 20 categories, which have the sketches' signs but for noise."""
    rng = np.random.default_rng(0)
    kinds = rng.choice([-1.0, 1.0], (20, 64))
    sketches = kinds + 2 * rng.standard_normal((20, 64))
    photos = np.repeat(kinds, 30, axis=0) + 0.8 * rng.standard_normal((600, 64))
    return sketches.astype(np.float32), photos.astype(np.float32), np.arange(20), np.repeat(np.arange(20), 30)


def test_values_rank_better_than_codes_and_weights_nearly_as_well_as_values(drawn):
    by_code, first, all_of_them, weighed, exact = script.compare_rankings(*drawn).values()
    assert by_code < first <= weighed
    assert all_of_them == pytest.approx(weighed)  # there are fewer than a thousand photos
    assert weighed == pytest.approx(exact, abs=0.002)


def test_every_way_takes_time_and_the_record_is_shown_again(drawn, tmp_path, run):
    codes = pack(drawn[1])
    codes = np.concatenate([codes, codes])
    times = script.time_ways(codes, pack(drawn[0]), Schedule(rounds=1, calls_a_turn=1, seconds=0.01))
    assert {"code, scan", "code, then values", "values, scan", "values, pruned", "values, NumPy"} <= set(times)
    assert all(median >= best > 0 for median, best in times.values())
    measured = {"milliseconds": {"1,200 codes": times}, "precision": {"code": 0.5}, "searched": "20 sketches."}
    (tmp_path / "record.json").write_text(json.dumps(measured))
    shown = run(script, "--show", tmp_path / "record.json").output
    assert "| 1,200 codes | code, scan |" in shown
    assert "| code | 0.5000 |" in shown
