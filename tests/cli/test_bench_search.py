import json

import pytest
from typer.testing import CliRunner

from sketchhash.cli import app
from sketchhash.index.scan import ScanIndex


def run(*arguments, code=0):
    result = CliRunner().invoke(app, ["bench", "search", "--quick", *map(str, arguments)])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(autouse=True)
def in_no_time(monkeypatch):
    monkeypatch.setattr("sketchhash.cli.bench_search._QUICK_SECONDS", 0.0)


def test_the_table_goes_to_stdout_and_talk_to_stderr():
    result = run("--sizes", "500,600", "--bits", "32")
    rows = [line for line in result.stdout.splitlines() if line.startswith(("| random", "| clustered"))]
    assert sum("| scan |" in row for row in rows) == 4
    assert all(row.endswith("| equal |") for row in rows if "| scan |" in row or "| pruned |" in row)
    assert "No aim is about these sizes." in result.stdout
    assert "500 random codes of 32 bits" in result.stderr
    assert "codes of" not in result.stdout


def test_json_holds_every_comparison(tmp_path):
    printed = json.loads(run("--sizes", "500", "--bits", "32,64", "--json", "--plot", tmp_path / "speed.png").stdout)
    kinds = [(each["kind"], each["size"], each["bits"]) for each in printed["comparisons"]]
    assert kinds == [("random", 500, 32), ("clustered", 500, 32), ("random", 500, 64), ("clustered", 500, 64)]
    assert printed["comparisons"][0]["results"][0]["one"]["p50"] > 0
    assert printed["aims"] == []
    assert (tmp_path / "speed.png").stat().st_size > 1000


def test_wrong_hits_end_with_an_error(monkeypatch):
    right = ScanIndex.search

    def search(self, queries, k, among=None):
        return [type(hits)(hits.ids[::-1], hits.distances) for hits in right(self, queries, k, among)]

    monkeypatch.setattr(ScanIndex, "search", search)
    result = run("--sizes", "500", "--bits", "32", code=1)
    assert "| WRONG |" in result.stdout
    assert "differ" in result.stderr


@pytest.mark.parametrize("wrong", [("--sizes", "many"), ("--sizes", "0"), ("--bits", "32,"), ("--bits", "12")])
def test_numbers_that_make_no_sense_are_refused(wrong):
    run("--sizes", "500", *wrong, code=2)
