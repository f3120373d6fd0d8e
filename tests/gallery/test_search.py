"""Searches: in a gallery file that changes meanwhile, and with a model, by anything that can be drawn or shown."""

import json
import os
import threading
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sketchhash.codes import hamming, pack
from sketchhash.errors import BadArgument, DamagedState, IncompatibleGallery, UnreadableImage
from sketchhash.gallery import Filter, GalleryFile, Hit, PhotoFile, Searcher, index, index_events
from sketchhash.gallery.file_reader import FileReader
from sketchhash.imaging import Drawing, Limits
from sketchhash.index.weighing import weigh, weighed_distances
from sketchhash.tokens.shape import describe_contours

BITS = 32


@pytest.fixture
def put(gallery):
    """Return a function that stores a photo with given values, and returns its id."""

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
        FileReader,
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
    assert set(found(searcher, query, only=Filter(Path("/a")))) == {1, 2}
    assert set(found(searcher, query, only=Filter(label="cat"))) == {1, 3}
    assert found(searcher, query, only=Filter(Path("/a"), "cat")) == [1]
    assert set(found(searcher, query, only=Filter(Path("/c/../a")))) == {1, 2}
    assert found(searcher, query, only=Filter(Path("/nowhere"))) == []
    assert found(searcher, query, only=Filter(label="mouse")) == []


def test_a_limited_search_sees_what_comes_and_moves(gallery, put, values):
    put("/a/1.jpg", values[0])
    with GalleryFile.open(gallery.path) as reading:
        for searcher in (reading, gallery):
            before = found(searcher, values[0], only=Filter(Path("/a")))
            assert found(searcher, values[0], only=Filter(Path("/a"))) == before
            added = put(f"/a/{len(before)} more.jpg", values[1])
            assert set(found(searcher, values[0], only=Filter(Path("/a")))) == {*before, added}
            with gallery.writing() as writer:
                writer.remove([added])
            assert found(searcher, values[0], only=Filter(Path("/a"))) == before


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


DRAWING = [[[0, 0], [10, 10], [20, 0]], [[5, 20], [15, 20]]]


@pytest.fixture
def searcher(gallery, model, folder, photo):
    for seed in range(30):
        photo(folder / f"{seed % 3}/{seed}.png", seed)
    index(gallery, model, [folder], labels="folder")
    return Searcher(model, gallery)


def test_a_drawing_is_found_by_in_whatever_form_it_comes(searcher, model, tmp_path):
    drawing = Drawing.from_json(DRAWING)
    expected = searcher.search(drawing, 5)
    (values,) = model.encode_drawing(drawing)
    prepared = searcher.prepare(drawing)
    assert expected == searcher.by_values(values, 5, asked=prepared)
    found = searcher.gallery.search(values, 5, shape=searcher.shape_of(prepared))
    assert expected == [replace(hit, copies=0) for hit in found]
    found = searcher.gallery.search(values, 5)
    assert searcher.by_values(values, 5) == [replace(hit, copies=0) for hit in found]
    content = json.dumps(DRAWING).encode()
    (tmp_path / "strokes.json").write_bytes(b"\n " + content)
    arrays = [np.array(stroke) for stroke in DRAWING]
    tuples = tuple(tuple(tuple(point) for point in stroke) for stroke in DRAWING)
    for query in (DRAWING, arrays, tuples, content, tmp_path / "strokes.json", str(tmp_path / "strokes.json")):
        assert searcher.search(query, 5) == expected


@pytest.mark.parametrize("kind", ["sketch", "photo"])
def test_a_picture_is_found_by_in_whatever_form_it_comes(searcher, paint_sketch, tmp_path, kind):
    path = paint_sketch(tmp_path / "sketch.png")
    expected = searcher.search(path, 5, kind=kind)
    assert len(expected) == 5
    with Image.open(path) as image:
        pixels = np.asarray(image)
        for query in (path.read_bytes(), str(path), pixels, np.stack([pixels] * 3, axis=2), image, image.convert("1")):
            assert searcher.search(query, 5, kind=kind) == expected


def test_a_photo_of_the_gallery_sent_again_has_the_code_that_it_has_there(searcher, gallery, folder):
    Image.effect_mandelbrot((1500, 900), (-2, -1, 1, 1), 50).convert("RGB").save(folder / "large.jpg")
    index(gallery, searcher.model, [folder])
    stored = gallery.code(gallery.at(folder / "large.jpg").id)
    for query in (folder / "large.jpg", (folder / "large.jpg").read_bytes()):
        values = searcher.encode(searcher.prepare(query, kind="photo"))
        assert pack(values[np.newaxis]).tobytes() == stored
    assert searcher.search(folder / "large.jpg", 1, kind="photo")[0].distance == 0


def test_a_picture_is_taken_for_what_it_shows_in_the_time_of_one(searcher, paint_sketch, folder, tmp_path):
    calls = []

    def run(function, *arguments):
        calls.append(function)
        return function(*arguments)

    sketch, photo = paint_sketch(tmp_path / "sketch.png").read_bytes(), next(folder.rglob("*.*")).read_bytes()
    for kind, content in (("sketch", sketch), ("photo", photo)):
        recognised, told = searcher.prepare_recognised(content, run=run), searcher.prepare_picture(content, kind)
        assert recognised.kind == kind
        np.testing.assert_array_equal(recognised.pixels, told.pixels)
    assert len(calls) == 2  # a process has so much time for each


def test_hits_are_reranked_unless_told_otherwise(searcher):
    values = searcher.encode(searcher.prepare(DRAWING))
    by_distance = searcher.search(DRAWING, 30, rerank=False)
    assert [(hit.distance, hit.id) for hit in by_distance] == sorted((hit.distance, hit.id) for hit in by_distance)
    weighed = [(weight_of(searcher, values, hit.id), hit.id) for hit in searcher.by_values(values, 30)]
    assert weighed == sorted(weighed)
    assert {hit.id for hit in by_distance} == {photo for _, photo in weighed}  # there are no more photos
    assert weighed != sorted(weighed, key=lambda pair: pair[1])


def weight_of(searcher, values, photo):
    code = np.frombuffer(searcher.gallery.code(photo), dtype=np.uint8)
    return int(weighed_distances(pack(values[None])[0], weigh(values[None])[0], code[None])[0])


def test_a_drawing_finds_the_photos_that_agree_best_however_many_are_nearer_in_bits(gallery, put):
    query = np.full(BITS, 0.01)
    query[0] = 1
    nearer, farther = np.ones(BITS), -np.ones(BITS)
    nearer[0], farther[0] = -1, 1  # one bit differs, which is sure; all others differ, which are not
    for number in range(210):
        put(f"/nearer/{number}.jpg", nearer)
    best = put("/farther.jpg", farther)
    (hit,) = gallery.search(query, 1)
    assert (hit.id, hit.distance) == (best, BITS - 1)


def test_the_shape_of_a_drawing_decides_among_photos_of_one_code(gallery, model, values):
    square, slash = [[[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]]], [[[0, 9], [9, 0]]]
    searcher = Searcher(model, gallery)
    with gallery.writing() as writer:
        for name, drawn in (("none", None), ("square", square), ("slash", slash), ("far", [[[0, 0], [9, 9]]])):
            row = -values[0] if name == "far" else values[0]
            ink = None if drawn is None else searcher.prepare(drawn).pixels
            shape = None if ink is None else describe_contours(1 - ink.astype(np.float32) / 255)
            file = PhotoFile(Path(f"/{name}.jpg"), sha256(name.encode()).hexdigest(), 1, 1)
            writer.put(file, pack(row[np.newaxis]).tobytes(), b"jpeg", shape)

    def order(drawing, k=9):
        asked = None if drawing is None else searcher.prepare(drawing)
        return [hit.path.stem for hit in searcher.by_values(values[0], k, asked=asked)]

    assert order(None) == ["none", "square", "slash", "far"]
    assert order(square) == ["square", "none", "slash", "far"]
    assert order(slash) == ["slash", "none", "square", "far"]
    assert order(slash, k=1) == ["slash"]


def test_a_photo_as_query_has_no_shape(searcher):
    assert searcher.shape_of(searcher.prepare(np.zeros((9, 9, 3), np.uint8), "photo")) is None


def test_shapes_of_another_version_count_as_missing_and_broken_ones_are_not_used(gallery, put, values):
    photo, other = put("/a.jpg", values[0]), put("/b.jpg", values[0])
    gallery.rows("INSERT INTO shapes VALUES (?, 0, ?)", photo, bytes(512))
    gallery.rows("INSERT INTO shapes VALUES (?, 1, ?)", other, b"broken")
    assert gallery.shapes_of([photo, other]) == {}
    assert gallery.count_without_shape() == 1


def test_similar_photos_leave_the_photo_itself_out(searcher):
    hits = searcher.similar(4, 29)
    assert len(hits) == 29
    assert 4 not in [hit.id for hit in hits]
    assert [(hit.distance, hit.id) for hit in hits] == sorted((hit.distance, hit.id) for hit in hits)
    assert {hit.label for hit in searcher.similar(4, 5, only=Filter(label="1"))} == {"1"}
    with pytest.raises(BadArgument, match="no photo with the id 99"):
        searcher.similar(99)


def test_a_search_with_a_model_may_be_limited_too(searcher, folder):
    assert {hit.label for hit in searcher.search(DRAWING, only=Filter(label="2"))} == {"2"}
    assert {hit.path.parent for hit in searcher.search(DRAWING, only=Filter(folder / "0"))} == {folder / "0"}
    assert len(searcher) == 30


@pytest.mark.parametrize(
    ("query", "error", "said"),
    [
        (b"junk", UnreadableImage, "Cannot read these bytes"),
        (Path("/nowhere/a.png"), UnreadableImage, "/nowhere/a.png"),
        (b"[[1, 2", BadArgument, "no valid JSON"),
        (b'{"strokes": []}', BadArgument, "list of strokes"),
        ([[[0, "x"]]], BadArgument, "not a point"),
        (7, BadArgument, "list of strokes"),
        (np.zeros((4, 4)), BadArgument, "uint8"),
        (np.zeros((4, 4, 2), np.uint8), BadArgument, "uint8"),
        (np.zeros((0, 4), np.uint8), UnreadableImage, "empty"),
        (np.full((9, 9), 255, np.uint8), UnreadableImage, "no ink"),
    ],
)
def test_what_is_no_query_is_refused_with_the_reason(searcher, query, error, said):
    with pytest.raises(error, match=said):
        searcher.search(query)


def test_a_pipe_is_not_waited_for(searcher, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UnreadableImage, match="not a regular file"):
        searcher.search(tmp_path / "pipe")


def test_limits_hold_for_pictures(searcher, paint_sketch, tmp_path):
    with pytest.raises(UnreadableImage, match="more than 100"):
        searcher.prepare(paint_sketch(tmp_path / "s.png"), limits=Limits(pixels=100))


def test_a_gallery_of_another_model_is_refused(gallery, other_model):
    with pytest.raises(IncompatibleGallery, match="their codes do not compare"):
        Searcher(other_model, gallery)


def test_looking_up_counting_and_searching_do_not_wait_for_each_other(searcher, gallery):
    with gallery.snapshot():  # as a long look-up would
        done = []
        thread = threading.Thread(target=lambda: done.append(searcher.search(DRAWING, 1)))
        thread.start()
        thread.join(20)
        assert len(done) == 1
