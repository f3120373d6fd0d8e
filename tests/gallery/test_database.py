import os
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from sketchhash.errors import BadArgument, BusyGallery, DamagedState, IncompatibleGallery, UnwritableState
from sketchhash.gallery import GalleryFile, PhotoFile, schema


def put(gallery, name, content=b"content", label=None):
    sha256 = (content * 32)[:32].hex()
    with gallery.writing() as writer:
        writer.put(PhotoFile(Path(name), sha256, len(content), 5, label), b"code", b"jpeg")
    return gallery.at(Path(name))


def other_program(path):
    """Write to the file as somebody else would."""
    return closing(sqlite3.connect(path, isolation_level=None))


def test_a_photo_comes_back_as_it_was_put(gallery):
    photo = put(gallery, "/photos/a.jpg", b"x", "cat")
    assert (photo.path, photo.size, photo.mtime_ns, photo.label) == (Path("/photos/a.jpg"), 1, 5, "cat")
    assert photo == gallery.photo(photo.id) == next(gallery.photos())
    assert (gallery.code(photo.id), gallery.thumbnail(photo.id)) == (b"code", b"jpeg")


def test_a_drawing_stays_a_drawing_and_is_found_as_one(gallery):
    put(gallery, "/photos/a.jpg", b"x")
    with gallery.writing() as writer:
        writer.put(PhotoFile(Path("/icons/b.svg"), "ab" * 32, 1, 5, "arrow", "drawing"), b"code", b"jpeg")
    assert [photo.kind for photo in gallery.photos()] == ["photo", "drawing"]
    assert [hit.kind for hit in gallery.search(np.ones(32), 2)] == ["photo", "drawing"]
    assert [row.photo.kind for page in gallery.pages() for row in page] == ["photo", "drawing"]
    assert gallery.info().drawings == 1
    gallery.remove_photos([2])
    assert gallery.rows("SELECT * FROM drawings") == []


@pytest.mark.parametrize("name", [b"/new\nline.jpg", b"/\xff\xfe.jpg", "/ünï 😀.jpg".encode()])
def test_names_of_any_bytes_survive(gallery, name):
    assert put(gallery, os.fsdecode(name)).path == Path(os.fsdecode(name))


def test_an_unknown_id_is_refused_and_named(gallery):
    for ask in (gallery.photo, gallery.code, gallery.thumbnail):
        with pytest.raises(BadArgument, match=r"no photo with the id 7"):
            ask(7)


def test_ids_are_never_used_again(gallery):
    first = put(gallery, "/a.jpg")
    with gallery.writing() as writer:
        assert writer.remove([first.id, first.id, 99]) == 1
    assert put(gallery, "/a.jpg").id > first.id


def test_with_a_photo_its_code_and_thumbnail_go(gallery):
    photo = put(gallery, "/a.jpg")
    with gallery.writing() as writer:
        writer.remove([photo.id])
    assert gallery.rows("SELECT 1 FROM codes UNION ALL SELECT 1 FROM thumbnails") == []


def test_all_photos_are_given_though_they_are_read_by_the_page(gallery, monkeypatch):
    monkeypatch.setattr("sketchhash.gallery.file_reader._PAGE", 2)
    names = [f"/photos/{number}.jpg" for number in range(5)]
    for name in reversed(names):
        put(gallery, name)
    assert [str(photo.path) for photo in gallery.photos()] == names[::-1]
    assert [str(photo.path) for photo in gallery.within(Path("/photos"))] == names
    assert [str(photo.path) for photo in gallery.within(Path("/"))] == names


def test_within_a_folder_are_not_its_namesakes(gallery):
    for name in ("/cats/a.jpg", "/cats/b/c.jpg", "/cats.jpg", "/cats2/a.jpg", "/cats-old/a.jpg"):
        put(gallery, name)
    assert [str(photo.path) for photo in gallery.within(Path("/cats"))] == ["/cats/a.jpg", "/cats/b/c.jpg"]


def test_a_place_may_be_a_photo(gallery):
    put(gallery, "/cats/a.jpg")
    assert [photo.id for photo in gallery.within(Path("/cats/a.jpg"))] == [1]


def test_photos_are_removed_by_file_and_by_folder(gallery):
    for name in ("/cats/a.jpg", "/cats/b/c.jpg", "/dogs/a.jpg", "/dogs/b.jpg"):
        put(gallery, name)
    assert gallery.remove([Path("/cats"), Path("/cats/b"), Path("/dogs/b.jpg"), Path("/nothing")]) == 3
    assert [str(photo.path) for photo in gallery.photos()] == ["/dogs/a.jpg"]


def test_an_error_while_writing_leaves_everything_as_it_was(gallery):
    put(gallery, "/a.jpg")
    with pytest.raises(ZeroDivisionError), gallery.writing() as writer:
        writer.put(PhotoFile(Path("/b.jpg"), "ab" * 32, 1, 1), b"code", b"jpeg")
        writer.remove([1])
        raise ZeroDivisionError
    assert [str(photo.path) for photo in gallery.photos()] == ["/a.jpg"]


def test_what_was_kept_survives_a_kill(tmp_path, model, gallery):
    program = """
import os, pathlib, signal, sys
from sketchhash.gallery import GalleryFile, PhotoFile
with GalleryFile.open(pathlib.Path(sys.argv[1])) as gallery:
    with gallery.writing() as writer:
        writer.put(PhotoFile(pathlib.Path("/kept.jpg"), "ab" * 32, 1, 1), b"code", b"jpeg")
    with gallery.writing() as writer:
        writer.put(PhotoFile(pathlib.Path("/lost.jpg"), "cd" * 32, 1, 1), b"code", b"jpeg")
        os.kill(os.getpid(), signal.SIGKILL)
"""
    killed = subprocess.run([sys.executable, "-c", program, gallery.path], check=False)
    assert killed.returncode == -9
    assert [str(photo.path) for photo in gallery.photos()] == ["/kept.jpg"]
    assert gallery.rows("SELECT count(*) FROM codes") == gallery.rows("SELECT count(*) FROM thumbnails") == [(1,)]


def test_info_counts_what_is_there(gallery, model):
    assert gallery.info().last_indexed is None
    for name, label in (("/a.jpg", "cat"), ("/b.jpg", "cat"), ("/c.jpg", "ant"), ("/d.jpg", None)):
        last = put(gallery, name, label=label)
    info = gallery.info()
    assert (info.photos, info.labels, info.last_indexed) == (4, {"ant": 1, "cat": 2}, last.indexed_at)
    assert (info.model.name, info.model.fingerprint, info.model.bits) == ("tiny", model.fingerprint, 32)
    assert info.bytes > 0


def test_a_gallery_of_another_model_is_refused_with_the_way_out(gallery, other_model):
    with pytest.raises(
        IncompatibleGallery, match=r"'tiny' of 32 bits .* of 64 bits .*index FOLDER --reindex --gallery"
    ):
        GalleryFile.open(gallery.path, other_model)
    with pytest.raises(IncompatibleGallery, match="--reindex"):
        GalleryFile.create(gallery.path, other_model)


def test_starting_over_takes_another_model(gallery, model, other_model):
    put(gallery, "/a.jpg")
    with GalleryFile.open(gallery.path) as reopened, reopened.writing() as writer:
        writer.start_over(other_model)
    with GalleryFile.open(gallery.path, other_model) as reopened:
        assert list(reopened.photos()) == []
        assert reopened.model.bits == 64
    with pytest.raises(IncompatibleGallery), gallery.writing(model):
        pass


def test_creating_twice_keeps_what_is_there(gallery, model):
    put(gallery, "/a.jpg")
    with GalleryFile.create(gallery.path, model) as again:
        assert again.info().photos == 1


def test_folders_on_the_way_to_a_gallery_are_made(tmp_path, model):
    GalleryFile.create(tmp_path / "not/there/yet.gallery", model).close()
    with pytest.raises(UnwritableState, match=r"cannot be made"):
        GalleryFile.create(tmp_path / "not/there/yet.gallery/inside a file.gallery", model)


def test_a_gallery_that_is_not_there_is_not_made_by_opening_it(tmp_path):
    with pytest.raises(BadArgument, match=r"no gallery at .*sketchhash index FOLDER --gallery .*"):
        GalleryFile.open(tmp_path / "nothing.gallery")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_gallery(tmp_path, model):
    with pytest.raises(BadArgument, match="is a folder"):
        GalleryFile.open(tmp_path)
    with pytest.raises(BadArgument, match="is a folder"):
        GalleryFile.create(tmp_path, model)


@pytest.mark.parametrize("content", [b"just some text, and more than a hundred bytes of it" * 9, b"\0" * 5000])
def test_a_file_of_another_kind_is_refused_and_left_alone(tmp_path, model, content):
    path = tmp_path / "notes.txt"
    path.write_bytes(content)
    for open_it in (GalleryFile.open, GalleryFile.create):
        with pytest.raises(DamagedState, match=r"not a gallery"):
            open_it(path, model)
    assert path.read_bytes() == content


def test_the_database_of_another_program_is_refused_and_left_alone(tmp_path, model):
    path = tmp_path / "other.db"
    with other_program(path) as connection:
        connection.execute("CREATE TABLE photos (id)")
    before = path.read_bytes()
    for open_it in (GalleryFile.open, GalleryFile.create):
        with pytest.raises(DamagedState, match=r"belongs to another program"):
            open_it(path, model)
    assert path.read_bytes() == before


def test_an_empty_file_is_no_gallery_but_can_become_one(tmp_path, model):
    path = tmp_path / "empty.gallery"
    path.touch()
    with pytest.raises(DamagedState, match="is empty"):
        GalleryFile.open(path)
    with GalleryFile.create(path, model) as gallery:
        assert gallery.info().photos == 0


def test_a_newer_format_asks_for_an_upgrade(gallery):
    with other_program(gallery.path) as connection:
        connection.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION + 1}")
    with pytest.raises(IncompatibleGallery, match="pip install --upgrade sketchhash"):
        GalleryFile.open(gallery.path)


def test_damage_is_explained(tmp_path, model):
    path = tmp_path / "damaged.gallery"
    with GalleryFile.create(path, model) as gallery, gallery.writing() as writer:
        for number in range(300):
            writer.put(PhotoFile(Path(f"/photos/{number}.jpg"), f"{number:064x}", 1, 1), b"code", b"jpeg")
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xa5" * (len(content) - 4096)
    path.write_bytes(content)
    with (
        pytest.raises(DamagedState, match=r"damaged.*index FOLDER --gallery"),
        GalleryFile.open(path) as gallery,
    ):
        list(gallery.photos())


def test_a_full_disk_is_explained_and_loses_nothing(gallery):
    put(gallery, "/a.jpg")
    ((pages,),) = gallery.rows("PRAGMA page_count")
    gallery.rows(f"PRAGMA max_page_count = {pages}")
    with (
        pytest.raises(UnwritableState, match=r"no room left .* run the same command again"),
        gallery.writing() as writer,
    ):
        writer.put(PhotoFile(Path("/b.jpg"), "ab" * 32, 1, 1), b"code", b"x" * 100_000)
    gallery.rows("PRAGMA max_page_count = 100000")
    put(gallery, "/c.jpg")
    assert [str(photo.path) for photo in gallery.photos()] == ["/a.jpg", "/c.jpg"]


def test_on_a_read_only_disk_a_gallery_is_read_and_not_written(tmp_path, model, monkeypatch):
    path = tmp_path / "test.gallery"
    with GalleryFile.create(path, model) as gallery:
        put(gallery, "/a.jpg")
    monkeypatch.setattr(os, "access", lambda *_: False)
    with GalleryFile.open(path, model) as gallery:
        assert gallery.info().photos == 1
        with pytest.raises(UnwritableState, match="cannot be written"):
            put(gallery, "/b.jpg")
        assert gallery.info().photos == 1


def test_a_second_writer_waits_and_then_says_who_is_in_the_way(gallery, monkeypatch):
    monkeypatch.setattr(schema, "PATIENCE", 0.05)
    with GalleryFile.open(gallery.path) as second, gallery.writing() as writer:
        with pytest.raises(BusyGallery, match="Another process is writing"), second.writing():
            pass
        writer.put(PhotoFile(Path("/a.jpg"), "ab" * 32, 1, 1), b"code", b"jpeg")
        assert second.info().photos == 0
    with GalleryFile.open(gallery.path) as second:
        assert put(second, "/b.jpg").id == 2


def test_many_may_create_one_gallery_at_once(tmp_path, model):
    path, errors = tmp_path / "test.gallery", []

    def create():
        try:
            GalleryFile.create(path, model).close()
        except Exception as problem:
            errors.append(problem)

    threads = [threading.Thread(target=create) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_threads_may_share_a_gallery(gallery):
    def fill(worker):
        for number in range(20):
            put(gallery, f"/{worker}/{number}.jpg")

    threads = [threading.Thread(target=fill, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert gallery.info().photos == 80
