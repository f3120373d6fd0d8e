"""Checks of a gallery."""

import pytest

from sketchhash.errors import BadArgument, DamagedState, IncompatibleGallery
from sketchhash.gallery import (
    GalleryFile,
    PhotoProblem,
    index_events,
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
        ((sha256,),) = gallery.rows("SELECT sha256 FROM photos WHERE id = 5")
    content = bytearray(path.read_bytes())
    entry = content.index(sha256, (page - 1) * 4096, page * 4096)
    content[entry : entry + 16] = bytes(16)
    path.write_bytes(content)
    # Where the first look, at opening, sees it depends on the hashes, and so on the version that wrote the photos.
    with pytest.raises(DamagedState, match=r"is damaged.*backup"), GalleryFile.open(path) as gallery:
        next(verify(gallery))
