"""Searching over HTTP: by strokes, by pictures, and by photos of the gallery."""

import numpy as np
import pytest

from sketchhash.codes import hamming, pack, unpack
from sketchhash.gallery import index_photos
from sketchhash.imaging import Drawing


def search(client, **query):
    answer = client.post("/api/search", json=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def send(client, content, **fields):
    return client.post("/api/search", files={"picture": ("x.png", content)}, data=fields)


def test_strokes_find_photos_whose_bits_agree_with_the_values_of_the_drawing(client, strokes, model, gallery):
    found = search(client, strokes=strokes, k=3)
    (values,) = model.encode_drawing(Drawing.from_json(strokes))
    code = pack(values[np.newaxis])
    codes = {photo.id: np.frombuffer(gallery.code(photo.id), np.uint8)[None] for photo in gallery.photos()}
    best = sorted(codes, key=lambda photo: -float(unpack(codes[photo])[0] @ values))[:3]
    assert [hit["id"] for hit in found["hits"]] == best
    assert [hit["distance"] for hit in found["hits"]] == [int(hamming(code, codes[photo])[0, 0]) for photo in best]
    assert (found["code"], found["bits"], found["photos"]) == (code.tobytes().hex(), 32, 6)


def test_hits_say_where_they_lie_below_the_folder_that_all_photos_share(client, strokes):
    found = search(client, strokes=strokes)
    places = {(hit["folder"], hit["name"], hit["label"]) for hit in found["hits"]}
    assert ("2024/summer", "b.png", "summer") in places
    assert ("", "f.png", "photos") in places
    assert len(places) == 6


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({"folder": "2024"}, {"b.png", "c.png", "d.png", "e.bmp"}),
        ({"folder": "2024/summer"}, {"b.png", "c.png"}),
        ({"folder": "/2024/summer/"}, {"b.png", "c.png"}),
        ({"label": "winter"}, {"d.png", "e.bmp"}),
        ({"folder": "2023", "label": "winter"}, set()),
        ({"folder": "../../../etc"}, set()),
        ({"folder": "2024/\x00"}, set()),
    ],
)
def test_a_search_can_be_narrowed_down(client, strokes, wanted, names):
    assert {hit["name"] for hit in search(client, strokes=strokes, **wanted)["hits"]} == names


def test_similarity_falls_as_the_distance_grows(client, strokes):
    hits = search(client, strokes=strokes)["hits"]
    assert [hit["similarity"] for hit in hits] == sorted((hit["similarity"] for hit in hits), reverse=True)


def test_a_search_tells_how_long_its_stages_took(client, strokes):
    answer = client.post("/api/search", json={"strokes": strokes})
    timings = answer.json()["timings_ms"]
    assert timings["total"] >= timings["ink"] + timings["encode"] + timings["search"] - 0.03 > 0
    assert answer.headers["server-timing"].startswith(f"ink;dur={timings['ink']}, encode;dur=")


def test_a_photo_that_is_sent_again_is_found_at_no_distance(client, photos):
    found = send(client, (photos / "2024/winter/d.png").read_bytes(), kind="photo", k="2").json()
    assert (found["hits"][0]["name"], found["hits"][0]["distance"]) == ("d.png", 0)
    assert len(found["hits"]) == 2


def test_a_picture_of_a_sketch_gets_the_code_of_a_sketch(client, tmp_path, paint_sketch, model):
    content = paint_sketch(tmp_path / "sketch.png").read_bytes()
    as_sketch, as_photo = (send(client, content, kind=kind, label="").json() for kind in ("sketch", "photo"))
    assert as_sketch["code"] != as_photo["code"]
    assert as_sketch["timings_ms"]["encode"] > 0


def test_similar_photos_leave_the_photo_itself_out(client, id_of):
    found = client.get(f"/api/photos/{id_of('f.png')}/similar", params={"k": 5}).json()
    assert len(found["hits"]) == 5
    assert id_of("f.png") not in {hit["id"] for hit in found["hits"]}


def test_similar_photos_can_be_narrowed_down(client, id_of):
    found = client.get(f"/api/photos/{id_of('f.png')}/similar", params={"folder": "2024", "label": "summer"}).json()
    assert {hit["name"] for hit in found["hits"]} == {"b.png", "c.png"}


def test_photos_indexed_meanwhile_are_found(client, strokes, gallery, model, photos, paint_photo):
    assert search(client, strokes=strokes)["photos"] == 6
    paint_photo(photos / "new.jpg", 99)
    list(index_photos(gallery, model, [photos]))
    found = search(client, strokes=strokes)
    assert found["photos"] == 7
    assert "new.jpg" in {hit["name"] for hit in found["hits"]}


def test_an_empty_gallery_finds_nothing_and_says_so(client, strokes, gallery, photos):
    gallery.remove([photos])
    found = search(client, strokes=strokes)
    assert (found["hits"], found["photos"], found["confidence"]) == ([], 0, "none")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "strokes"),
        ({"strokes": []}, "strokes"),
        ({"strokes": [[]]}, "draw something first"),
        ({"strokes": [[[1]]]}, "strokes.0.0"),
        ({"strokes": [[[1, "2"]]]}, "strokes.0.0.1"),
        ({"strokes": [[[1, 1e10]]]}, "strokes.0.0.1"),
        ({"strokes": [[[1, True]]]}, "strokes.0.0.1"),
        ({"strokes": [[[1, 2]]] * 2001}, "2000"),
        ({"strokes": [[[1, 2]] * 10_001] * 2}, "20,000 points"),
        ({"strokes": [[[1, 2]]], "k": 0}, "k: "),
        ({"strokes": [[[1, 2]]], "k": 501}, "500"),
        ({"strokes": [[[1, 2]]], "speed": 1}, "speed"),
        ([], "The request"),
    ],
)
def test_a_drawing_that_cannot_be_used_is_explained(client, body, reason):
    answer = client.post("/api/search", json=body)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (422, "bad_argument")
    assert reason in answer.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b'{"strokes": [[[NaN, 1]]]}', b"\xff\xfe", b'"\\ud800"'])
def test_broken_json_is_explained(client, body):
    answer = client.post("/api/search", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (422, "bad_argument")
    assert len(answer.text) < 500


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "image/png", ""])
def test_other_types_of_bodies_are_not_read(client, content_type):
    answer = client.post("/api/search", content=b"strokes", headers={"Content-Type": content_type})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (415, "unsupported_content")
