import json

import pytest

QUICK = ("--seconds", 0, "--codes", 50, "--samples", 2)


@pytest.fixture(autouse=True)
def in_no_time(monkeypatch):
    monkeypatch.setattr("sketchhash.benchmark.serving.measuring._WARMING_SECONDS", 0.1)


def test_the_tables_go_to_stdout_and_into_a_file(run, tmp_path, paint_photo):
    paint_photo(tmp_path / "trip" / "a.jpg", 1)
    result = run("bench", "model", *QUICK, "--photos", tmp_path / "trip", "--out", tmp_path / "speed.md")
    assert result.exit_code == 0, result.output
    assert result.stdout == (tmp_path / "speed.md").read_text()
    assert "1 photos of trip" in result.stdout
    assert "service with 50 codes" in result.stdout
    assert "Timing the stages" in result.stderr


def test_a_run_needs_its_data(run, tmp_path):
    result = run("bench", "model", "--run", tmp_path)
    assert result.exit_code == 2
    assert "--run and --data go together" in result.output


@pytest.mark.slow
def test_a_run_is_measured_in_every_number_format(run, untrained_run):
    """The network is not trained: sizes, times and the way to the scores do not depend on it."""
    folder, world = untrained_run(("cat", "key"), 4)
    result = run("bench", "model", *QUICK, "--run", folder, "--data", world, "--json")
    assert result.exit_code == 0, result.output
    peers = {peer["name"]: peer for peer in json.loads(result.stdout)["peers"]}
    assert list(peers) == ["float32", "float16", "int8, dynamic", "int8, static", "PyTorch, float32"]
    sizes = [peer["bytes"] for peer in peers.values()]
    assert sizes[2] < sizes[1] < sizes[0]
    scores = [peer["scores"]["world → world, seen photos"] for peer in peers.values()]
    assert all(0 < score <= 1 for score in scores)
    assert scores[0] == pytest.approx(scores[-1])
    assert json.loads(result.stdout)["memory"]["torch"] > 50e6
