"""Indexing is measured, and what more workers would give follows from it."""

import json
from dataclasses import asdict, replace

import pytest

import indexing
from indexing import IndexingCosts, IndexRun, forecast, measure, most_workers, page, write_photos
from sketchhash.errors import BadArgument
from sketchhash.gallery.photos import decode, read_file
from stages import take_samples
from timing import Cost, read_record

COSTS = IndexingCosts(
    source="photos",
    photo_bytes=100_000,
    gallery_bytes=9_000,
    stages={"read": Cost(4, 3, 0, 1), "encode": Cost(50, 47, 0, 1), "write": Cost(1.5, 0.5, 0, 1)},
    cold_bytes_per_second=200e6,
    runs=(
        IndexRun(0, 100, 9.0, 1.0, 8.0, 8.0),
        IndexRun(1, 100, 6.0, 1.0, 0.2, 5.0),
        IndexRun(2, 100, 4.0, 1.5, 0.1, 5.2),
    ),
)


def test_a_forecast_by_hand():
    assert COSTS.worker_seconds == pytest.approx(0.05)
    assert COSTS.writer_seconds == pytest.approx(0.001 + 0.001)
    assert (forecast(COSTS, 2).per_second, forecast(COSTS, 2).limit) == (pytest.approx(40), "workers")
    assert (forecast(COSTS, 100).per_second, forecast(COSTS, 100).limit) == (pytest.approx(500), "writer")
    assert most_workers(COSTS) == 25
    slow = replace(COSTS, cold_bytes_per_second=10e6)
    assert (forecast(slow, 100).per_second, forecast(slow, 100).limit) == (pytest.approx(100), "disk")
    unknown = replace(COSTS, cold_bytes_per_second=0.0)
    assert forecast(unknown, 100).limit == "writer"


def test_what_took_no_time_limits_nothing():
    at_once = IndexRun(1, 1, 1.0, 1.0, 0.0, 0.0)
    costs = replace(COSTS, stages={**COSTS.stages, "write": Cost(0, 0, 0, 1)}, runs=(at_once,))
    assert forecast(costs, 1000).limit == "disk"
    assert "| 1024 | 2,000 | disk |" in page(costs)


def test_photos_a_second_leave_the_start_out():
    assert [run.per_second for run in COSTS.runs] == pytest.approx([12.5, 20, 40])


def test_the_page_sets_runs_beside_the_model():
    text = page(COSTS)
    assert "| 2 processes | 4.0 s | 1.5 s | 40.0 | 40.0 | 52.0 ms | 1.00 ms |" in text
    assert "| 1024 | 500 | writer |" in text


def test_costs_are_kept_and_read_again(tmp_path):
    (tmp_path / "kept.json").write_text(json.dumps(asdict(COSTS)))
    assert read_record(tmp_path / "kept.json", IndexingCosts.from_record) == COSTS
    with pytest.raises(BadArgument, match="not a record"):
        read_record(tmp_path / "nothing.json", IndexingCosts.from_record)


def test_no_two_photos_are_copies_since_copies_are_not_encoded(tmp_path):
    paths = write_photos(tmp_path / "photos", take_samples(2), 9)
    assert len({read_file(path)[0].sha256 for path in paths}) == 9
    assert all(decode(path.read_bytes()).shape == (512, 512, 3) for path in paths)


def test_every_stage_and_every_number_of_workers_is_measured(model_folder):
    told = []
    costs = measure(model_folder, take_samples(2), 20, [0, 2], 0.0, told.append)
    assert list(costs.stages) == ["read", "decode", "squeeze", "encode", "thumbnail", "write"]
    assert all(cost.calls >= 1 for cost in costs.stages.values())
    assert [(run.workers, run.photos) for run in costs.runs] == [(0, 20), (2, 20)]
    assert costs.gallery_bytes > 1000
    assert costs.worker_seconds > 1e-4
    # Equal where starting two workers once took longer than to start one twice, as it may on a busy machine.
    assert costs.runs[1].cpu_seconds >= costs.runs[1].writer_cpu_seconds
    assert any("2 processes" in line for line in told)


def test_indexing_is_measured_recorded_and_printed_again(run, tmp_path, paint_photo):
    paint_photo(tmp_path / "trip/a.jpg", 1)
    options = ("--photos", tmp_path / "trip", "--samples", 1, "--count", 2, "--workers", 1, "--seconds", 0)
    measured = run(indexing, *options, "--out", tmp_path / "index.json")
    printed = run(indexing, "--show", tmp_path / "index.json")
    assert printed.stdout == measured.stdout
    assert "1 photos of trip" in printed.stdout
    assert "times as long as reading and decoding" in printed.stdout
    assert "| 1024 |" in printed.stdout
