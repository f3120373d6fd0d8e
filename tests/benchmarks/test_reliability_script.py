"""Kills, nonsense and damage are counted, and what is not as promised is a fault."""

import json
from dataclasses import asdict

import numpy as np
import pytest

import reliability
from reliability import Outcome, Reliability, decode_damage, kill_indexing, page, send_nonsense, write_photos
from sketchhash.gallery import GalleryFile

NOTHING = Outcome(0, {}, [], 0.0, 0)


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(reliability, "_PHOTOS", 4)
    monkeypatch.setattr(reliability, "_LONGEST_LIFE", 0.3)
    write_photos(tmp_path / "photos", 4, np.random.default_rng(1))
    return tmp_path


def test_indexing_that_is_killed_finishes_in_the_end(place, model_folder, monkeypatch):
    monkeypatch.setattr(reliability, "default_model_folder", lambda: model_folder)
    outcome = kill_indexing(place, model_folder, 1, np.random.default_rng(1))
    assert (outcome.done, outcome.ends, outcome.faults) == (1, {"killed": 1}, [])


def test_a_gallery_that_is_lost_is_a_fault(place, model_folder, monkeypatch):
    monkeypatch.setattr(reliability, "default_model_folder", lambda: model_folder)
    monkeypatch.setattr(GalleryFile, "damage", lambda _: ["a page is broken"])
    outcome = kill_indexing(place, model_folder, 1, np.random.default_rng(1))
    assert "a page is broken" in outcome.faults


def test_requests_are_counted_by_their_answer(place, model_folder):
    outcome = send_nonsense(place, model_folder, 20, np.random.default_rng(1))
    assert sum(outcome.ends.values()) == 20
    assert outcome.faults == []


def test_an_answer_of_500_is_a_fault(place, model_folder, monkeypatch):
    monkeypatch.setattr(reliability, "_send", lambda *_: 500)
    assert send_nonsense(place, model_folder, 2, np.random.default_rng(1)).faults == [
        "request 0: 500",
        "request 1: 500",
    ]


def test_damaged_files_are_decoded_or_refused():
    outcome = decode_damage(16, np.random.default_rng(1))
    assert sum(outcome.ends.values()) == 16
    assert outcome.ends.keys() <= {"decoded", "refused"}
    assert outcome.ends["refused"] > 0
    assert outcome.faults == []


def test_a_record_is_read_as_it_was_written():
    found = Reliability(NOTHING, Outcome(2, {"200": 2}, ["request 1: 500"], 1.5, 2_000_000), NOTHING)
    assert Reliability.from_record(json.loads(json.dumps(asdict(found)))) == found
    assert "| requests | 2 | 200 2 | request 1: 500 | 2 s | +2 MB |" in page(found)
