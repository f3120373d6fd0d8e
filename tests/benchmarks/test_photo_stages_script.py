"""Both ways of a photo are measured stage by stage, and the record can be shown again."""

import json
from dataclasses import asdict

import pytest

from photo_stages import AFTER, BEFORE, STAGES, PhotoStages, measure, page
from stages import take_samples
from timing import read_record


@pytest.fixture
def costs(model_folder):
    samples = take_samples(2)
    return measure(model_folder, samples.photo_files, samples.source, rounds=1, threads=[1, 2], has_peers=False)


def test_every_stage_of_both_ways_takes_time(costs):
    assert {name: tuple(way) for name, way in costs.ways.items()} == {BEFORE: STAGES, AFTER: STAGES}
    assert all(time > 0 for way in costs.ways.values() for time in way.values())
    assert all(set(way) == {"1", "2"} for way in costs.per_second.values())


def test_a_record_is_kept_read_and_shown(costs, tmp_path):
    (tmp_path / "kept.json").write_text(json.dumps(asdict(costs)))
    kept = read_record(tmp_path / "kept.json", PhotoStages.from_record)
    assert page(kept) == page(costs)
    assert f"| {AFTER} |" in page(kept)
