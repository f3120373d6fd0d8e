"""Kills, nonsense, damage and people who draw are counted, and what is not as promised is a fault."""

import json
from collections import deque
from dataclasses import asdict

import numpy as np
import pytest

import drawing
import reliability
from reliability import (
    Outcome,
    Reliability,
    decode_damage,
    draw,
    kill_indexing,
    open_damage,
    page,
    send_nonsense,
    write_photos,
)
from sketchhash.gallery import GalleryFile


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(reliability, "_LONGEST_LIFE", 0.3)
    write_photos(tmp_path / "photos", 4, np.random.default_rng(1))
    return tmp_path


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(drawing, "_INDEX_EVERY", 0.5)
    monkeypatch.setattr(drawing, "_NEW_PHOTOS", 2)
    monkeypatch.setattr(drawing, "_LONGEST_LOOK", 0.2)


def last(outcomes):
    """Return the last of the outcomes that a part yields."""
    return deque(outcomes, 1).pop()


def test_indexing_that_is_killed_finishes_in_the_end(place, model_folder):
    outcome = last(kill_indexing(place, model_folder, 1, np.random.default_rng(1)))
    assert (outcome.done, outcome.ends, outcome.faults) == (1, {"killed": 1}, [])


def test_a_gallery_that_is_lost_is_a_fault(place, model_folder, monkeypatch):
    monkeypatch.setattr(GalleryFile, "damage", lambda _: ["a page is broken"])
    outcome = last(kill_indexing(place, model_folder, 1, np.random.default_rng(1)))
    assert "a page is broken" in outcome.faults


def test_requests_are_counted_by_their_answer(place, model_folder):
    outcome = last(send_nonsense(place, model_folder, 20, np.random.default_rng(1)))
    assert sum(outcome.ends.values()) == outcome.done == 20
    assert outcome.faults == []


def test_an_answer_of_500_is_a_fault(place, model_folder, monkeypatch):
    monkeypatch.setattr(reliability, "_send", lambda *_: "500")
    outcome = last(send_nonsense(place, model_folder, 2, np.random.default_rng(1)))
    assert outcome.faults == ["request 1: 500", "request 2: 500"]


def test_damaged_files_are_decoded_or_refused():
    outcome = last(decode_damage(16, np.random.default_rng(1)))
    assert sum(outcome.ends.values()) == 16
    assert outcome.ends.keys() <= {"decoded", "refused"}
    assert outcome.ends["refused"] > 0
    assert outcome.faults == []


def test_damaged_galleries_are_read_or_explained(place, model_folder):
    outcome = last(open_damage(place, model_folder, 12, np.random.default_rng(1)))
    assert sum(outcome.ends.values()) == outcome.done == 12
    assert outcome.ends.keys() <= {"read", "explained"}
    assert outcome.ends["explained"] > 0
    assert outcome.faults == []


def test_a_damaged_gallery_that_is_not_explained_is_a_fault(place, model_folder, monkeypatch):
    monkeypatch.setattr(reliability, "_use", lambda *_: {}["a traceback"])
    outcome = last(open_damage(place, model_folder, 1, np.random.default_rng(1)))
    assert outcome.faults == ["gallery 1: KeyError('a traceback')"]


@pytest.mark.usefixtures("quick")
def test_people_are_answered_while_photos_are_added(place, model_folder):
    outcomes = list(draw(place, model_folder, 1, np.random.default_rng(1)))
    assert outcomes[-1].ends.keys() == {"200"}
    assert outcomes[-1].faults == []
    assert outcomes[-1].p99_seconds > 0
    assert len(list((place / "photos").iterdir())) == 4 + 2 * len(outcomes)


@pytest.mark.usefixtures("quick")
def test_photos_that_are_not_found_are_a_fault(place, model_folder, monkeypatch):
    monkeypatch.setattr(drawing, "read_metric", lambda *_: 5)
    (first, *_) = list(draw(place, model_folder, 1, np.random.default_rng(1)))
    assert first.faults == ["the service finds 5 of 6 photos"]


def test_a_record_is_read_as_it_was_written():
    found = Reliability(requests=Outcome(2, {"200": 2}, ["request 1: 500"], 1.5, 2_000_000, 0.02))
    assert Reliability.from_record(json.loads(json.dumps(asdict(found)))) == found
    assert "| requests | 2 | 200 2 | request 1: 500 | 2 s | +2 MB | 20 ms |" in page(found)


def test_a_record_is_gone_on_with(run, tmp_path):
    record = tmp_path / "record.json"
    counts = ("--kills", 0, "--requests", 0, "--galleries", 0, "--minutes", 0, "--out", record)
    run(reliability, *counts, "--files", 8)
    run(reliability, *counts, "--files", 20, "--resume")
    found = Reliability.from_record(json.loads(record.read_text()))
    assert found.files.done == sum(found.files.ends.values()) == 20
    assert Reliability.from_record(json.loads(record.read_text())).faults == []


def test_there_must_be_a_record_to_go_on_with(run):
    assert "--out" in str(run(reliability, "--resume", code=1).exception)
