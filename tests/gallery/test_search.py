import threading
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from sketchhash.codes import hamming, pack
from sketchhash.errors import BadArgument, DamagedState, IncompatibleGallery
from sketchhash.gallery import GalleryFile, Hit, PhotoFile, index_events

BITS = 32


@pytest.fixture
def put(gallery):
    """Give a function that stores a photo with given values, and gives its id."""

    def store(name, values, label=None):
        code = pack(values[np.newaxis]).tobytes()
        with gallery.writing() as writer:
            writer.put(PhotoFile(Path(name), sha256(name.encode() + code).hexdigest(), 1, 1, label), code, b"jpeg")
        return gallery.at(Path(name)).id

    return store


@pytest.fixture
def values():
    return np.random.default_rng(0).standard_normal((60, BITS)).astype(np.float32)


def found(searcher, query, k=1000, **filters):
    return [hit.id for hit in searcher.search(query, k, rerank=False, **filters)]


@pytest.mark.parametrize("lasting", [False, True])
def test_hits_come_by_distance_and_then_id_with_all_about_them(gallery, put, values, lasting):
    for number, row in enumerate(values):
        put(f"/photos/{number}.jpg", row, label=f"label {number % 3}")
    query = np.random.default_rng(1).standard_normal(BITS)
    distances = hamming(pack(query[np.newaxis]), pack(values))[0]
    expected = sorted((int(distance), number) for number, distance in enumerate(distances))[:20]
    gallery.prepare_search(lasting)
    assert gallery.search(query, 20, rerank=False) == [
        Hit(number + 1, distance, Path(f"/photos/{number}.jpg"), f"label {number % 3}") for distance, number in expected
    ]


def test_an_empty_gallery_has_no_hits_until_it_has_photos(gallery, put, values):
    searcher = gallery
    searcher.prepare_search()
    assert searcher.search(values[0], 5) == []
    photo = put("/a.jpg", values[0])
    assert found(searcher, values[0]) == [photo]


def test_a_search_sees_what_others_added_changed_moved_and_removed(gallery, put, values):
    first, second = put("/a.jpg", values[0]), put("/b.jpg", values[1])
    with GalleryFile.open(gallery.path) as reading:
        searcher = reading
        assert set(found(searcher, values[0])) == {first, second}

        third = put("/c.jpg", values[2])
        changed = put("/b.jpg", values[3])
        brief = put("/d.jpg", values[4])
        with gallery.writing() as writer:
            writer.remove([first, brief])
        assert found(searcher, values[3], k=1) == [changed]
        assert set(found(searcher, values[0])) == {third, changed}
        assert len(searcher) == 2


def test_a_moved_photo_is_found_where_it_is(gallery, model, folder, photo):
    path = photo(folder / "a.png")
    list(index_events(gallery, model, [folder]))
    searcher = gallery
    searcher.prepare_search()
    query = np.ones(BITS)
    assert [hit.path for hit in searcher.search(query, 1)] == [path]
    path = path.rename(folder / "b.png")
    list(index_events(gallery, model, [folder]))
    assert [hit.path for hit in searcher.search(query, 1)] == [path]


def test_only_what_changed_is_loaded(gallery, put, values, monkeypatch):
    for number in range(5):
        put(f"/{number}.jpg", values[number])
    searcher = gallery
    searcher.prepare_search()
    loaded = []
    monkeypatch.setattr(
        GalleryFile,
        "read_codes",
        lambda gallery, after: loaded.append(after) or (np.empty(0, np.int64), np.empty((0, BITS // 8), np.uint8)),
    )
    searcher.search(values[0], 1)
    assert loaded == []
    put("/new.jpg", values[5])
    searcher.search(values[0], 1)
    searcher.search(values[0], 1)
    assert loaded == [5]


def test_a_search_may_be_limited_to_a_folder_and_a_label(gallery, put, values):
    for name, label in (("/a/1.jpg", "cat"), ("/a/b/2.jpg", "dog"), ("/ab/3.jpg", "cat"), ("/c/4.jpg", None)):
        put(name, values[len(name)], label)
    searcher = gallery
    searcher.prepare_search()
    query = values[9]
    assert set(found(searcher, query, folder=Path("/a"))) == {1, 2}
    assert set(found(searcher, query, label="cat")) == {1, 3}
    assert found(searcher, query, folder=Path("/a"), label="cat") == [1]
    assert set(found(searcher, query, folder=Path("/c/../a"))) == {1, 2}
    assert found(searcher, query, folder=Path("/nowhere")) == []
    assert found(searcher, query, label="mouse") == []


def test_a_limited_search_sees_what_comes_and_moves(gallery, put, values):
    put("/a/1.jpg", values[0])
    with GalleryFile.open(gallery.path) as reading:
        for searcher in (reading, gallery):
            before = found(searcher, values[0], folder=Path("/a"))
            assert found(searcher, values[0], folder=Path("/a")) == before
            added = put(f"/a/{len(before)} more.jpg", values[1])
            assert set(found(searcher, values[0], folder=Path("/a"))) == {*before, added}
            with gallery.writing() as writer:
                writer.remove([added])
            assert found(searcher, values[0], folder=Path("/a")) == before


def test_a_gallery_that_starts_over_with_another_model_is_not_searched_on(gallery, put, values, other_model):
    put("/a.jpg", values[0])
    searcher = gallery
    searcher.prepare_search()
    with gallery.writing() as writer:
        writer.start_over(other_model)
    with pytest.raises(IncompatibleGallery, match="indexed again with another model"):
        searcher.search(values[0], 1)


@pytest.mark.parametrize("query", [np.ones(BITS - 8), np.ones((1, BITS))])
def test_a_query_of_another_length_is_refused(gallery, query):
    with pytest.raises(BadArgument, match="32 values, one a bit"):
        gallery.search(query, 1)


def test_a_number_of_hits_below_one_is_refused(gallery, values):
    with pytest.raises(BadArgument, match="at least 1"):
        gallery.search(values[0], 0)


def test_codes_of_the_wrong_length_are_told(gallery, put, values):
    put("/a.jpg", values[0])
    gallery.rows("UPDATE codes SET code = x'00' WHERE photo = 1")
    with pytest.raises(DamagedState, match=r"wrong length.*sketchhash gallery verify"):
        gallery.prepare_search()


def test_reranking_looks_beyond_the_nearest_and_heeds_how_sure_the_values_are(gallery, put):
    query = np.full(BITS, 0.1)
    query[:2] = 5
    unsure, sure = np.ones(BITS), np.ones(BITS)
    sure[0] = -1
    unsure[10:14] = -1
    wrong_where_sure, wrong_where_unsure = put("/a.jpg", sure), put("/b.jpg", unsure)
    searcher = gallery
    searcher.prepare_search()
    assert found(searcher, query, k=1) == [wrong_where_sure]
    (hit,) = searcher.search(query, 1)
    assert (hit.id, hit.distance) == (wrong_where_unsure, 4)


def test_threads_search_while_another_writes(gallery, put, values):
    searcher = gallery
    searcher.prepare_search()
    stop, problems = threading.Event(), []

    def search():
        while not stop.is_set():
            try:
                hits = searcher.search(values[0], 1000)
                assert [hit.path for hit in hits if hit.id == 1] in ([], [Path("/0.jpg")])
            except Exception as problem:
                problems.append(problem)
                return

    threads = [threading.Thread(target=search) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(60):
        put(f"/{number}.jpg", values[number])
        with gallery.writing() as writer:
            writer.remove([number // 2])
    stop.set()
    for thread in threads:
        thread.join()
    assert problems == []
    assert len(found(searcher, values[0])) == gallery.info().photos
