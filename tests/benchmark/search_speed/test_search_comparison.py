from functools import partial
from time import sleep

import numpy as np
import pytest

from sketchhash.benchmark.search_speed import available_engines, clustered_gallery, compare
from sketchhash.benchmark.search_speed.engines import Engine
from sketchhash.benchmark.search_speed.timing import Schedule, interleaved
from sketchhash.codes import hamming
from sketchhash.errors import MissingExtra


@pytest.fixture(scope="module")
def gallery():
    return clustered_gallery(2000, 64, np.random.default_rng(0))


def test_every_engine_is_timed_and_ours_are_checked(gallery):
    engines, _ = available_engines()
    comparison = compare(gallery, engines, seconds=0.01)
    assert [result.engine for result in comparison.results] == list(engines)
    assert (comparison.kind, comparison.size, comparison.bits) == ("clustered", 2000, 64)
    for result in comparison.results:
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

    monkeypatch.setattr("sketchhash.benchmark.search_speed.engines.require", require)
    engines, notes = available_engines()
    assert list(engines) == ["scan", "pruned", "NumPy"]
    assert [note.split(".")[0] for note in notes] == ["faiss is left out", "usearch is left out"]
    assert all("pip install 'sketchhash[bench]'" in note for note in notes)


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
