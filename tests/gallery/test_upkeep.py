"""Checks of a gallery, and its duplicates."""

from pathlib import Path

import pytest

from sketchhash.errors import BadArgument, DamagedState, IncompatibleGallery
from sketchhash.gallery import (
    GalleryFile,
    PhotoFile,
    PhotoProblem,
    exact_duplicates,
    index_events,
    near_duplicates,
    verify,
)


@pytest.fixture
def path(folder, photo, index):
    path = photo(folder / "a.png", 1)
    photo(folder / "b.png", 2)
    index()
    return path


def problems(gallery, model=None):
    return {verdict.photo.path.name: verdict.problems for verdict in verify(gallery, model) if verdict.problems}


def test_a_sound_gallery_has_no_problems(gallery, model, path):
    assert [verdict.problems for verdict in verify(gallery, model)] == [(), ()]


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        ("UPDATE codes SET code = x'00' WHERE photo = 1", PhotoProblem.NO_CODE),
        ("DELETE FROM codes WHERE photo = 1", PhotoProblem.NO_CODE),
        ("UPDATE codes SET code = x'01020304' WHERE photo = 1", PhotoProblem.OTHER_CODE),
        ("UPDATE thumbnails SET jpeg = x'00' WHERE photo = 1", PhotoProblem.NO_THUMBNAIL),
        ("DELETE FROM thumbnails WHERE photo = 1", PhotoProblem.NO_THUMBNAIL),
    ],
)
def test_damage_to_what_is_kept_is_found(gallery, model, path, damage, problem):
    gallery.rows(damage)
    assert problems(gallery, model) == {"a.png": (problem,)}


def test_without_a_model_codes_are_only_measured(gallery, path):
    gallery.rows("UPDATE codes SET code = x'01020304' WHERE photo = 1")
    assert problems(gallery) == {}


def test_a_sample_of_the_photos_may_be_encoded_again(gallery, model, path):
    gallery.rows("UPDATE codes SET code = x'01020304'")
    wrong = [bool(verdict.problems) for verdict in verify(gallery, model, every=2)]
    assert wrong == [True, False]


def test_a_sample_of_none_is_refused(gallery, path):
    with pytest.raises(BadArgument, match="every 0"):
        next(verify(gallery, every=0))


def test_files_that_changed_went_or_cannot_be_read_are_found(gallery, path, photo, monkeypatch):
    photo(path, 3)
    assert problems(gallery) == {"a.png": (PhotoProblem.FILE_CHANGED,)}
    path.unlink()
    assert problems(gallery) == {"a.png": (PhotoProblem.FILE_GONE,)}
    monkeypatch.setattr("sketchhash.gallery.upkeep.is_gone", lambda path: False)
    assert problems(gallery) == {"a.png": (PhotoProblem.FILE_UNREADABLE,)}


def test_bits_that_hang_on_rounding_are_not_held_against_a_photo(gallery, path, make_model, monkeypatch):
    model = make_model()
    encode = model.encode_photos
    monkeypatch.setattr(model, "encode_photos", lambda photos: encode(photos) * 1e-9 * -1)
    assert problems(gallery, model) == {}
    monkeypatch.setattr(model, "encode_photos", lambda photos: -encode(photos))
    assert problems(gallery, model).keys() == {"a.png", "b.png"}


def test_another_model_is_refused(gallery, other_model, path):
    with pytest.raises(IncompatibleGallery):
        next(verify(gallery, other_model))


def test_an_unsound_file_is_refused(tmp_path, model, folder, photo):
    path = tmp_path / "damaged.gallery"
    for seed in range(20):
        photo(folder / f"{seed}.png", seed)
    with GalleryFile.create(path, model) as gallery:
        list(index_events(gallery, model, [folder]))
        ((page,),) = gallery.rows("SELECT rootpage FROM sqlite_master WHERE name = 'photos_by_content'")
    content = bytearray(path.read_bytes())
    entry = (page - 1) * 4096 + 4000
    content[entry : entry + 64] = bytes(64)
    path.write_bytes(content)
    with GalleryFile.open(path) as gallery, pytest.raises(DamagedState, match=r"is damaged: .*backup"):
        next(verify(gallery))


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
