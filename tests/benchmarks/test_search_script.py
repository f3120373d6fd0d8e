import json
from functools import partial
from time import sleep, thread_time

import numpy as np
import pytest
from PIL import Image

import search
from code_galleries import clustered_gallery
from search import Engine, aims_list, available_engines, check_aims, compare, draw, paper_table, speed_table
from sketchhash.codes import hamming
from sketchhash.errors import MissingExtra
from sketchhash.index.scan import ScanIndex
from timing import Schedule, interleaved


@pytest.fixture(scope="module")
def gallery():
    return clustered_gallery(2000, 64, np.random.default_rng(0))


def test_every_engine_is_timed_and_ours_are_checked(gallery):
    engines, _ = available_engines()
    times = compare(gallery, engines, seconds=0.01)
    assert [result.engine for result in times.results] == list(engines)
    assert (times.kind, times.size, times.bits) == ("clustered", 2000, 64)
    for result in times.results:
        is_ours = result.engine in ("scan", "pruned")
        assert result.has_reference_hits is (True if is_ours else None)
        assert (result.per_second_on_all_cores is not None) == is_ours
        assert 0 < result.one.best <= result.one.p50
        assert result.per_second > 0
        assert result.load_seconds > result.build_seconds >= 0
        assert result.nbytes >= gallery.codes.nbytes


def test_wrong_hits_are_noticed(gallery):
    scan = available_engines()[0]["scan"]

    def build(codes):
        right = scan(codes)

        def search(queries, k):
            hits = right.search_on_all_cores(queries, k)
            hits[-1].ids[-1] += 1
            return hits

        return Engine(right.nbytes, search, search)

    (result,) = compare(gallery, {"scan": build}, seconds=0).results
    assert result.has_reference_hits is False


@pytest.mark.parametrize("name", ["faiss", "NumPy"])
def test_peers_find_codes_as_near_as_the_nearest(gallery, name):
    engines, _ = available_engines()
    if name not in engines:
        pytest.skip(f"{name} is not installed")
    found = engines[name](gallery.codes).search(gallery.queries[:1], 10)
    ids = np.asarray(found[1] if name == "faiss" else found)[0]
    distances = hamming(gallery.queries[:1], gallery.codes)[0]
    np.testing.assert_array_equal(np.sort(distances[ids]), np.sort(distances)[:10])


def test_a_missing_peer_is_left_out_with_a_note(monkeypatch):
    def require(module, extra):
        raise MissingExtra(module, extra)

    monkeypatch.setattr("search.require", require)
    engines, notes = available_engines()
    assert list(engines) == ["scan", "pruned", "NumPy"]
    assert [note.split(".")[0] for note in notes] == ["faiss is left out", "usearch is left out"]
    assert all("[bench]'" in note for note in notes)


def test_a_slow_engine_gets_a_shorter_batch(gallery):
    asked = []

    def search(queries, k):
        asked.append(len(queries))

    def build(codes):
        return Engine(codes.nbytes, search)

    compare(gallery, {"quick": build}, seconds=10)
    assert max(asked) == len(gallery.queries)
    asked.clear()
    compare(gallery, {"quick": build}, seconds=0)
    assert max(asked) == 1


def test_calls_take_turns():
    calls = []
    both = {name: partial(lambda name, number: calls.append((name, number)), name) for name in ("one", "other")}
    timings = interleaved(both, Schedule(rounds=2, calls_a_turn=2, seconds=60))
    turns = [("one", 0), ("one", 1), ("other", 0), ("other", 1), ("one", 2), ("one", 3), ("other", 2), ("other", 3)]
    assert calls == turns
    assert timings["one"].calls == timings["other"].calls == 4


def test_what_is_slow_is_called_less_often_but_three_times():
    calls = {"slow": lambda number: sleep(0.02), "quick": lambda number: None}
    timings = interleaved(calls, Schedule(rounds=10, calls_a_turn=5, seconds=0.1))
    assert 3 <= timings["slow"].calls <= 7
    assert timings["quick"].calls == 50
    assert timings["slow"].p50 >= timings["slow"].best >= 0.02
    assert interleaved(calls, Schedule(rounds=4, calls_a_turn=5, seconds=0))["slow"].calls == 3


def test_processor_time_does_not_count_what_others_take():
    timings = interleaved({"wait": lambda number: sleep(0.05)}, Schedule(1, 3, 60), thread_time)
    assert timings["wait"].p50 < 0.02


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_times_are_written_in_terms_of_the_scan(timed):
    table = speed_table([timed("random", 1000, 64, read=0.1, scan=0.2, faiss=0.5)]).splitlines()
    read, scan, faiss = map(cells, table[2:])
    assert read[:7] == ["random", "1,000", "64", "read", "0.100", "0.100", "0.50"]
    assert scan[3:] == ["scan", "0.200", "0.100", "1.00", "10,000", "1.00", "20,000", "0.25", "0.50", "3.00", "equal"]
    assert faiss[3:] == ["faiss", "0.500", "0.250", "2.50", "4,000", "2.50", "", "0.25", "0.50", "3.00", ""]
    assert {len(cells(line)) for line in table} == {14}


def test_wrong_hits_stand_out(timed):
    assert "| WRONG |" in speed_table([timed("random", 1000, 64, read=0.1, scan=0.2, has_reference_hits=False)])


def test_the_papers_numbers_stand_beside_ours_at_its_sizes(timed):
    measured = [
        timed("clustered", 204_489, 128, read=0.1, scan=0.2, pruned=0.04),
        timed("clustered", 73_002, 32, read=0.1, scan=0.02, pruned=0.01),
        timed("random", 73_002, 32, read=0.1, scan=0.02, pruned=0.01),
        timed("clustered", 1000, 32, read=0.1, scan=0.02, pruned=0.01),
    ]
    rows = [cells(line) for line in paper_table(measured).splitlines()[2:]]
    assert rows == [
        ["204,489", "128", "1.050", "0.200", "0.040", "3.12", "3.12", "3.00"],
        ["73,002", "32", "0.255", "0.020", "0.010", "0.28", "0.28", "3.00"],
    ]


@pytest.mark.parametrize(("faiss", "word"), [(0.41, "met"), (0.39, "missed")])
def test_an_aim_is_met_or_missed(timed, faiss, word):
    one, batch = check_aims([timed("random", 204_489, 64, read=0.1, scan=0.2, faiss=faiss)])
    assert one.ratio == pytest.approx(faiss / 0.2)
    assert one.is_met is (word == "met")
    assert not batch.is_met
    line = aims_list([one])
    assert (
        line == f"- {word}: one query, scan against faiss, 204,489 random codes of 64 bits: {faiss / 0.2:.2f} (aim 2)"
    )


def test_the_aims_at_a_million_are_about_reading_and_pruning(timed):
    measured = [
        timed("clustered", 1_000_000, 128, read=0.9, scan=1.0, pruned=0.05, faiss=2.0),
        timed("random", 1_000_000, 64, read=0.9, scan=1.0, pruned=0.05),
    ]
    reading, pruning = check_aims(measured)
    assert (reading.ratio, reading.least) == (pytest.approx(0.9), 0.8)
    assert (pruning.ratio, pruning.least) == (pytest.approx(20), 15)


def test_an_aim_whose_peer_is_missing_is_not_judged(timed):
    assert check_aims([timed("random", 204_489, 64, read=0.1, scan=0.2)]) == []


def test_the_plot_is_a_picture_with_a_panel_for_each_kind_and_width(timed, tmp_path):
    pytest.importorskip("matplotlib")
    some = [timed("random", size, 64, read=0.1, scan=0.2) for size in (1000, 2000)]
    draw(some, tmp_path / "one.png")
    draw([*some, timed("clustered", 1000, 128, read=0.1, scan=0.2, faiss=0.3)], tmp_path / "four.png")
    with Image.open(tmp_path / "one.png") as small, Image.open(tmp_path / "four.png") as large:
        one, four = small.size, large.size
    assert four == (2 * one[0], 2 * one[1])


@pytest.fixture
def in_no_time(monkeypatch):
    monkeypatch.setattr("search._QUICK_SECONDS", 0.0)


def test_the_table_goes_to_stdout_and_messages_to_stderr(run, in_no_time):
    result = run(search, "--quick", "--size", 500, "--size", 600, "--bits", 32)
    rows = [line for line in result.stdout.splitlines() if line.startswith(("| random", "| clustered"))]
    assert sum("| scan |" in row for row in rows) == 4
    assert all(row.endswith("| equal |") for row in rows if "| scan |" in row or "| pruned |" in row)
    assert "No aim is about these sizes." in result.stdout
    assert "500 random codes of 32 bits" in result.stderr
    assert "codes of" not in result.stdout


def test_a_record_holds_every_gallery(run, in_no_time, tmp_path):
    lengths = ("--bits", 32, "--bits", 64)
    written = ("--out", tmp_path / "speed.json", "--plot", tmp_path / "speed.png")
    run(search, "--quick", "--size", 500, *lengths, *written)
    record = json.loads((tmp_path / "speed.json").read_text())
    kinds = [(each["kind"], each["size"], each["bits"]) for each in record["galleries"]]
    assert kinds == [("random", 500, 32), ("clustered", 500, 32), ("random", 500, 64), ("clustered", 500, 64)]
    assert record["galleries"][0]["results"][0]["one"]["p50"] > 0
    assert record["aims"] == []
    assert (tmp_path / "speed.png").stat().st_size > 1000


def test_wrong_hits_end_with_an_error(run, in_no_time, monkeypatch):
    right = ScanIndex.search

    def reversed_search(self, queries, k, among=None):
        return [type(hits)(hits.ids[::-1], hits.distances) for hits in right(self, queries, k, among)]

    monkeypatch.setattr(ScanIndex, "search", reversed_search)
    result = run(search, "--quick", "--size", 500, "--bits", 32, code=1)
    assert "| WRONG |" in result.stdout
    assert "differ" in result.stderr


@pytest.mark.parametrize("wrong", [("--size", "many"), ("--size", "0"), ("--bits", "32,")])
def test_numbers_that_make_no_sense_are_refused(run, wrong):
    run(search, "--quick", *wrong, code=2)


def test_a_length_that_no_code_has_is_refused(run_process):
    result = run_process("search", "--quick", "--size", 10, "--bits", 12)
    assert result.returncode == 2
    assert result.stderr.startswith("Error: ") or "Error:" in result.stderr
    assert "Traceback" not in result.stderr
