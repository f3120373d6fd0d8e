"""Galleries of other versions: older ones are migrated, newer ones refused, and nothing is lost on the way."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from contextlib import closing
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from sketchhash.errors import BusyGallery, DamagedState, IncompatibleGallery, UnwritableState
from sketchhash.gallery import Filter, GalleryFile, Near, schema
from sketchhash.imaging.details import Details

# A file of version 1 as sketchhash 0.1 writes it, spelt out: it must open for ever.
VERSION_1 = """
    PRAGMA journal_mode = WAL;
    BEGIN;
    CREATE TABLE settings (name TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
    CREATE TABLE photos (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        path BLOB NOT NULL UNIQUE,
        sha256 BLOB NOT NULL,
        size INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        label TEXT,
        indexed_at REAL NOT NULL
    );
    CREATE INDEX photos_by_content ON photos (sha256);
    CREATE INDEX photos_by_label ON photos (label);
    CREATE TABLE codes (photo INTEGER PRIMARY KEY, code BLOB NOT NULL);
    CREATE TABLE thumbnails (photo INTEGER PRIMARY KEY, jpeg BLOB NOT NULL);
    CREATE TABLE removals (number INTEGER PRIMARY KEY AUTOINCREMENT, photo INTEGER NOT NULL);
    CREATE TRIGGER photo_removed AFTER DELETE ON photos BEGIN
        DELETE FROM codes WHERE photo = OLD.id;
        DELETE FROM thumbnails WHERE photo = OLD.id;
    END;
    CREATE TRIGGER code_removed AFTER DELETE ON codes BEGIN
        INSERT INTO removals (photo) VALUES (OLD.photo);
    END;
    INSERT INTO settings VALUES ('model', 'tiny'), ('fingerprint', 'MODEL'), ('bits', 32);
    INSERT INTO photos (path, sha256, size, mtime_ns, label, indexed_at) VALUES
        (CAST('/photos/a.jpg' AS BLOB), zeroblob(32), 1, 2, 'cat', 1700000000.5),
        (CAST('/photos/b.jpg' AS BLOB), CAST('12345678901234567890123456789012' AS BLOB), 3, 4, NULL, 1700000001.5);
    INSERT INTO codes VALUES (1, x'00000000'), (2, x'ffffffff');
    INSERT INTO thumbnails VALUES (1, x'01'), (2, x'02');
    DELETE FROM photos WHERE id = 1;
    PRAGMA application_id = 1399539809;
    PRAGMA user_version = 1;
    COMMIT;
"""

RATED = ("ALTER TABLE photos ADD COLUMN rating INTEGER", "CREATE INDEX photos_by_rating ON photos (rating)")
COUNTED = ("CREATE TABLE counts (photo INTEGER PRIMARY KEY)", "INSERT INTO counts SELECT id FROM photos")


@pytest.fixture
def old(tmp_path, model):
    """Make a gallery of version 1 by SQL alone."""
    path = tmp_path / "old.gallery"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript(VERSION_1.replace("MODEL", model.fingerprint))
    return path


@pytest.fixture
def version_3(monkeypatch):
    monkeypatch.setattr(schema, "SCHEMA_VERSION", 3)
    monkeypatch.setattr(schema, "MIGRATIONS", {1: RATED, 2: COUNTED})


def dump(path):
    with closing(sqlite3.connect(path)) as connection:
        return [*connection.execute("PRAGMA user_version"), *connection.iterdump()]


def backups(path):
    return sorted(each.name for each in path.parent.iterdir() if "backup" in each.name)


@pytest.mark.parametrize("is_writable", [True, False])
def test_a_gallery_of_version_1_opens_with_all_it_had(old, model, monkeypatch, is_writable):
    before = dump(old)
    if not is_writable:
        monkeypatch.setattr(os, "access", lambda *_: False)
    with GalleryFile.open(old, model) as gallery:
        (photo,) = gallery.photos()
        assert (photo.id, photo.path, photo.size, photo.mtime_ns) == (2, Path("/photos/b.jpg"), 3, 4)
        assert photo.indexed_at.timestamp() == 1700000001.5
        assert (gallery.code(2), gallery.thumbnail(2)) == (b"\xff" * 4, b"\x02")
        assert [hit.id for hit in gallery.search(np.ones(32), 5)] == [2]
        assert gallery.shapes_of([2]) == {}
        assert [row.shape for page in gallery.pages() for row in page] == [None]
        assert gallery.count_without_shape() == (1 if is_writable else 0)
    if is_writable:
        assert dump(old.with_name("old.gallery.v1.backup")) == before
    else:
        assert dump(old) == before
        assert backups(old) == []


def test_a_migrated_gallery_is_what_is_made_today(old, tmp_path, model):
    """Whoever changes the tables has to raise the version, and to write a migration."""
    GalleryFile.create(tmp_path / "new.gallery", model).close()
    GalleryFile.open(old, model).close()
    tables = "SELECT name, sql FROM sqlite_master ORDER BY name"
    with closing(sqlite3.connect(old)) as one, closing(sqlite3.connect(tmp_path / "new.gallery")) as other:
        known, made = ([(n, " ".join(s.split())) for n, s in c.execute(tables) if s] for c in (one, other))
    assert made == known
    assert dump(tmp_path / "new.gallery")[0] == dump(old)[0] == (5,)


def test_removing_a_photo_of_a_migrated_gallery_removes_its_shape_and_details(old, model):
    with GalleryFile.open(old, model) as gallery:
        with gallery.writing() as writer:
            writer.put_shapes({2: bytes(512), 77: bytes(512)})
            writer.put_details({2: Details(camera="Leica")})
        assert gallery.shapes_of([2, 77]) == {2: bytes(512)}
        assert gallery.details([2, 77]) == {2: Details(camera="Leica")}
        gallery.remove_photos([2])
        assert gallery.rows("SELECT * FROM shapes") == []
        assert gallery.rows("SELECT * FROM details") == []


@pytest.mark.parametrize("is_writable", [True, False])
def test_all_that_an_old_gallery_has_are_photos(old, model, monkeypatch, is_writable):
    if not is_writable:
        monkeypatch.setattr(os, "access", lambda *_: False)
    with GalleryFile.open(old, model) as gallery:
        assert gallery.keeps_drawings == is_writable
        assert [hit.kind for hit in gallery.search(np.ones(32), 5)] == [gallery.photo(2).kind] == ["photo"]
        assert gallery.info().drawings == 0


def test_a_gallery_without_room_for_details_counts_all_photos_as_undated(old, model, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with GalleryFile.open(old, model) as gallery:
        assert not gallery.keeps_details
        assert gallery.details([2]) == {}
        for only in (Filter(start=datetime(2000, 1, 1)), Filter(near=Near(0, 0, 30_000))):
            assert gallery.search(np.ones(32), 5, only) == []
            assert sum(gallery.left_out(only)) == 1
        assert (gallery.info().dated, gallery.info().first_taken) == (0, None)


def test_an_older_gallery_is_migrated_and_its_copy_kept(old, model, version_3):
    before = dump(old)
    with GalleryFile.open(old, model) as gallery:
        assert gallery.rows("SELECT id, rating FROM photos") == [(2, None)]
        assert gallery.rows("SELECT photo FROM counts") == [(2,)]
        assert gallery.photo(2).path == Path("/photos/b.jpg")
    assert dump(old)[0] == (3,)
    assert backups(old) == ["old.gallery.v1.backup"]
    assert dump(old.with_name("old.gallery.v1.backup")) == before
    GalleryFile.open(old, model).close()
    assert backups(old) == ["old.gallery.v1.backup"]


def test_the_copy_is_a_gallery_that_the_older_version_opens(old, model, version_3, monkeypatch):
    GalleryFile.open(old, model).close()
    monkeypatch.setattr(schema, "SCHEMA_VERSION", 1)
    with GalleryFile.open(old.with_name("old.gallery.v1.backup"), model) as gallery:
        assert gallery.photo(2).size == 3


def test_creating_where_an_older_gallery_is_migrates_it_too(old, model, version_3):
    with GalleryFile.create(old, model) as gallery:
        assert gallery.info().photos == 1
    assert dump(old)[0] == (3,)


def test_a_migration_that_fails_changes_nothing(old, model, monkeypatch):
    before = dump(old)
    monkeypatch.setattr(schema, "SCHEMA_VERSION", 3)
    monkeypatch.setattr(schema, "MIGRATIONS", {1: RATED, 2: (*COUNTED, "INSERT INTO counts SELECT id FROM photos")})
    with pytest.raises(sqlite3.IntegrityError):
        GalleryFile.open(old, model)
    assert dump(old) == before


KILLED = """
import os, signal, sys
from pathlib import Path
from sketchhash.gallery import Filter, GalleryFile, Near, schema
from sketchhash.imaging.details import Details

class Deadly:
    def __iter__(self):
        yield from {statements!r}
        os.kill(os.getpid(), signal.SIGKILL)

schema.SCHEMA_VERSION = 2
schema.MIGRATIONS = {{1: Deadly()}}
GalleryFile.open(Path(sys.argv[1]))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("statements", [(), RATED[:1], RATED])
def test_a_kill_in_the_middle_loses_nothing_and_the_next_opening_finishes(
    old, model, version_3, statements, monkeypatch
):
    before = dump(old)
    ended = subprocess.run([sys.executable, "-c", KILLED.format(statements=statements), str(old)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert dump(old) == before
    assert dump(old.with_name("old.gallery.v1.backup")) == before
    with GalleryFile.open(old, model) as gallery:
        assert gallery.rows("SELECT photo FROM counts") == [(2,)]
    assert dump(old.with_name("old.gallery.v1.backup")) == before


def test_many_that_open_an_older_gallery_at_once_migrate_it_once(old, model, version_3):
    before, problems = dump(old), []

    def use():
        try:
            with GalleryFile.open(old, model) as gallery:
                assert gallery.rows("SELECT photo FROM counts") == [(2,)]
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=use) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert dump(old.with_name("old.gallery.v1.backup")) == before


def test_a_migration_waits_for_other_writers_and_says_so(old, model, version_3, monkeypatch):
    monkeypatch.setattr(schema, "PATIENCE", 0.05)
    with closing(sqlite3.connect(old, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(BusyGallery):
            GalleryFile.open(old, model)
        other.execute("ROLLBACK")
    GalleryFile.open(old, model).close()


def test_an_older_gallery_that_cannot_be_written_says_so(old, model, version_3, monkeypatch):
    before = dump(old)
    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(schema, "READABLE_SINCE", 3)
    with pytest.raises(
        UnwritableState, match=r"older format version 1 .* brought to 3.*cannot be written.*open the copy"
    ):
        GalleryFile.open(old, model)
    assert dump(old) == before
    assert backups(old) == []


def test_a_newer_gallery_is_refused_and_the_package_is_to_be_upgraded(old, model):
    with closing(sqlite3.connect(old)) as other:
        other.execute("PRAGMA user_version = 7")
    for way_in in (GalleryFile.open, GalleryFile.create):
        with pytest.raises(IncompatibleGallery, match=r"format version 7, .* reads 5\. .*newer.*pip install --upgrade"):
            way_in(old, model)


def test_a_version_that_no_migration_starts_from_is_refused_and_upgrading_is_not_advised(old, model):
    with closing(sqlite3.connect(old)) as other:
        other.execute("PRAGMA user_version = 0")
    with pytest.raises(IncompatibleGallery, match=r"too old to be read\. .*sketchhash index") as told:
        GalleryFile.open(old, model)
    assert "upgrade" not in str(told.value)


def test_a_full_disk_during_the_copy_leaves_the_gallery_as_it_is(old, model, version_3, monkeypatch):
    before = dump(old)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(UnwritableState, match="No space left"):
        GalleryFile.open(old, model)
    monkeypatch.undo()
    assert dump(old) == before
    assert [each.name for each in old.parent.iterdir() if "backup" in each.name] == []


def test_a_file_of_another_program_is_not_migrated(tmp_path, model, version_3):
    with closing(sqlite3.connect(tmp_path / "other")) as other:
        other.execute("CREATE TABLE mine (x)")
    with pytest.raises(DamagedState, match="not a gallery"):
        GalleryFile.open(tmp_path / "other", model)
    assert backups(tmp_path / "other") == []
