"""The gallery as a whole: numbers, folders, samples and the map."""

import os
from types import SimpleNamespace

import numpy as np

from sketchhash.gallery import Sample, index_events
from sketchhash.server.overview import map_codes
from sketchhash.server.photos import common_root


def test_the_gallery_is_told_in_numbers(client, service):
    told = client.get("/api/gallery").json()
    assert (told["photos"], told["bits"], told["memory_bytes"]) == (6, 32, 6 * 12)
    assert told["labels"] == {"2023": 1, "photos": 1, "summer": 2, "winter": 2}
    assert told["folders"] == [{"path": "2023", "photos": 1}, {"path": "2024", "photos": 4}]
    assert told["model"] == {"name": "tiny", "categories": ["cat", "dog"], "card": "# tiny\n", "scores": {"map": 0.5}}
    assert told["edition"] == service.edition
    assert told["last_indexed"].startswith("20")


def test_folders_are_told_at_any_depth(client):
    def folders(below):
        return client.get("/api/gallery/folders", params={"below": below}).json()

    assert folders("") == client.get("/api/gallery").json()["folders"]
    assert folders("2024") == [{"path": "2024/summer", "photos": 2}, {"path": "2024/winter", "photos": 2}]
    assert folders("2024/summer") == folders("202") == folders("../..") == []


def test_the_numbers_follow_the_gallery(client, gallery, photos, model, paint_photo):
    assert client.get("/api/gallery").json()["photos"] == 6
    paint_photo(photos / "2023/more.jpg", 9)
    list(index_events(gallery, model, [photos]))
    assert client.get("/api/gallery").json()["folders"][0] == {"path": "2023", "photos": 2}
    gallery.remove([photos])
    told = client.get("/api/gallery").json()
    assert (told["photos"], told["folders"], told["last_indexed"]) == (0, [], None)
    assert client.get("/api/gallery/map").json() == []


def test_numbers_are_counted_again_only_after_a_change(service, gallery, photos):
    first = service.overview.get()
    assert service.overview.get() is first
    gallery.remove([photos / "f.png"])
    assert service.overview.get().photos == 5


def test_all_photos_lie_below_the_common_root(gallery, photos, tmp_path):
    assert common_root(gallery) == bytes(photos) + b"/"
    gallery.remove([photos / "2023", photos / "f.png"])
    assert common_root(gallery) == bytes(photos / "2024") + b"/"
    gallery.remove([photos / "2024/summer", photos / "2024/winter/e.bmp"])
    assert common_root(gallery) == bytes(photos / "2024/winter") + b"/"


def test_names_that_are_not_text_are_shown_escaped(client, photos, gallery, model, paint_photo, strokes):
    folder = photos / os.fsdecode(b"\xff")
    paint_photo(folder / os.fsdecode(b"\xfe.jpg"), 5)
    list(index_events(gallery, model, [photos]))
    hits = client.post("/api/search", json={"strokes": strokes}).json()["hits"]
    (hit,) = [hit for hit in hits if hit["folder"] == "\\xff"]
    assert hit["name"] == "\\xfe.jpg"
    assert client.get(f"/api/photos/{hit['id']}/details").json()["path"].endswith("\\xff/\\xfe.jpg")
    assert {"path": "\\xff", "photos": 1} in client.get("/api/gallery").json()["folders"]


def test_a_sample_is_spread_over_all_photos_that_are_left(gallery, photos, id_of):
    everything = gallery.sample(100)
    assert len(everything.ids) == 6
    assert everything.codes.tobytes() == b"".join(gallery.code(photo) for photo in everything.ids)
    some = gallery.sample(2)
    assert some.ids == (min(everything.ids), max(everything.ids))
    gallery.remove([photos / "2023", photos / "2024/summer"])
    assert set(gallery.sample(100).ids) == {photo.id for photo in gallery.photos()}


def test_the_map_says_what_photos_may_show():
    calibration = SimpleNamespace(
        categories=("cat", "dog"), photo_chances=lambda signs: np.array([[0.7, 0.2, 0.1], [0.1, 0.2, 0.7]])
    )
    sample = Sample((1, 2), (None, None), np.array([[0x00], [0xFF]], dtype=np.uint8))
    assert [point.guess for point in map_codes(sample, calibration)] == ["cat", None]
    assert [point.guess for point in map_codes(sample)] == [None, None]


def test_codes_that_are_alike_lie_close_on_the_map():
    rng = np.random.default_rng(0)
    centres = np.array([[0x00] * 8, [0xFF] * 8], dtype=np.uint8)
    codes = np.repeat(centres, 20, axis=0)
    codes[:, 0] ^= rng.integers(0, 256, 40, dtype=np.uint8)
    points = map_codes(Sample(tuple(range(40)), (None,) * 40, codes))
    left, right = ([point.x for point in half] for half in (points[:20], points[20:]))
    assert max(left) < min(right) or max(right) < min(left)
    assert all(-1 <= point.x <= 1 and -1 <= point.y <= 1 for point in points)


def test_the_map_shows_every_photo_of_a_small_gallery(client, gallery):
    points = client.get("/api/gallery/map").json()
    assert {point["id"] for point in points} == {photo.id for photo in gallery.photos()}
    assert {point["label"] for point in points} == {"2023", "photos", "summer", "winter"}
