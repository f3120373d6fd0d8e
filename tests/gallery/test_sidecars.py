"""Sidecars: found by whatever name programs gave them, and followed when they change."""

import json
import os
from datetime import datetime
from types import SimpleNamespace
from unittest.mock import Mock

import pytest
from PIL import Image

from sketchhash.gallery.sidecars import NO_SIDECARS, SidecarFinder
from sketchhash.imaging import decoders
from sketchhash.imaging.details import MAX_SIDECAR_BYTES, read_with_details

XMP = """<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description
    xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:DateTimeOriginal="{date}"/></rdf:RDF>"""


@pytest.mark.parametrize(
    ("photo", "sidecar"),
    [
        ("a.jpg", "a.jpg.xmp"),
        ("a.jpg", "a.xmp"),
        ("A.JPG", "a.XMP"),
        ("a.jpg", "a.jpg.json"),
        ("a.jpg", "a.jpg.supplemental-metadata.json"),
        ("IMG_20230415_123456789.jpg", "IMG_20230415_123456789.jpg.supplemental-metada.json"),
        ("x" * 44 + ".jpg", "x" * 44 + ".j.json"),
        ("x" * 60 + ".jpg", "x" * 46 + ".json"),
        ("a(1).jpg", "a.jpg(1).json"),
        ("a(1).jpg", "a.jpg.supplemental-metadata(1).json"),
        ("a-edited.jpg", "a.jpg.json"),
        ("a-edited(2).jpg", "a.jpg.supplemental-metadata(2).json"),
    ],
)
def test_a_sidecar_is_found_by_any_of_its_names(tmp_path, photo, sidecar):
    (tmp_path / sidecar).write_text("{}")
    (tmp_path / "other.json").write_text("{}")
    found = SidecarFinder().beside(tmp_path / photo)
    assert (found.xmp or found.takeout) == tmp_path / sidecar
    assert found.stamp


@pytest.mark.parametrize("other", ["b.jpg.json", "a.jpg.txt", "ab.xmp", "a.json", "a(1).jpg.xmp"])
def test_what_belongs_to_another_photo_is_no_sidecar(tmp_path, other):
    (tmp_path / other).write_text("{}")
    assert SidecarFinder().beside(tmp_path / "a.jpg") == NO_SIDECARS


def test_the_sidecar_of_the_full_name_comes_first(tmp_path):
    (tmp_path / "a.xmp").write_text("raw")
    (tmp_path / "a.jpg.xmp").write_text("jpeg")
    assert SidecarFinder().beside(tmp_path / "a.jpg").xmp.name == "a.jpg.xmp"


def details(gallery, path):
    return gallery.details([gallery.at(path).id])[gallery.at(path).id]


def taken(gallery, path):
    return details(gallery, path).taken_at


def test_a_changed_sidecar_is_read_again_and_nothing_is_encoded(gallery, folder, photo, index, counts, monkeypatch):
    path = photo(folder / "a.png")
    assert counts(index()) == {"added": 1}
    assert taken(gallery, path) is None
    monkeypatch.setattr("sketchhash.gallery.examining.decode", None)
    sidecar = folder / "a.png.xmp"
    for date, moment in (("2021-05-06T07:08:09", datetime(2021, 5, 6, 7, 8, 9)), ("1999-01-01", datetime(1999, 1, 1))):
        sidecar.write_text(XMP.format(date=date))
        assert index().described == 1
        assert taken(gallery, path) == moment
        assert counts(index()) == {"unchanged": 1}
    sidecar.unlink()
    assert index().described == 1
    assert taken(gallery, path) is None


def test_a_copy_has_its_own_sidecar(gallery, folder, photo, index):
    one, other = photo(folder / "a.png", seed=1), photo(folder / "b.png", seed=1)
    (folder / "b.png.json").write_text(json.dumps({"photoTakenTime": {"timestamp": "1687600000"}}))
    index()
    assert (taken(gallery, one), taken(gallery, other)) == (None, datetime(2023, 6, 24, 9, 46, 40))


def test_old_galleries_are_completed_without_encoding_again(gallery, folder, index, counts, monkeypatch):
    exif = Image.Exif()
    exif.get_ifd(0x8769)[36867] = "2023:06:24 18:30:05"
    paths = [folder / f"{number}.jpg" for number in range(40)]
    for number, path in enumerate(paths):
        Image.new("RGB", (8, 6), (number, 0, 0)).save(path, exif=exif)
    index()
    gallery.rows("DELETE FROM details")  # as a migrated gallery is
    monkeypatch.setattr("sketchhash.gallery.examining.decode", None)
    assert index().described == 40
    assert {taken(gallery, path) for path in paths} == {datetime(2023, 6, 24, 18, 30, 5)}
    assert counts(index()) == {"unchanged": 40}


def test_a_sidecar_that_is_no_file_or_far_too_large_is_ignored(gallery, folder, photo, index, counts):
    photo(folder / "a.png", seed=1)
    (folder / "a.png.xmp").mkdir()
    photo(folder / "b.png", seed=2)
    (folder / "b.png.json").write_bytes(b" " * (MAX_SIDECAR_BYTES + 1))
    photo(folder / "c.png", seed=3)
    (folder / "c.png.xmp").symlink_to("/dev/zero")
    assert counts(index()) == {"added": 3}
    assert counts(index()) == {"unchanged": 3}


def test_a_photo_whose_details_kill_its_decoder_has_none(gallery, photo, folder, index, counts, monkeypatch):
    path = photo(folder / "a.png")
    pool, asked = decoders.DecoderPool(1), []

    def run(function, *args, **kwargs):
        asked.append(function)
        return pool.run(os._exit, 1) if function is read_with_details else pool.run(function, *args, **kwargs)

    monkeypatch.setattr(decoders, "shared", lambda: SimpleNamespace(run=run))
    assert counts(index()) == {"added": 1}
    assert len(asked) == 2
    assert details(gallery, path).width is None
    pool.close()


def test_a_photo_that_cannot_be_decoded_is_decoded_once(folder, index, counts, monkeypatch):
    (folder / "a.jpg").write_bytes(b"no photo")
    run = Mock(side_effect=decoders.run)
    monkeypatch.setattr(decoders, "shared", lambda: SimpleNamespace(run=run))
    assert counts(index()) == {"failed": 1}
    run.assert_called_once()
