from pathlib import Path

import pytest

from sketchhash.errors import BadArgument
from sketchhash.gallery import PhotoFile, exact_duplicates, near_duplicates


@pytest.fixture
def put(gallery):
    def store(name, code):
        with gallery.writing() as writer:
            sha256 = f"{len(name):064x}"  # names of one length stand for files of one content
            writer.put(PhotoFile(Path(name), sha256, 1, 1), code.to_bytes(4, "big"), b"jpeg")

    return store


def names(groups):
    return [[str(photo.path) for photo in group] for group in groups]


def test_equal_files_form_groups(gallery, put):
    for name in ("/aaa", "/b", "/cc", "/aab", "/c", "/aac"):
        put(name, 0)
    assert names(exact_duplicates(gallery)) == [["/aaa", "/aab", "/aac"], ["/b", "/c"]]


def test_near_codes_form_groups_and_likeness_is_passed_on(gallery, put):
    for name, code in (
        ("/a", 0b0),
        ("/z", 2**32 - 1),
        ("/b", 0b11),
        ("/c", 0b1111),
        ("/y", 2**32 - 2),
        ("/q", 2**16 - 1),
    ):
        put(name, code)
    assert names(near_duplicates(gallery, 2)) == [["/a", "/b", "/c"], ["/z", "/y"]]
    assert names(near_duplicates(gallery, 1)) == [["/z", "/y"]]
    assert names(near_duplicates(gallery, 0)) == []


def test_groups_do_not_depend_on_blocks(gallery, put, monkeypatch):
    monkeypatch.setattr("sketchhash.gallery.upkeep._BLOCK", 2)
    for number in range(7):
        put(f"/{number}", number % 3 << 8 | number % 3 << 16 | number % 3)
    assert names(near_duplicates(gallery, 0)) == [["/0", "/3", "/6"], ["/1", "/4"], ["/2", "/5"]]


def test_an_empty_gallery_has_no_duplicates(gallery):
    assert exact_duplicates(gallery) == near_duplicates(gallery, 3) == []


def test_a_radius_below_zero_is_refused(gallery):
    with pytest.raises(BadArgument, match="0 or more"):
        near_duplicates(gallery, -1)
