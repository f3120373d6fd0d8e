"""Whatever is wrong with a gallery's file, there is one clear error, and soon."""

import shutil
import sqlite3
import time
from pathlib import Path

import numpy as np
import pytest

from sketchhash.errors import DamagedState, SketchHashError, UnwritableState
from sketchhash.gallery import Filter, GalleryFile, find_copies, verify
from sketchhash.gallery.copy_index import CopyIndex, mark_copies
from sketchhash.gallery.photos import PhotoFile

PHOTOS = 60


@pytest.fixture(scope="module")
def whole(tmp_path_factory, model):
    """Write a gallery of some dozen pages, in one file."""
    path = tmp_path_factory.mktemp("whole") / "whole.gallery"
    rng = np.random.default_rng(3)
    with GalleryFile.create(path, model) as gallery, gallery.writing() as writer:
        for number in range(PHOTOS):
            file = PhotoFile(
                Path(f"/photos/{number % 7}/{number}.jpg"), rng.bytes(32).hex(), 9, 9, f"label {number % 5}"
            )
            writer.put(file, rng.bytes(model.bits // 8), rng.bytes(900))
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()
    return path


@pytest.fixture
def damaged(whole, tmp_path):
    return Path(shutil.copy(whole, tmp_path / "damaged.gallery"))


def use(path, model):
    """Do with a gallery what the page and the command line do."""
    with GalleryFile.open(path, model) as gallery:
        gallery.info()
        photos = list(gallery.photos())
        values = np.ones(model.bits, dtype=np.float32)
        for photo in photos[:5]:
            gallery.thumbnail(photo.id)
        gallery.path_ends()
        gallery.top_folders(b"/photos/", 10)
        gallery.sample(20)
        gallery.content_prefixes(8)
        list(gallery.pages())
        mark_copies(gallery.search(values, 10), gallery.perceptual_hashes([photo.id for photo in photos]))
        CopyIndex(gallery, lasting=True)
        gallery.search(values, 10, Filter(Path("/photos/1"), "label 1"), rerank=False)
        list(verify(gallery))


def test_a_whole_gallery_passes(damaged, model):
    use(damaged, model)


@pytest.mark.parametrize("kind", ["bytes", "pages", "zeros", "cut", "swap"])
def test_random_damage_is_explained(kind, whole, damaged, model):
    content = np.frombuffer(whole.read_bytes(), dtype=np.uint8)
    rng = np.random.default_rng([1, *kind.encode()])
    start = time.monotonic()
    explained = 0
    for _ in range(60):
        broken = content.copy()
        place = int(rng.integers(0, len(broken)))
        match kind:
            case "bytes":
                broken[rng.integers(0, len(broken), size=rng.integers(1, 40))] = rng.integers(0, 256)
            case "pages":
                page = place // 4096 * 4096
                broken[page : page + 4096] = rng.integers(0, 256, 4096)
            case "zeros":
                broken[place : place + int(rng.integers(1, 3000))] = 0
            case "cut":
                broken = broken[:place]
            case "swap":
                one, other = (4096 * rng.integers(0, len(broken) // 4096, size=2)).tolist()
                broken[one : one + 4096], broken[other : other + 4096] = (
                    content[other : other + 4096],
                    content[one : one + 4096],
                )
        for left in damaged.parent.glob("damaged.gallery?*"):
            left.unlink()
        damaged.write_bytes(broken.tobytes())
        try:
            use(damaged, model)
        except SketchHashError as problem:
            explained += 1
            assert str(damaged) in str(problem)
    assert explained > 5
    assert time.monotonic() - start < 120


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE photos SET label = CAST(x'ff41' AS TEXT)",
        "UPDATE photos SET path = 5 WHERE id = 3",
        "UPDATE photos SET sha256 = 'text' WHERE id = 3",
        "UPDATE photos SET sha256 = 5 WHERE id = 3",
        "UPDATE photos SET indexed_at = 1e300",
        "UPDATE photos SET indexed_at = 'yesterday'",
        "UPDATE codes SET code = 5 WHERE photo = 3",
        "UPDATE codes SET code = x'00' WHERE photo = 3",
        "UPDATE thumbnails SET jpeg = 5 WHERE photo = 3",
        "DELETE FROM settings",
        "DELETE FROM settings WHERE name = 'bits'",
        "UPDATE settings SET value = x'ff' WHERE name = 'model'",
        "UPDATE settings SET value = 'many' WHERE name = 'bits'",
        "DROP TABLE codes",
        "DROP TABLE thumbnails",
        "DROP TABLE settings",
        "ALTER TABLE photos DROP COLUMN mtime_ns",
        "CREATE TRIGGER another AFTER DELETE ON photos BEGIN DELETE FROM photos; END",
    ],
)
def test_values_and_tables_that_no_gallery_has_are_explained(statement, damaged, model):
    with sqlite3.connect(damaged) as connection:
        connection.execute(statement)
    connection.close()
    with pytest.raises(SketchHashError, match=r"damaged\.gallery"):
        use(damaged, model)


def test_a_perceptual_hash_that_is_none_counts_as_none(damaged, model):
    with sqlite3.connect(damaged) as connection:
        connection.execute("INSERT OR REPLACE INTO perceptual_hashes (photo, hash) VALUES (3, 5), (4, 'text')")
    connection.close()
    use(damaged, model)
    with GalleryFile.open(damaged, model) as gallery:
        assert find_copies(gallery) == []


def test_a_code_without_a_photo_is_explained(damaged, model):
    with sqlite3.connect(damaged) as connection:
        connection.execute("DROP TRIGGER photo_removed")
        connection.execute("DELETE FROM photos WHERE id < 50")
        connection.execute("CREATE TRIGGER photo_removed AFTER DELETE ON photos BEGIN SELECT 1; END")
    connection.close()
    with GalleryFile.open(damaged, model) as gallery, pytest.raises(DamagedState, match="damaged"):
        gallery.search(np.ones(model.bits, dtype=np.float32), 20)


def test_a_view_that_never_ends_is_refused_at_once(damaged, model):
    with sqlite3.connect(damaged) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("DROP TABLE photos")
        connection.execute(
            "CREATE VIEW photos AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) "
            "SELECT id, x'00' AS path, x'00' AS sha256, 1 AS size, 1 AS mtime_ns, NULL AS label, 0 AS indexed_at FROM n"
        )
    connection.close()
    start = time.monotonic()
    with pytest.raises(DamagedState, match="photos"):
        use(damaged, model)
    assert time.monotonic() - start < 10


def test_a_gallery_that_was_deleted_while_it_is_open_is_not_begun_over_its_log(tmp_path, model):
    path = tmp_path / "served.gallery"
    with GalleryFile.create(path, model) as served:
        with served.writing() as writer:
            writer.put(PhotoFile(Path("/a.jpg"), "ab" * 32, 1, 1), bytes(model.bits // 8), b"jpeg")
        path.unlink()
        with pytest.raises(UnwritableState, match=r"Stop what has it open, such as sketchhash serve, delete .*-wal"):
            GalleryFile.create(path, model)
    for left in tmp_path.glob("served.gallery?*"):
        left.unlink()
    with GalleryFile.create(path, model) as begun:
        assert len(begun) == 0
