"""Indexing is measured, and what more workers would give follows from it."""

import json
from dataclasses import asdict, replace

import pytest

from sketchhash.benchmark.index_speed import IndexingFigures, Run, forecast, measure, measuring, page
from sketchhash.benchmark.index_speed.forecast import most_workers
from sketchhash.benchmark.model_speed import take_samples
from sketchhash.benchmark.model_speed.timing import Cost
from sketchhash.errors import BadArgument
from sketchhash.gallery.photos import decode, read_file

FIGURES = IndexingFigures(
    source="photos",
    photo_bytes=100_000,
    gallery_bytes=9_000,
    stages={"read": Cost(4, 3, 0, 1), "encode": Cost(50, 47, 0, 1), "write": Cost(1.5, 0.5, 0, 1)},
    cold_bytes_per_second=200e6,
    runs=(Run(0, 100, 9.0, 1.0, 8.0, 8.0), Run(1, 100, 6.0, 1.0, 0.2, 5.0), Run(2, 100, 4.0, 1.5, 0.1, 5.2)),
)


def test_a_forecast_by_hand():
    assert FIGURES.worker_seconds == pytest.approx(0.05)
    assert FIGURES.writer_seconds == pytest.approx(0.001 + 0.001)
    assert (forecast(FIGURES, 2).per_second, forecast(FIGURES, 2).limit) == (pytest.approx(40), "workers")
    assert (forecast(FIGURES, 100).per_second, forecast(FIGURES, 100).limit) == (pytest.approx(500), "writer")
    assert most_workers(FIGURES) == 25
    slow = replace(FIGURES, cold_bytes_per_second=10e6)
    assert (forecast(slow, 100).per_second, forecast(slow, 100).limit) == (pytest.approx(100), "disk")
    unknown = replace(FIGURES, cold_bytes_per_second=0.0)
    assert forecast(unknown, 100).limit == "writer"


def test_what_took_no_time_limits_nothing():
    at_once = Run(1, 1, 1.0, 1.0, 0.0, 0.0)
    figures = replace(FIGURES, stages={**FIGURES.stages, "write": Cost(0, 0, 0, 1)}, runs=(at_once,))
    assert forecast(figures, 1000).limit == "disk"
    assert "| 1024 | 2,000 | disk |" in page(figures)


def test_photos_a_second_leave_the_start_out():
    assert [run.per_second for run in FIGURES.runs] == pytest.approx([12.5, 20, 40])


def test_the_page_sets_runs_beside_the_model():
    text = page(FIGURES)
    assert "| 2 processes | 4.0 s | 1.5 s | 40.0 | 40.0 | 52.0 ms | 1.00 ms |" in text
    assert "| 1024 | 500 | writer |" in text


def test_figures_are_kept_and_read_again(tmp_path):
    (tmp_path / "kept.json").write_text(json.dumps(asdict(FIGURES)))
    assert IndexingFigures.read(tmp_path / "kept.json") == FIGURES
    with pytest.raises(BadArgument, match="not a record"):
        IndexingFigures.read(tmp_path / "nothing.json")


def test_no_two_photos_are_copies_since_copies_are_not_encoded(tmp_path):
    paths = measuring._write_photos(tmp_path / "photos", take_samples(2), 9)
    assert len({read_file(path)[0].sha256 for path in paths}) == 9
    assert all(decode(path.read_bytes()).shape == (512, 512, 3) for path in paths)


def test_every_stage_and_every_number_of_workers_is_measured(model_folder):
    told = []
    figures = measure(model_folder, take_samples(2), 20, [0, 2], 0.0, told.append)
    assert list(figures.stages) == ["read", "decode", "squeeze", "encode", "thumbnail", "write"]
    assert all(cost.calls >= 1 for cost in figures.stages.values())
    assert [(run.workers, run.photos) for run in figures.runs] == [(0, 20), (2, 20)]
    assert figures.gallery_bytes > 1000
    assert figures.worker_seconds > 1e-4
    assert figures.runs[1].cpu_seconds > figures.runs[1].writer_cpu_seconds
    assert any("2 processes" in line for line in told)
