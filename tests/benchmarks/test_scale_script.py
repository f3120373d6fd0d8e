"""What is planned for large galleries follows from what was measured, and what was measured is exact."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import decoding
import indexing
import scale
from code_galleries import ClusteredCodes
from scale import Constants, IndexConstants, Machine, ScaleRecord, plan
from shards import ShardedIndex
from sketchhash.errors import BadArgument
from sketchhash.index.protocol import Hits
from timing import read_record

RESULTS = Path(__file__).parents[2] / "results"
QUICK = ("--codes", 3000, "--shards", 2, "--shard-codes", 2000, "--repeats", 1, "--checked", 1)
MACHINE = Machine(cores=10, memory_bytes=100e9, bytes_per_second=1e12, price=100.0, round_trip_seconds=0.001)
SCAN = IndexConstants(query_seconds=0.01, batch_seconds=0.002, build_seconds=1.0, nbytes=16_000_000)
CONSTANTS = Constants(64, 1_000_000, SCAN, replace(SCAN, query_seconds=0.001, batch_seconds=0.0001, nbytes=32_000_000))


@pytest.fixture(scope="module")
def simulated():
    return scale.simulate(600_000, 32, 2, checked=2, repeats=1, tell=lambda _: None, folder=None)


def test_the_simulation_finds_what_brute_force_finds(simulated):
    assert simulated.is_exact
    assert (simulated.codes, simulated.shards, simulated.checked) == (600_000, 2, 2)
    assert 600_000 * 12 <= simulated.disk_bytes < 600_000 * 12 + 5000
    assert min(simulated.cold_seconds, simulated.query_seconds, simulated.batch_seconds) > 0


def test_the_simulation_leaves_nothing_on_the_disk_and_tells_wrong_hits(tmp_path, monkeypatch):
    right = ShardedIndex.search

    def search(self, queries, k):
        return [Hits(hits.ids[::-1], hits.distances) for hits in right(self, queries, k)]

    monkeypatch.setattr(ShardedIndex, "search", search)
    assert not scale.simulate(3000, 64, 3, 1, 1, lambda _: None, tmp_path).is_exact
    assert list(tmp_path.iterdir()) == []


def test_brute_force_breaks_ties_by_id():
    ids = np.random.default_rng(0).permutation(300)
    hits = scale.brute_force(ids, np.zeros((300, 1), dtype=np.uint8), np.zeros(1, dtype=np.uint8))
    assert hits.ids.tolist() == list(range(100))


def test_codes_are_the_same_whenever_they_are_asked_for_and_cluster():
    source = ClusteredCodes(64)
    assert np.array_equal(source.some(0, 1 << 19)[1 << 18 :], source.some(1 << 18, 1 << 18))
    assert len(np.unique(source.some(0, 5000), axis=0)) > 4000
    with pytest.raises(ValueError, match="multiples"):
        source.some(5, 10)


def test_a_plan_by_hand(simulated):
    """10^8 codes: 1 s of one core, 0.1 s of ten, in time with one machine, which holds the 1.6 GB."""
    told = replace(simulated, merge_seconds=0.0)
    made = plan(1e8, "scan", CONSTANTS, told, MACHINE)
    assert made.machines == 1
    assert made.nbytes == pytest.approx(1.6e9)
    assert made.seconds == pytest.approx(0.1)
    assert made.per_second == pytest.approx(10 / 0.2)
    assert made.price_a_million == pytest.approx(1e6 * 100 / (50 * 30 * 24 * 3600))
    ten_times = plan(1e9, "scan", CONSTANTS, told, MACHINE)
    assert ten_times.machines == 10
    assert ten_times.seconds == pytest.approx(0.1 + 0.001)


def test_memory_alone_can_ask_for_machines(simulated):
    made = plan(1e10, "pruned", replace(CONSTANTS, pruned=replace(SCAN, query_seconds=1e-9)), simulated, MACHINE)
    assert made.machines == 3  # 160 GB in machines that give 75 each


def test_a_scan_is_not_planned_faster_than_memory(simulated):
    slow = replace(MACHINE, bytes_per_second=8e9)
    assert plan(1e8, "scan", CONSTANTS, replace(simulated, merge_seconds=0.0), slow).seconds == pytest.approx(0.1)
    assert plan(1e8, "scan", CONSTANTS, simulated, replace(slow, bytes_per_second=1e9)).machines == 8


@given(st.floats(1e3, 1e11), st.sampled_from(["scan", "pruned"]))
def test_every_plan_fits_in_memory_and_answers_in_time(simulated, photos, kind):
    made = plan(photos, kind, CONSTANTS, replace(simulated, merge_seconds=0.0), MACHINE)
    assert made.nbytes <= made.machines * 75e9
    assert made.seconds <= 0.1 + 0.001 + 1e-9
    assert made.per_second > 0


def test_record_are_kept_and_read_again(simulated, tmp_path):
    record = ScaleRecord((CONSTANTS,), simulated)
    (tmp_path / "kept.json").write_text(json.dumps(asdict(record)))
    assert read_record(tmp_path / "kept.json", ScaleRecord.from_record) == record
    page = scale.page(record, MACHINE)
    assert "| 10,000,000,000 | 64 | pruned |" in page
    assert "equal, 2 queries" in page
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(BadArgument, match="not a record"):
        read_record(tmp_path / "other.json", ScaleRecord.from_record)


def test_scale_is_measured_recorded_and_printed_again(run, tmp_path):
    run(scale, *QUICK, "--folder", tmp_path, "--out", tmp_path / "scale.json")
    assert json.loads((tmp_path / "scale.json").read_text())["simulation"]["is_exact"] is True
    printed = run(scale, "--show", tmp_path / "scale.json", "--price", 1)
    assert "at 1 a month" in printed.stdout
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("shards-")] == []


def test_wrong_hits_end_with_an_error(run, monkeypatch):
    monkeypatch.setattr("scale._are_equal", lambda *_: False)
    assert "WRONG" in run(scale, *QUICK, code=1).stdout


@pytest.mark.parametrize(
    ("script", "options"),
    [
        (indexing, ("--show", RESULTS / "index-speed.json")),
        (decoding, ("--show", RESULTS / "decoding.json")),
        (scale, ("--show", RESULTS / "scale.json", "--indexing", RESULTS / "index-speed.json")),
    ],
    ids=["indexing", "decoding", "scale"],
)
def test_the_document_has_the_tables_of_the_recorded_run(run, script, options):
    document = (RESULTS.parent / "docs" / "scale.md").read_text(encoding="utf-8")
    for block in run(script, *options).stdout.strip().split("\n\n"):
        assert block in document
