"""Copies among the photos of a gallery: groups around the one to keep, and hits that are copies of others."""

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from threading import Event
from time import monotonic

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sketchhash import Gallery
from sketchhash.errors import BadArgument
from sketchhash.gallery import Completing, Hit, PhotoFile, PhotoRecord, PhotoRow, Searcher, find_copies, index
from sketchhash.gallery.copies import COPY_RADIUS
from sketchhash.gallery.copy_index import mark_copies
from sketchhash.imaging.details import Details


@pytest.fixture
def put(gallery, model):
    """Return a function that stores a photo with a perceptual hash."""

    def store(name, own, content=None, size=1, time=1, sides=(10, 10)):
        with gallery.writing() as writer:
            file = PhotoFile(Path(name), content or sha256(name.encode()).hexdigest(), size, time)
            photo = PhotoRecord(file.path, file.sha256, size, time, id=writer.new_id(file), indexed_at=NOW)
            details = None if sides is None else Details(width=sides[0], height=sides[1])
            row = PhotoRow(photo, bytes(model.bits // 8), None, details, own)
            writer.put_rows([row], {photo.id: b"jpeg"})

    return store


NOW = datetime.now(UTC)


def hash_of(*bits):
    """Return a hash in which some bits are set beside those that all have."""
    return (0xABCDEF0123456789 ^ sum(1 << bit for bit in bits)).to_bytes(8, "big")


def names(groups):
    return [[group.keep.path.name, *(copy.photo.path.name for copy in group.copies)] for group in groups]


def test_the_largest_picture_is_kept_then_the_largest_file_then_the_oldest(gallery, put):
    put("/small", hash_of(), sides=(10, 10), size=900)
    put("/large", hash_of(1, 2), sides=(40, 30), size=5)
    put("/other", hash_of(*range(30)), size=10, time=5)
    put("/other-better", hash_of(*range(31)), size=20, time=9)
    put("/third-newer", hash_of(*range(20, 60)), time=9)
    put("/third-older", hash_of(*range(21, 60)), time=3)
    groups = find_copies(gallery)
    assert names(groups) == [["large", "small"], ["other-better", "other"], ["third-older", "third-newer"]]
    assert [group.reason for group in groups] == ["the largest picture", "the largest file", "the oldest"]
    assert [group.copies[0].distance for group in groups] == [2, 1, 1]


def test_every_copy_is_near_the_one_that_is_kept_and_groups_do_not_chain(gallery, put):
    put("/a", hash_of(), size=9)
    put("/b", hash_of(*range(COPY_RADIUS)), size=8)
    put("/c", hash_of(*range(COPY_RADIUS + 1)), size=7)
    put("/d", hash_of(*range(2 * COPY_RADIUS)), size=6)
    assert names(find_copies(gallery)) == [["a", "b"], ["c", "d"]]
    assert names(find_copies(gallery, 0)) == []


def test_equal_files_are_copies_whatever_their_hashes(gallery, put):
    put("/plain", b"", "ab" * 32, time=1)
    put("/plain-too", b"", "ab" * 32, time=2)
    put("/other-plain", b"", time=3)
    put("/not-hashed-yet", None, "cd" * 32, sides=None)
    put("/its-copy", None, "cd" * 32, sides=None)
    groups = find_copies(gallery)
    assert names(groups) == [["plain", "plain-too"], ["not-hashed-yet", "its-copy"]]
    assert groups[1].reason == "the first that was indexed"
    assert names(find_copies(gallery, None)) == names(groups)


@pytest.mark.parametrize("radius", [-1, 25, 64])
def test_a_radius_that_makes_no_sense_is_refused(gallery, radius):
    with pytest.raises(BadArgument, match="0 to 24"):
        find_copies(gallery, radius)


@given(st.lists(st.integers(0, 5), max_size=30))
def test_hits_are_marked_as_copies_of_the_best_of_their_kind(kinds):
    hits = [Hit(number, 0, Path(f"/{number}"), None) for number in range(1, len(kinds) + 1)]
    hashes = {
        hit.id: hash_of(*range(10 * kind, 10 * kind + 10)) if kind else b""
        for hit, kind in zip(hits, kinds, strict=True)
    }
    first: dict[int, int] = {}
    for hit, kind in zip(mark_copies(hits, hashes), kinds, strict=True):
        expected = first.get(kind) if kind else None
        assert hit.copy_of == expected
        first.setdefault(kind, hit.id)


def test_from_files_to_groups_and_hits(tmp_path, model):
    rng = np.random.default_rng(0)
    (tmp_path / "photos").mkdir()
    for number in range(3):
        soft = Image.fromarray(rng.integers(0, 256, (6, 8, 3), dtype=np.uint8)).resize((320, 240))
        soft.save(tmp_path / f"photos/{number}.jpg", quality=95)
    soft.resize((160, 120)).save(tmp_path / "photos/small.jpg", quality=60)
    with Gallery(tmp_path / "photos.gallery", model) as gallery:
        gallery.index(tmp_path / "photos")
        assert names(gallery.copies()) == [["2.jpg", "small.jpg"]]
        hits = {hit.path.name: hit for hit in gallery.search(tmp_path / "photos/2.jpg", 4, kind="photo")}
        assert hits["small.jpg"].copy_of == hits["2.jpg"].id
        assert [hits[name].copy_of for name in ("0.jpg", "1.jpg", "2.jpg")] == [None, None, None]
        assert [hits[name].copies for name in ("0.jpg", "2.jpg", "small.jpg")] == [0, 1, None]
        (copy,) = gallery.copies_of(hits["2.jpg"].id)
        assert (copy.path.name, copy.copy_of) == ("small.jpg", hits["2.jpg"].id)
        assert gallery.copies_of(hits["0.jpg"].id) == []


@pytest.fixture
def searcher(gallery, model):
    return Searcher(model, gallery)


def anything(model):
    return np.ones(model.bits, dtype=np.int8)


def test_a_hit_counts_the_copies_that_were_not_found_too(searcher, put, model):
    for number in range(30):
        put(f"/copies/{number}", hash_of(*range(number % (COPY_RADIUS + 1))))
    put("/other", hash_of(*range(20, 60)))
    (hit,) = searcher.by_values(anything(model), 1)
    assert (hit.path.name, hit.copies) == ("0", 29)
    hits = searcher.by_values(anything(model), 31)
    assert [hit.copies for hit in hits] == [29, *[None] * 29, 0]
    copies = searcher.copies(hits[0].id)
    assert sorted(hit.path.name for hit in copies) == sorted(map(str, range(1, 30)))
    assert {hit.copy_of for hit in copies} == {hits[0].id}
    assert [hit.id for hit in searcher.copies(hits[0].id, 3)] == [hit.id for hit in copies[:3]] == [11, 21, 2]


def test_copies_that_come_and_go_are_counted_with_the_next_search(searcher, gallery, put, model):
    put("/one", hash_of())
    assert [hit.copies for hit in searcher.by_values(anything(model), 1)] == [0]
    put("/two", hash_of(1))
    put("/drawn", b"")
    assert [hit.copies for hit in searcher.by_values(anything(model), 3)] == [1, None, 0]
    gallery.remove_photos([2])
    assert [hit.copies for hit in searcher.by_values(anything(model), 1)] == [0]
    with pytest.raises(BadArgument, match="no photo"):
        searcher.copies(2)


def test_the_copies_of_a_large_gallery_are_counted_by_a_service_alone(gallery, put, model, monkeypatch):
    monkeypatch.setattr("sketchhash.gallery.copy_index._AT_ONCE", 1)
    put("/one", hash_of())
    put("/two", hash_of(1))
    once, lasting = Searcher(model, gallery), Searcher(model, gallery, lasting=True)
    assert [hit.copies for hit in once.by_values(anything(model), 1)] == [None]
    assert [hit.copies for hit in lasting.by_values(anything(model), 1)] == [1]
    assert [hit.id for hit in once.copies(1)] == [2]


def test_a_search_does_not_wait_for_the_hashes_of_a_large_gallery_that_changed(gallery, put, model, monkeypatch):
    monkeypatch.setattr("sketchhash.gallery.copy_index._AT_ONCE", 1)
    put("/one", hash_of())
    put("/two", hash_of(1))
    searcher = Searcher(model, gallery, lasting=True)
    may_read = Event()
    read = gallery.hash_pages
    monkeypatch.setattr(gallery, "hash_pages", lambda: may_read.wait(30) and read())
    put("/three", hash_of(2))
    assert [hit.copies for hit in searcher.by_values(anything(model), 1)] == [1]
    may_read.set()
    patience = monotonic() + 30
    while searcher.by_values(anything(model), 1)[0].copies != 2:
        assert monotonic() < patience, "it was never counted again"


def test_an_older_gallery_gets_its_hashes_with_the_next_run(gallery, model, folder, photo):
    for seed in range(3):
        photo(folder / f"{seed}.png", seed)
    index(gallery, model, [folder])
    kept = gallery.perceptual_hashes([1, 2, 3])
    gallery.rows("DELETE FROM perceptual_hashes WHERE photo < 3")
    gallery.rows("UPDATE thumbnails SET jpeg = x'00' WHERE photo = 2")
    assert gallery.without_hash(9) == [1, 2]
    events = []
    assert index(gallery, model, [folder], progress=events.append).unchanged == 3
    assert [event for event in events if isinstance(event, Completing)] == [Completing(2, 2)]
    assert gallery.without_hash(9) == []
    now = gallery.perceptual_hashes([1, 2, 3])
    assert (now[2], now[3]) == (b"", kept[3])
    # Of these few pixels a JPEG is a poor copy.
    assert (int.from_bytes(now[1], "big") ^ int.from_bytes(kept[1], "big")).bit_count() <= COPY_RADIUS
