"""Galleries on engines: addresses, copies there and back that are equal, searches as in a file, and kills."""

import math
import os
import re
import sys
import threading
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sketchhash.codes import unpack
from sketchhash.engines import copy_photos, create_gallery, open_gallery
from sketchhash.engines import copying as copying_module
from sketchhash.engines.addresses import Address
from sketchhash.engines.milvus import Collection, CollectionLayout, MilvusServer
from sketchhash.engines.milvus_index import MilvusIndex
from sketchhash.engines.milvus_rows import name_of, stored_text
from sketchhash.engines.postgres import Database, PgvectorIndex
from sketchhash.engines.thumbnail_stores import bytes_of, stored_bytes
from sketchhash.errors import BadArgument, EngineProblem, IncompatibleGallery
from sketchhash.gallery import Filter, GalleryFile, Near, index_events
from sketchhash.imaging.details import Details
from sketchhash.index.reference import ReferenceIndex
from sketchhash.tokens.shape import GRID, SHAPE_BYTES, ShapeQuery


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("mivlus://127.0.0.1/photos", "Did you mean 'milvus'"),
        ("milvus://127.0.0.1:1/a-b", "letters, digits and _"),
        ("milvus://127.0.0.1:1/photos?indx=1", "no option of a gallery's address named 'indx'"),
        ("milvus:///photos", "names no server"),
        ("milvus://127.0.0.1:1/photos?timeout=never", "give seconds"),
        ("milvus://127.0.0.1:port/photos", "cannot be read"),
        ("postgresql://127.0.0.1:1/photos?gallery=DROP", "a-z, 0-9 and _"),
    ],
)
def test_addresses_that_make_no_sense_are_refused(address, said):
    with pytest.raises(BadArgument, match=said):
        open_gallery(address)


def test_a_wrong_password_is_told_and_not_shown(milvus_server):
    with pytest.raises(EngineProblem) as told:
        open_gallery(milvus_server.address("photos", user="root:wrong-secret"))
    assert "wrong-secret" not in str(told.value)


@pytest.mark.parametrize(("module", "extra"), [("pymilvus", "milvus"), ("psycopg", "postgres")])
def test_a_missing_package_names_the_command_that_installs_it(monkeypatch, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    address = {"milvus": "milvus://127.0.0.1/photos", "postgres": "postgresql://127.0.0.1/photos"}[extra]
    with pytest.raises(Exception, match=rf"pip install .*\[{extra}\]'"):
        open_gallery(address)


on_every_engine = pytest.mark.parametrize("engine", ["milvus", "postgres"])

NAMES = [
    *(f"cats/{number}.png" for number in range(5)),
    *(f"cats/small/{number}.png" for number in range(3)),
    *(f"dogs/{number}.png" for number in range(4)),
    'it\'s "100%" _odd\\.png',
    "café/Ünïcode.png",
    os.fsdecode(b"raw/\xff\xfe.png"),
]


SHAPE = ShapeQuery(np.random.default_rng(0).standard_normal(2 * GRID).astype(np.float32))


def write_photos(folder, names, first_seed=0):
    for seed, name in enumerate(names, first_seed):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(path, format="PNG")


@pytest.fixture
def server(engine, request):
    return request.getfixturevalue(f"{engine}_server")


@pytest.fixture
def address(server, request):
    """Return the address of a gallery that nobody else has."""
    return server.address(re.sub(r"\W", "_", request.node.name)[-60:], timeout=60)


@pytest.fixture(scope="session")
def gallery_file(tmp_path_factory, model):
    """Return a gallery with odd names, whose files are there, and whose codes tie: some are equal."""
    folder = tmp_path_factory.mktemp("odd")
    write_photos(folder / "photos", NAMES)
    with GalleryFile.create(folder / "test.gallery", model) as gallery:
        list(index_events(gallery, model, [folder / "photos"], labels="folder"))
        gallery.rows("UPDATE photos SET label = NULL WHERE id % 5 = 0")
        gallery.rows("UPDATE photos SET label = '' WHERE id % 5 = 1")
        gallery.rows("UPDATE codes SET code = (SELECT code FROM codes WHERE photo = 2) WHERE photo % 3 = 0")
        gallery.remove([folder / "photos/dogs/1.png"])
        rng = np.random.default_rng(0)
        with gallery.writing() as writer:  # all have shapes but one
            writer.put_shapes({photo.id: rng.bytes(SHAPE_BYTES) for photo in gallery.photos() if photo.id != 3})
            writer.put_details({photo.id: random_details(rng) for photo in gallery.photos()})
        gallery.rows("DELETE FROM details WHERE photo = 4")
        gallery.rows("INSERT INTO drawings SELECT id FROM photos WHERE id % 4 = 1")
    return folder / "test.gallery"


def random_details(rng):
    """Make up details, of which some are missing; camera and text hold what engines treat specially."""
    place = rng.choice([(48.1, 11.6), (48.2, 11.5), (-89.9, 0.0), (0.0, 179.95), (0.0, -179.95), (12.5, 0.0)]).tolist()
    return Details(
        taken_at=datetime(2022 + int(rng.integers(3)), int(rng.integers(1, 13)), 1) if rng.random() < 0.7 else None,
        camera='Café "100%" X\\Y' if rng.random() < 0.5 else None,
        width=640,
        height=480,
        latitude=place[0] if (is_placed := rng.random() < 0.7) else None,
        longitude=place[1] if is_placed else None,
        description="a cat's 'nap' 日本" if rng.random() < 0.5 else None,
        sidecars=int(rng.integers(2**55)),
    )


FILTERS = [
    Filter(start=datetime(2023, 1, 1)),
    Filter(end=datetime(2023, 1, 1)),
    Filter(start=datetime(2022, 6, 1), end=datetime(2023, 6, 1)),
    Filter(start=datetime(2030, 1, 1)),
    Filter(near=Near(48.15, 11.55, 20)),
    Filter(near=Near(48.1, 11.6, 0.001)),
    Filter(near=Near(0, 180, 50)),
    Filter(near=Near(-90, 77, 100)),
    Filter(near=Near(10, 20, 30_000)),
    Filter(label="cats", start=datetime(2022, 1, 1), near=Near(48, 11, 500)),
]


def brute_force(only, photos):
    """Return the ids of the photos that pass, without any gallery's help."""

    def passes(photo, details):
        if only.folder is not None and only.folder not in photo.path.parents:
            return False
        if only.label is not None and photo.label != only.label:
            return False
        details = details or Details()
        if only.needs_date and details.taken_at is None:
            return False
        if (only.start and details.taken_at < only.start) or (only.end and details.taken_at >= only.end):
            return False
        if only.near is None:
            return True
        if details.latitude is None:
            return False
        here, there = (
            np.array([math.cos(a) * math.cos(b), math.cos(a) * math.sin(b), math.sin(a)])
            for a, b in (
                np.radians([only.near.latitude, only.near.longitude]),
                np.radians([details.latitude, details.longitude]),
            )
        )
        return 6371.0088 * math.atan2(np.linalg.norm(np.cross(here, there)), here @ there) <= only.near.kilometres

    return {photo.id for photo, details in photos if passes(photo, details)}


def copy(source, target, **options):
    """Copy from one place to another; give how many photos were written, removed and left."""
    with open_gallery(str(source), latest=True) as read, create_gallery(str(target), read.model) as written:
        steps = copy_photos(read, written, **options)
        while True:
            try:
                next(steps)
            except StopIteration as end:
                return end.value.written, end.value.removed, end.value.unchanged


def everything_in(place):
    with open_gallery(str(place), latest=True) as rows:
        return [(row, rows.thumbnails([row.photo.id])[row.photo.id]) for page in rows.pages() for row in page]


@on_every_engine
def test_a_gallery_is_the_same_there_and_back(address, gallery_file, tmp_path):
    photos = len(everything_in(gallery_file))
    assert photos == len(NAMES) - 1
    assert copy(gallery_file, address) == (photos, 0, 0)
    assert everything_in(address) == everything_in(gallery_file)
    assert copy(address, tmp_path / "back.gallery") == (photos, 0, 0)
    assert everything_in(tmp_path / "back.gallery") == everything_in(gallery_file)
    assert copy(gallery_file, address) == (0, 0, photos)
    finds_and_tells_the_same(address, gallery_file)


@on_every_engine
def test_a_copy_of_before_there_were_details_goes_on_without_them(engine, address, gallery_file, monkeypatch):
    photos = len(everything_in(gallery_file))
    if engine == "milvus":
        for name in ("DETAIL_TEXTS", "DETAIL_NUMBERS", "DETAIL_REALS"):
            monkeypatch.setattr(f"sketchhash.engines.milvus_gallery.{name}", {} if name.endswith("TEXTS") else ())
        with GalleryFile.open(gallery_file) as source:
            create_gallery(address, source.model).close()
        monkeypatch.undo()
        copy(gallery_file, address)
    else:
        copy(gallery_file, address)
        with Database(Address.parse(address)) as database, database.transaction() as connection:
            connection.execute("DROP TABLE details")
    assert {row.details for row, _ in everything_in(address)} == {None}
    with open_gallery(address, latest=True) as copied:
        assert len(copied.search(np.ones(32), 5)) == 5
        for only in (Filter(start=datetime(2020, 1, 1)), Filter(near=Near(48, 11, 100))):
            assert copied.search(np.ones(32), 5, only) == []
            assert sum(copied.left_out(only)) == photos
        assert (copied.info().dated, copied.info().placed) == (0, 0)
    if engine == "postgres":
        copy(gallery_file, address)
        assert everything_in(address) == everything_in(gallery_file)


@on_every_engine
def test_a_copy_of_before_there_were_shapes_goes_on_without_them(engine, address, gallery_file, monkeypatch):
    photos = len(everything_in(gallery_file))
    if engine == "milvus":
        monkeypatch.setattr("sketchhash.engines.milvus_gallery.SHAPE", {})
        copy(gallery_file, address)
        monkeypatch.undo()
        assert copy(gallery_file, address) == (0, 0, photos)
        assert {row.shape for row, _ in everything_in(address)} == {None}
    else:
        copy(gallery_file, address)
        with Database(Address.parse(address)) as database, database.transaction() as connection:
            connection.execute("DROP TABLE shapes")
        assert {row.shape for row, _ in everything_in(address)} == {None}
        assert copy(gallery_file, address) == (photos - 1, 0, 1)
        assert everything_in(address) == everything_in(gallery_file)
    with open_gallery(address) as copied:
        assert len(copied.search(np.ones(32), 5, shape=SHAPE)) == 5


def finds_and_tells_the_same(address, gallery_file):
    """Every question that a service asks has the same answer, whichever holds the gallery."""
    with open_gallery(address) as engine, GalleryFile.open(gallery_file) as gallery:
        eventually(lambda: engine.count() == len(gallery))
        engine.prepare_search()
        assert len(engine) == len(gallery)
        root = gallery.path_ends()[0].rpartition(b"photos/")[0] + b"photos/"
        folder = Path(os.fsdecode(root))
        rng = np.random.default_rng(0)
        for values in [*rng.standard_normal((3, 32)), unpack(np.frombuffer(gallery.code(2), np.uint8)[None])[0]]:
            for k, place, label in [
                (3, None, None), (100, None, None), (2, folder / "cats", None), (9, folder / "cats/small", "small"),
                (9, folder / "it's", None), (9, None, "cats"), (9, None, ""), (9, None, 'no "such" one'),
                (9, folder / os.fsdecode(b"raw"), None), (9, folder / "café", "café"),
            ]:  # fmt: skip
                for rerank, shape in ((False, None), (True, None), (True, SHAPE)):
                    only = Filter(place, label)
                    assert engine.search(values, k, only, rerank, shape) == gallery.search(
                        values, k, only, rerank, shape
                    )
        photos = [(row.photo, row.details) for page in gallery.pages() for row in page]
        for only in [*FILTERS, *(replace(each, folder=folder / "cats") for each in FILTERS)]:
            found = engine.search(np.ones(32), 100, only)
            assert found == gallery.search(np.ones(32), 100, only)
            assert {hit.id for hit in found} == brute_force(only, photos)
            assert engine.left_out(only) == gallery.left_out(only)
        assert engine.path_ends() == gallery.path_ends()
        assert engine.top_folders(root, 10) == gallery.top_folders(root, 10)
        deeper = [root + top + b"/" for top, _ in gallery.top_folders(root, 10)]
        assert [engine.top_folders(each, 10) for each in deeper] == [gallery.top_folders(each, 10) for each in deeper]
        told, known = engine.info(), gallery.info()
        assert replace(told, bytes=0) == replace(known, bytes=0)
        ids = [photo.id for photo, _ in photos]
        assert engine.details(ids) == gallery.details(ids)
        assert sorted(engine.tagged_drawings()) == sorted(gallery.tagged_drawings())
        assert gallery.tagged_drawings()
        for most in (3, 100):
            sample = engine.sample(most)
            assert sample.codes.tobytes() == b"".join(gallery.code(photo) for photo in sample.ids)
            assert len(sample.ids) == min(most, known.photos)
        photo = next(gallery.photos())
        assert engine.photo(photo.id) == photo
        with pytest.raises(BadArgument, match="no photo with the id 999"):
            engine.photo(999)
        with pytest.raises(BadArgument, match="no photo with the id 999"):
            engine.thumbnail(999)


@on_every_engine
def test_a_copy_follows_its_source_and_loses_nothing_unasked(address, gallery_file, tmp_path):
    changing = tmp_path / "changing.gallery"
    copy(gallery_file, changing)
    copy(changing, address)
    with GalleryFile.open(changing) as gallery:
        first, second, third, *_ = gallery.photos()
        paths = {photo.id: os.fsencode(photo.path) for photo in (first, second)}
        gallery.rows("UPDATE photos SET path = x'00' WHERE id = ?", first.id)
        gallery.rows("UPDATE photos SET path = ? WHERE id = ?", paths[first.id], second.id)
        gallery.rows("UPDATE photos SET path = ?, label = 'new' WHERE id = ?", paths[second.id], first.id)
        gallery.rows("DELETE FROM photos WHERE id = ?", third.id)
    with pytest.raises(BadArgument, match=r"1 photos that are not in .*Nothing was written"):
        copy(changing, address)
    assert everything_in(address) == everything_in(gallery_file)
    assert copy(changing, address, prune=True)[:2] == (2, 1)
    assert everything_in(address) == everything_in(changing)
    # The same changes, from the engine to a file.
    copy(address, gallery_copy := tmp_path / "old.gallery")
    assert everything_in(gallery_copy) == everything_in(changing)


@on_every_engine
def test_another_gallery_is_not_overwritten(address, gallery_file, tmp_path, model, other_model):
    copy(gallery_file, address)
    write_photos(tmp_path / "photos", ["a.png"], first_seed=500)
    with GalleryFile.create(tmp_path / "other.gallery", model) as gallery:
        list(index_events(gallery, model, [tmp_path / "photos"]))
    with pytest.raises(BadArgument, match="is not a copy of"):
        copy(tmp_path / "other.gallery", address, prune=True)
    GalleryFile.create(tmp_path / "wide.gallery", other_model).close()
    with pytest.raises(IncompatibleGallery, match="Name another target"):
        copy(tmp_path / "wide.gallery", address)
    with pytest.raises(IncompatibleGallery, match="Use that model"), open_gallery(address, other_model):
        pass
    assert everything_in(address) == everything_in(gallery_file)


@on_every_engine
def test_a_kill_loses_nothing_that_was_acknowledged(address, server, gallery_file, monkeypatch):
    """One writes and one searches while the server is killed: both are told, and go on when it is back."""
    copy(gallery_file, searched := server.address("searched", timeout=60))
    with open_gallery(str(gallery_file)) as read, create_gallery(address, read.model):
        pass  # made in peace: a busy machine takes its time
    monkeypatch.setattr(copying_module, "_BATCH", 1)
    read_thumbnails = GalleryFile.thumbnails
    monkeypatch.setattr(GalleryFile, "thumbnails", lambda *given: time.sleep(0.05) or read_thumbnails(*given))
    acknowledged, told = [], []
    values = np.ones(32)
    with open_gallery(f"{searched}&timeout=10") as engine:
        eventually(lambda: len(engine.search(values, 5)) == 5)  # a service may see what was written a little later
        right = engine.search(values, 5)

        def write():
            with (
                open_gallery(str(gallery_file)) as read,
                create_gallery(f"{address}&timeout=10", read.model) as written,
            ):
                for step in copy_photos(read, written):
                    acknowledged.append(step.done)  # noqa: PERF401 - as it goes

        def search():
            while True:
                engine.search(values, 5)

        def until_told(work):
            try:
                work()
            except EngineProblem as problem:
                told.append(str(problem))

        threads = [threading.Thread(target=until_told, args=[work], daemon=True) for work in (write, search)]
        for thread in threads:
            thread.start()
        eventually(lambda: told or len(acknowledged) >= 4, look_every=0.001)
        assert not told, "a problem before there was any"
        server.kill()
        for thread in threads:
            thread.join(120)
        assert acknowledged[-1] < len(NAMES) - 1
        assert [("could not do what was asked" in text, "root:" in text) for text in told] == [(True, False)] * 2

        server.start()
        wait_for(searched)
        wait_for(address)
        eventually(lambda: engine.search(values, 5) == right)
    everything = everything_in(gallery_file)
    there = everything_in(address)
    assert there[: acknowledged[-1]] == everything[: acknowledged[-1]]
    written, removed, unchanged = copy(gallery_file, address)
    assert (written + unchanged, removed, unchanged) == (len(everything), 0, len(there))
    assert everything_in(address) == everything


def eventually(is_so, look_every=0.1):
    end = time.monotonic() + 60
    while not is_so():
        if time.monotonic() > end:
            pytest.fail("it does not come to that")
        time.sleep(look_every)


def wait_for(address):
    """Wait until the engine has its data again: it answers before."""
    for _ in range(200):
        try:
            with open_gallery(f"{address}&timeout=10") as engine:
                engine.search(np.ones(32), 1)
                return
        except EngineProblem:
            threading.Event().wait(0.2)
    pytest.fail("the engine does not come back")


@on_every_engine
def test_many_open_one_gallery_at_once(address, gallery_file):
    """Several make it at the same time, write the same, and search meanwhile."""
    problems = []

    def work():
        try:
            copy(gallery_file, address)
            with open_gallery(address) as engine:
                engine.search(np.ones(32), 5)
        except Exception as problem:
            problems.append(problem)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not problems
    assert everything_in(address) == everything_in(gallery_file)


def test_a_gallery_may_be_opened_while_another_writes_to_it(postgres_server, gallery_file):
    """Opening makes what is missing, and must not wait for tables in another order than writers do."""
    address = postgres_server.address("opened_meanwhile", timeout=60)
    copy(gallery_file, address)
    with GalleryFile.open(gallery_file) as source:
        rows = [row for page in source.pages() for row in page]
        model = source.model
    with create_gallery(address, model) as gallery, gallery.writing() as writer:
        opened = threading.Thread(target=lambda: create_gallery(address, model).close(), daemon=True)
        writer._cursor.execute("UPDATE photos SET size = size")
        opened.start()
        opened.join(60)
        assert not opened.is_alive(), "it waits for the writer"
        writer.put_rows(rows, {})
    assert [row for row, _ in everything_in(address)] == rows


def test_tables_that_an_old_gallery_lacks_are_made_between_two_writers(postgres_server, gallery_file):
    address = postgres_server.address("made_between", timeout=60)
    copy(gallery_file, address)
    with Database(Address.parse(address)) as database, database.transaction() as connection:
        connection.execute("DROP TABLE details")
        connection.execute("DROP INDEX photos_by_content")
    with GalleryFile.open(gallery_file) as source:
        rows = [row for page in source.pages() for row in page]
        model = source.model
    with open_gallery(address) as gallery, gallery.writing() as writer:
        opened = threading.Thread(target=lambda: create_gallery(address, model).close(), daemon=True)
        opened.start()
        opened.join(1)
        writer.put_rows(rows, {})
    opened.join(60)
    assert not opened.is_alive()
    copy(gallery_file, address)
    assert everything_in(address) == everything_in(gallery_file)


def test_a_transaction_that_lost_a_deadlock_is_done_again(postgres_server, gallery_file):
    """PostgreSQL ends one of those that wait for each other, and expects it to try again."""
    address = postgres_server.address("deadlock", timeout=60)
    copy(gallery_file, address)
    first, *_ = everything_in(gallery_file)
    with open_gallery(address) as gallery:
        writing = threading.Thread(target=lambda: gallery.put_rows([first[0]], {}), daemon=True)
        with Database(Address.parse(address)) as database, database.transaction() as foreign:
            foreign.execute("SET LOCAL deadlock_timeout = '60s'")  # the other one notices first, and is ended
            foreign.execute("LOCK TABLE photos IN EXCLUSIVE MODE")
            writing.start()
            blocked = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            eventually(lambda: database.rows(blocked), look_every=0.01)
            foreign.execute("UPDATE settings SET value = value WHERE name = 'revision'")
        writing.join(60)
        assert not writing.is_alive()
    assert everything_in(address) == everything_in(gallery_file)


def test_a_collection_without_an_index_is_finished_by_the_next_copy(milvus_server, gallery_file):
    """Who makes it may be stopped in between, or be about to make the index."""
    address = milvus_server.address("unfinished", timeout=60)
    copy(gallery_file, address)
    with open_gallery(address) as engine:
        client = engine._server.client
        client.release_collection("unfinished")
        client.drop_index("unfinished", "code")
    with pytest.raises(BadArgument, match="not finished"):
        open_gallery(address)
    copy(gallery_file, address)
    assert everything_in(address) == everything_in(gallery_file)


@on_every_engine
def test_what_is_not_there_is_explained(address, server):
    with pytest.raises(BadArgument, match="Make one with: sketchhash index"):
        open_gallery(address)
    nowhere = address.replace(address.split("@127.0.0.1:")[1].split("/")[0], "1")
    with pytest.raises(EngineProblem, match="see that it runs"):
        open_gallery(f"{nowhere}&timeout=2")


def test_an_hnsw_index_finds_nearly_all_and_keeps_the_order(postgres_server):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (2000, 8), dtype=np.uint8)
    reference = ReferenceIndex(64)
    reference.add(np.arange(2000), codes)
    with Database(Address.parse(postgres_server.address("hnsw", timeout=60))) as database:
        index = PgvectorIndex(database, 64, hnsw=True)
        index.add(np.arange(2000), codes)
        found, right = index.search(codes[:20], 10), reference.search(codes[:20], 10)
        exact = PgvectorIndex(database, 64).search(codes[:20], 10)
    for hits, best, same in zip(found, right, exact, strict=True):
        order = [(distance, each) for distance, each in zip(hits.distances.tolist(), hits.ids.tolist(), strict=True)]
        assert order == sorted(order)
        np.testing.assert_array_equal(same.ids, best.ids)
    share = np.mean([np.isin(best.ids, hits.ids).mean() for hits, best in zip(found, right, strict=True)])
    assert share > 0.8


@pytest.mark.parametrize("kind", ["BIN_FLAT", "BIN_IVF_FLAT"])
def test_codes_that_milvus_has_written_down_are_found_exactly(milvus_server, kind, monkeypatch):
    """Flushed codes are searched through the index, later ones without; more tie than it gives at once."""
    rng = np.random.default_rng(0)
    ids = rng.permutation(4000) - 2000
    codes = rng.integers(0, 4, (4000, 2), dtype=np.uint8)
    reference = ReferenceIndex(16)
    reference.add(ids, codes)
    address = Address.parse(milvus_server.address(f"flushed_{kind}", timeout=60))
    with MilvusServer(address) as server:
        collection = Collection.create(server, address.name, CollectionLayout(16, kind=kind, clusters=16))
        index = MilvusIndex(collection, most=1000)
        index.add(ids[:3000], codes[:3000])
        index.settle()
        told = server.client.get_collection_stats(address.name)
        assert told["row_count"] == 3000  # of what is not written down yet it does not tell
        index.add(ids[3000:], codes[3000:])
        queries = codes[:2]
        for found, right in [
            (index.search(queries, 5), reference.search(queries, 5)),
            (index.search(queries, 1500), reference.search(queries, 1500)),
            (index.within(queries, 1), reference.within(queries, 1)),
        ]:
            for hits, best in zip(found, right, strict=True):
                np.testing.assert_array_equal(hits.ids, best.ids)
                np.testing.assert_array_equal(hits.distances, best.distances)
        monkeypatch.setattr("sketchhash.engines.milvus.MOST", 700)
        assert [row["id"] for page in collection.pages([]) for row in page] == list(range(-2000, 2000))


def test_a_copy_into_a_file_leaves_none_half_done(tmp_path, gallery_file, monkeypatch):
    """An error inside a batch undoes the batch, and the next run goes on from the one before."""
    monkeypatch.setattr(copying_module, "_BATCH", 4)
    target = tmp_path / "target.gallery"
    put, calls = GalleryFile.put_rows, []

    def failing(self, rows, thumbnails):
        calls.append(rows)
        if len(calls) == 3:
            rows = [*rows[:-1], replace(rows[-1], photo=replace(rows[-1].photo, sha256="none"))]
        put(self, rows, thumbnails)

    monkeypatch.setattr(GalleryFile, "put_rows", failing)
    with pytest.raises(ValueError, match="hexadecimal"):
        copy(gallery_file, target)
    assert len(everything_in(target)) == 8
    monkeypatch.setattr(GalleryFile, "put_rows", put)
    assert copy(gallery_file, target)[2] == 8
    assert everything_in(target) == everything_in(gallery_file)


def test_names_of_any_bytes_are_kept_and_folders_stay_ranges():

    @given(st.binary(max_size=20), st.binary(max_size=20))
    def check(folder, rest):
        assert name_of(stored_text(folder)) == folder
        start = stored_text(folder + b"/")
        assert stored_text(folder + b"/" + rest).startswith(start)
        assert not set(stored_text(rest)) & set("\"'\\")

    check()
    for size in (0, 1, 49_149, 49_152, 60_000):
        content = np.random.default_rng(size).bytes(size)
        pieces = stored_bytes(content)
        assert bytes_of(*pieces) == content
        assert max(map(len, pieces)) <= 65_535
