"""What a service says of its hits when the model is calibrated: verdict, chances, guesses, categories and examples."""

import shutil

import numpy as np
import pytest

from sketchhash.codes import unpack
from sketchhash.model import Calibration, QueryKind, write_calibration
from sketchhash.model.calibration import FEATURES, Head, unit
from sketchhash.server import open_service


def calibration_of(codes):
    """Know a cat, which is the first of some codes, and a dog, which is its opposite."""
    cat = unit(unpack(codes[:1]))
    vectors = np.concatenate([cat, -cat])
    answer = np.zeros(FEATURES)
    answer[1] = 1.0
    head = Head(answer, np.array([0.0, 1.0, 0.0]), 0.6)
    return Calibration(
        categories=("cat", "dog"),
        drawn=vectors,
        shown=vectors,
        drawing=np.array([9.0, 0.0, 0.0, 0.0]),
        photo=np.array([9.0, 0.0]),
        heads=dict.fromkeys(QueryKind, head),
        least_ink=0.0,
    )


@pytest.fixture
def calibrated(tmp_path, model_folder, gallery, gallery_file, id_of):
    folder = shutil.copytree(model_folder, tmp_path / "calibrated")
    codes = np.frombuffer(gallery.code(id_of("f.png")), dtype=np.uint8)[None]
    write_calibration(folder, calibration_of(codes))
    with open_service(gallery_file, folder) as service:
        yield service


@pytest.fixture
def calibrated_client(client_for, calibrated):
    return client_for(calibrated)


def test_hits_carry_chances_that_never_rise_and_the_likely_come_first(calibrated_client, strokes):
    found = calibrated_client.post("/api/search", json={"strokes": strokes}).json()
    assert found["verdict"] in ("sure", "unsure", "unknown")
    assert 0 <= found["chance"] <= 1
    chances = [hit["chance"] for hit in found["hits"]]
    assert len(chances) == 6
    assert chances == sorted(chances, reverse=True)
    likely = [hit["likely"] for hit in found["hits"]]
    assert likely == sorted(likely, reverse=True)
    assert any(likely) == (found["verdict"] == "sure")
    guessed = [guess["chance"] for guess in found["guesses"]]
    assert guessed == sorted(guessed, reverse=True)
    assert {guess["category"] for guess in found["guesses"]} <= {"cat", "dog"}


def test_fewer_hits_have_the_same_verdict_and_chances(calibrated_client, strokes):
    many, one = (calibrated_client.post("/api/search", json={"strokes": strokes, "k": k}).json() for k in (6, 1))
    assert (one["verdict"], one["chance"], one["guesses"]) == (many["verdict"], many["chance"], many["guesses"])
    assert len(one["hits"]) == 1


def test_a_category_finds_its_photos_first(calibrated_client):
    found = calibrated_client.post("/api/search/category", json={"category": "cat", "k": 3}).json()
    assert found["hits"][0]["name"] == "f.png"
    assert found["hits"][0]["distance"] == 0
    assert found["guesses"] == [{"category": "cat", "chance": 1.0}]
    assert found["timings_ms"]["encode"] == 0
    narrowed = calibrated_client.post("/api/search/category", json={"category": "cat", "folder": "2023"}).json()
    assert [hit["name"] for hit in narrowed["hits"]] == ["a.png"]


def test_photos_and_similar_photos_are_judged_too(calibrated_client, photos, id_of):
    content = (photos / "f.png").read_bytes()
    sent = calibrated_client.post("/api/search", files={"picture": ("x.png", content)}, data={"kind": "photo"}).json()
    similar = calibrated_client.get(f"/api/photos/{id_of('f.png')}/similar").json()
    assert sent["guesses"][0]["category"] == similar["guesses"][0]["category"] == "cat"
    assert sent["chance"] is not None and similar["chance"] is not None
    assert len(similar["hits"]) == 5


def test_a_gallery_without_photos_knows_nothing(calibrated_client, gallery, photos, strokes):
    gallery.remove([photos])
    found = calibrated_client.post("/api/search", json={"strokes": strokes}).json()
    assert (found["hits"], found["verdict"], found["chance"]) == ([], "unknown", 0)


def test_examples_are_drawings_that_the_gallery_answers(calibrated_client, gallery, photos):
    (example,) = calibrated_client.get("/api/examples").json()
    assert example["name"] == "cat"  # of the twenty, the one that the model knows
    found = calibrated_client.post("/api/search", json={"strokes": example["strokes"]}).json()
    assert (found["verdict"], found["guesses"][0]["category"]) == ("sure", "cat")
    gallery.remove([photos])
    assert calibrated_client.get("/api/examples").json() == []
