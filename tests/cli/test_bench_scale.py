import json
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[2] / "results"
QUICK = ("--codes", 3000, "--shards", 2, "--shard-codes", 2000, "--repeats", 1, "--checked", 1)


def test_scale_is_measured_kept_and_printed_again(run, tmp_path):
    measured = run("bench", "scale", *QUICK, "--folder", tmp_path, "--json")
    assert measured.exit_code == 0, measured.output
    (tmp_path / "scale.json").write_text(measured.stdout)
    assert json.loads(measured.stdout)["simulation"]["is_exact"] is True
    printed = run("bench", "scale", "--recorded", tmp_path / "scale.json", "--price", 1)
    assert "at 1 a month" in printed.stdout
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("shards-")] == []


def test_wrong_hits_end_with_an_error(run, monkeypatch):
    monkeypatch.setattr("sketchhash.benchmark.scale.simulation._are_equal", lambda *_: False)
    result = run("bench", "scale", *QUICK)
    assert result.exit_code == 1
    assert "WRONG" in result.stdout


def test_indexing_is_measured_kept_and_printed_again(run, tmp_path, paint_photo):
    paint_photo(tmp_path / "trip/a.jpg", 1)
    options = ("--photos", tmp_path / "trip", "--samples", 1, "--count", 2, "--workers", 1, "--seconds", 0)
    measured = run("bench", "index", *options, "--json")
    assert measured.exit_code == 0, measured.output
    (tmp_path / "index.json").write_text(measured.stdout)
    printed = run("bench", "index", "--recorded", tmp_path / "index.json")
    assert "1 photos of trip" in printed.stdout
    assert "| 1024 |" in printed.stdout


@pytest.mark.parametrize(
    "command",
    [
        ("bench", "index", "--recorded", RESULTS / "index-speed.json"),
        ("bench", "scale", "--recorded", RESULTS / "scale.json", "--indexing", RESULTS / "index-speed.json"),
    ],
    ids=["index", "scale"],
)
def test_the_document_has_the_tables_of_the_recorded_run(run, command):
    document = (RESULTS.parent / "docs" / "scale.md").read_text(encoding="utf-8")
    for block in run(*command).stdout.strip().split("\n\n"):
        assert block in document
