"""Count what is in a gallery's file: photos, labels, folders, and a sample of it."""

from __future__ import annotations

import json
import os

import numpy as np

from sketchhash.gallery.file_reader import FileReader, taken, when
from sketchhash.gallery.protocol import GalleryInfo, Sample
from sketchhash.gallery.soundness import valued

# The part of each path from a place on, up to the next separator, if there is one.
_TOP_FOLDERS = """
    SELECT substr(path, ?1, instr(substr(path, ?1), ?2) - 1) AS top, count(*) FROM photos
    WHERE instr(substr(path, ?1), ?2) > 0 AND substr(path, 1, ?1 - 1) = ?4
    GROUP BY top ORDER BY count(*) DESC, top LIMIT ?3
"""
# Each given id stands for the photo with that id, or the next one if that was removed.
_AT_PLACES = """
    SELECT photo, code, label FROM codes JOIN photos ON photos.id = codes.photo WHERE photo IN (
        SELECT (SELECT min(photo) FROM codes WHERE photo >= value) FROM json_each(?)
    )
"""


def count_gallery(reader: FileReader) -> GalleryInfo:
    """Count photos and labels."""
    with reader.snapshot():
        ((photos, last),) = reader.rows("SELECT count(*), max(indexed_at) FROM photos")
        labels = dict(
            reader.rows("SELECT label, count(*) FROM photos WHERE label IS NOT NULL GROUP BY label ORDER BY label")
        )
        ((size,),) = reader.rows("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        ((dated, placed, first, latest),) = reader.rows(
            f"SELECT count(taken_at), count(latitude), min(taken_at), max(taken_at) FROM {reader.with_details}"
        )
        ((drawings,),) = reader.rows("SELECT count(*) FROM drawings") if reader.keeps_drawings else ((0,),)
        with valued(reader.path):
            indexed = None if last is None else when(last)
            return GalleryInfo(
                photos, reader.model, size, labels, indexed, dated, placed, taken(first), taken(latest), drawings
            )


def count_folders(reader: FileReader, below: bytes, most: int) -> list[tuple[bytes, int]]:
    """Count the photos at any depth of each folder in ``below``, which ends with a slash; the fullest first."""
    return reader.rows(_TOP_FOLDERS, len(below) + 1, os.fsencode(os.sep), most, below)


def take_sample(reader: FileReader, most: int) -> Sample:
    """Return at most ``most`` photos, spread evenly over when they were indexed; always the same ones."""
    ((first, last),) = reader.rows("SELECT (SELECT min(photo) FROM codes), (SELECT max(photo) FROM codes)")
    if first is None:
        return Sample((), (), np.empty((0, reader.model.bits // 8), dtype=np.uint8))
    places = np.unique(np.linspace(first, last, most).astype(np.int64))
    rows = reader.rows(_AT_PLACES, json.dumps(places.tolist()))
    with valued(reader.path):
        ids, codes, labels = zip(*rows, strict=True)
        return Sample(ids, labels, np.frombuffer(b"".join(codes), dtype=np.uint8).reshape(len(ids), -1))
