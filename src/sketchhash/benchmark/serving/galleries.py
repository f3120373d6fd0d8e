"""A gallery of photos that never were, for the sake of its size."""

from __future__ import annotations

from sketchhash.gallery import GalleryFile

_NUMBERS = "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)"
_PHOTOS = f"""{_NUMBERS}
    INSERT INTO photos (path, sha256, size, mtime_ns, indexed_at)
    SELECT CAST(printf('/nowhere/%03d/%09d.jpg', n / 10000, n) AS BLOB), randomblob(32), 0, 0, 0 FROM numbers
"""
_CODES = "INSERT INTO codes (photo, code) SELECT id, randomblob(?) FROM photos"


def fill_with_random_codes(gallery: GalleryFile, photos: int) -> None:
    """Put so many photos with random codes into an empty gallery: a million in some ten seconds.

    SQLite draws the codes itself, others in every run: no figure depends on which they are.
    """
    gallery.rows(_PHOTOS, photos)
    gallery.rows(_CODES, gallery.model.bits // 8)
