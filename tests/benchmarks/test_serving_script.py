"""Users, their galleries and their times; one short run of all together."""

import json
import socket
from dataclasses import asdict
from time import perf_counter

import numpy as np
import pytest

import serving
from serving import (
    Memory,
    Pace,
    Reply,
    ServingTimes,
    draw_until,
    fill_with_random_codes,
    grow,
    measure,
    serving_table,
)
from sketchhash.gallery import GalleryFile
from sketchhash.imaging import Drawing
from sketchhash.model import Model


@pytest.fixture
def gallery_file(tmp_path, model_folder):
    path = tmp_path / "random.gallery"
    with GalleryFile.create(path, Model.load(model_folder)) as gallery:
        fill_with_random_codes(gallery, 500)
    return path


def test_a_drawing_grows_by_so_many_points_until_it_is_whole():
    drawing = Drawing.from_json([[[0, 0], [1, 1], [2, 2]], [[5, 5], [6, 6]]])
    grown = list(grow(drawing, 2))
    assert [sum(map(len, strokes)) for strokes in grown] == [2, 4, 5]
    assert grown[1] == [[[0, 0], [1, 1], [2, 2]], [[5, 5]]]
    assert grown[-1] == drawing.to_json()


def test_random_codes_make_a_gallery_like_any_other(gallery_file):
    with GalleryFile.open(gallery_file) as gallery:
        assert gallery.info().photos == 500
        assert len({gallery.code(photo.id) for photo in gallery.photos()}) > 490
        hits = gallery.search(np.ones(32), 500)
        assert 12 < np.mean([hit.distance for hit in hits]) < 20


def test_a_server_that_is_not_there_counts_as_no_answer():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    replies = draw_until(perf_counter() + 0.3, port, Pace(0.05, 12), np.random.default_rng(0))
    assert 1 <= len(replies) <= 7
    assert {reply.status for reply in replies} == {0}


def test_times_count_errors_apart_from_times():
    replies = [Reply(0, seconds / 1000, 200) for seconds in range(1, 101)] + [Reply(0, 9, 503), Reply(0, 9, 0)]
    times = ServingTimes.of(replies, users=2, seconds=10, photos=7, memory=Memory(1_000_000, 3_000_000))
    assert (times.requests, times.per_second, times.errors) == (102, 10.2, {503: 1, 0: 1})
    assert (times.p50_seconds, times.worst_seconds) == (pytest.approx(0.0505), pytest.approx(0.1))
    assert json.loads(json.dumps(asdict(times)))["errors"] == {"503": 1, "0": 1}
    table = serving_table(times)
    assert "| errors | 1 × no answer, 1 × 503 |" in table
    assert "+2.0 MB since warm" in table


def test_people_draw_against_a_server_of_this_machine(gallery_file, model_folder, monkeypatch):
    monkeypatch.setattr("serving._WARMING_SECONDS", 0.3)
    monkeypatch.setattr("serving._HOSTILE_SIDE", 100)
    times = measure(gallery_file, model_folder, users=2, seconds=1, uploads=1)
    assert (times.photos, times.errors, times.uploads.keys()) == (500, {}, {200})
    assert "| hostile pictures meanwhile |" in serving_table(times)
    assert 2 <= times.requests <= 20
    assert 0 < times.p50_seconds <= times.p99_seconds <= times.worst_seconds


def test_the_script_writes_a_record_beside_the_search_without_a_service(run, model_folder, monkeypatch, tmp_path):
    monkeypatch.setattr("serving._WARMING_SECONDS", 0.1)
    told = ("--model", model_folder, "--photos", 50, "--seconds", 1, "--users", 1, "--out", tmp_path / "serving.json")
    assert "| p50 × alone | " in run(serving, *told).stdout
    record = json.loads((tmp_path / "serving.json").read_text())
    assert (record["service"]["photos"], record["service"]["users"]) == (50, 1)
    assert record["alone"]["milliseconds"] > 0
