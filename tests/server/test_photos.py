"""Photos over HTTP: by id, as they were indexed, and nothing else."""

import io
import os
from datetime import datetime
from pathlib import Path

import pytest
from PIL import ExifTags, Image

from sketchhash.gallery import index_events


def test_a_photo_comes_as_it_is_on_the_disk(client, photos, id_of):
    answer = client.get(f"/api/photos/{id_of('f.png')}")
    assert answer.content == (photos / "f.png").read_bytes()
    assert answer.headers["content-type"] == "image/png"
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_a_format_that_browsers_do_not_show_comes_as_jpeg(client, id_of):
    answer = client.get(f"/api/photos/{id_of('2024/winter/e.bmp')}")
    assert answer.headers["content-type"] == "image/jpeg"
    with Image.open(io.BytesIO(answer.content)) as picture:
        assert (picture.format, picture.size) == ("JPEG", (8, 6))


def test_a_thumbnail_is_a_jpeg_of_the_gallery(client, gallery, id_of):
    answer = client.get(f"/api/photos/{id_of('f.png')}/thumbnail")
    assert answer.headers["content-type"] == "image/jpeg"
    assert answer.content == gallery.thumbnail(id_of("f.png"))


@pytest.mark.parametrize("kind", ["", "/thumbnail"])
def test_pictures_of_this_edition_may_be_kept_for_ever(client, service, id_of, kind):
    address = f"/api/photos/{id_of('f.png')}{kind}"
    assert "immutable" in client.get(address, params={"v": service.edition}).headers["cache-control"]
    assert client.get(address).headers["cache-control"] == "private, no-cache"
    assert client.get(address, params={"v": "another"}).headers["cache-control"] == "private, no-cache"


@pytest.mark.parametrize("kind", ["", "/thumbnail"])
def test_a_picture_that_the_client_has_is_not_sent_again(client, id_of, kind):
    address = f"/api/photos/{id_of('f.png')}{kind}"
    etag = client.get(address).headers["etag"]
    again = client.get(address, headers={"If-None-Match": f'"other", W/{etag}'})
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", etag)
    assert client.get(address, headers={"If-None-Match": '"other"'}).status_code == 200


def test_details_tell_size_and_place(client, photos, id_of):
    photo = id_of("2024/winter/e.bmp")
    details = client.get(f"/api/photos/{photo}/details").json()
    assert details.pop("indexed_at").startswith("20")
    modified = datetime.fromisoformat(details.pop("modified_at")).timestamp()
    assert modified == pytest.approx((photos / "2024/winter/e.bmp").stat().st_mtime, abs=0.001)
    assert details == {
        "id": photo,
        "path": str(photos / "2024/winter/e.bmp"),
        "label": "winter",
        "size": (photos / "2024/winter/e.bmp").stat().st_size,
        "taken_at": None,
        "camera": None,
        "description": None,
        "latitude": None,
        "longitude": None,
        "width": 8,
        "height": 6,
    }


def test_details_of_a_photo_on_its_side_are_those_of_the_upright_picture(client, photos, gallery, model):
    picture = Image.new("RGB", (20, 10))
    exif = picture.getexif()
    exif[0x0112] = 6
    picture.save(photos / "side.jpg", exif=exif)
    list(index_events(gallery, model, [photos]))
    details = client.get(f"/api/photos/{gallery.at(photos / 'side.jpg').id}/details").json()
    assert (details["width"], details["height"]) == (10, 20)


@pytest.mark.parametrize(
    ("written", "taken"),
    [("2024:07:14 16:05:00", "2024-07-14T16:05:00"), ("yesterday", None), ("0000:00:00 00:00:00", None)],
)
def test_details_tell_when_a_photo_was_taken(client, photos, gallery, model, written, taken):
    exif = Image.Exif()
    exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.DateTimeOriginal] = written
    Image.new("RGB", (20, 10), "red").save(photos / "holiday.jpg", exif=exif)
    list(index_events(gallery, model, [photos]))
    details = client.get(f"/api/photos/{gallery.at(photos / 'holiday.jpg').id}/details").json()
    assert details["taken_at"] == taken


@pytest.mark.parametrize("kind", ["", "/thumbnail", "/details", "/similar"])
def test_a_photo_that_is_not_in_the_gallery_is_not_found(client, kind):
    answer = client.get(f"/api/photos/{2**63 - 1}{kind}")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (404, "no_such_photo")
    assert ".gallery" not in answer.text


@pytest.mark.parametrize("photo", ["0", "-1", str(2**63), "1.5", "one"])
def test_what_is_no_id_is_refused(client, photo):
    for kind in ("", "/thumbnail", "/details", "/similar"):
        assert client.get(f"/api/photos/{photo}{kind}").status_code == 422


@pytest.mark.parametrize(
    "path",
    [
        "/api/photos/..%2f..%2fetc%2fpasswd",
        "/api/photos/%2e%2e/%2e%2e/etc/passwd",
        "/api/photos//etc/passwd",
        "/static/..%2fapp.py",
        "/static/%2e%2e/app.py",
        "/static/..%5capp.py",
        "/static//etc/passwd",
        "/static/..%00/app.py",
        "/etc/passwd",
    ],
)
def test_paths_lead_nowhere(client, path):
    answer = client.get(path)
    assert answer.status_code in (404, 422)
    assert answer.json()["error"]["message"]


def test_a_file_that_has_changed_is_not_given_out(client, photos, id_of, tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(b"\xff\xd8\xff private")
    photo = id_of("f.png")
    (photos / "f.png").unlink()
    (photos / "f.png").symlink_to(secret)
    answer = client.get(f"/api/photos/{photo}")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (404, "no_such_photo")
    assert client.get(f"/api/photos/{photo}/details").json()["width"] == 8  # as it was indexed
    assert client.get(f"/api/photos/{photo}/thumbnail").status_code == 200


def test_a_file_that_is_gone_or_a_pipe_is_not_waited_for(client, photos, id_of):
    photo = id_of("f.png")
    (photos / "f.png").unlink()
    assert client.get(f"/api/photos/{photo}").status_code == 404
    os.mkfifo(photos / "f.png")
    assert client.get(f"/api/photos/{photo}").status_code == 404


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="descriptors are counted in /proc")
def test_a_folder_in_the_place_of_a_photo_leaves_no_descriptor_open(client, photos, id_of):
    photo = id_of("f.png")
    (photos / "f.png").unlink()
    (photos / "f.png").mkdir()
    client.get(f"/api/photos/{photo}")  # whatever the first request opens for good
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(10):
        assert client.get(f"/api/photos/{photo}").status_code == 404
        assert client.get(f"/api/photos/{photo}/details").json()["width"] == 8
    assert len(list(Path("/proc/self/fd").iterdir())) <= before
