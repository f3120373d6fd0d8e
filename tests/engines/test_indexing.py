"""Photos are indexed straight into an engine: the rules of a file, kills of whoever indexes, and many at once."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import asdict

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from sketchhash.cli import app
from sketchhash.engines import create_gallery, open_gallery
from sketchhash.errors import BadArgument, IncompatibleGallery
from sketchhash.gallery import (
    GalleryFile,
    GalleryModel,
    Searcher,
    WorkerProcesses,
    find_copies,
    index,
    index_events,
    verify,
)
from sketchhash.imaging.perceptual import PERCEPTUAL_BYTES
from sketchhash.model import Model

on_every_engine = pytest.mark.parametrize("engine", ["milvus", "postgres"])
KILLS = 3


@pytest.fixture
def address(engine, request):
    """Return the address of a gallery that nobody else has."""
    server = request.getfixturevalue(f"{engine}_server")
    return server.address(re.sub(r"\W", "_", request.node.name)[-60:], timeout=60)


@pytest.fixture
def gallery(address, model):
    with create_gallery(address, model) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    return folder


def photo(path, seed=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path, format="PNG")
    return path


def counts(summary):
    failed = len(summary.failed)
    numbers = {name: value for name, value in asdict(summary).items() if name not in ("failed", "skipped") and value}
    return {**numbers, "failed": failed} if failed else numbers


def contents(gallery):
    """Return all that is known of the photos but their ids and when they were indexed."""
    return {
        row.photo.path: (row.photo.sha256, row.photo.size, row.photo.mtime_ns, row.photo.label, row.code, row.details)
        for page in gallery.pages()
        for row in page
    }


def ids(gallery):
    return {row.photo.path.name: row.photo.id for page in gallery.pages() for row in page}


def indexed_into_a_file(folder, model, place):
    with GalleryFile.create(place, model) as gallery:
        list(index_events(gallery, model, [folder], labels="folder"))
        return contents(gallery)


@on_every_engine
def test_an_engine_follows_the_rules_of_a_file(gallery, model, folder, tmp_path):
    for seed, name in enumerate(["a.png", "b.png", "c.png", "sub/d.png", 'o\'d "100%".png']):
        photo(folder / name, seed)
    (folder / "broken.png").write_bytes(b"no photo")

    def run(**options):
        return counts(index(gallery, model, [folder], labels="folder", **options))

    assert run() == {"added": 5, "failed": 1}
    assert run() == {"unchanged": 5, "failed": 1}
    before = ids(gallery)
    os.utime(folder / "a.png", ns=(1, 1))
    assert run() == {"unchanged": 5, "failed": 1}
    (folder / "b.png").rename(folder / "moved.png")
    photo(folder / "c.png", 77)
    photo(folder / "copy.png", 0)
    (folder / "sub/d.png").unlink()
    assert run(prune=True) == {"unchanged": 2, "moved": 1, "updated": 1, "added": 1, "removed": 1, "failed": 1}
    after = ids(gallery)
    assert after["moved.png"] == before["b.png"]
    assert after["a.png"] == before["a.png"]
    assert after["c.png"] != before["c.png"]
    assert contents(gallery) == indexed_into_a_file(folder, model, tmp_path / "afresh.gallery")
    assert set(gallery.thumbnails(list(after.values()))) == set(after.values())
    assert all(len(each) == PERCEPTUAL_BYTES for each in gallery.perceptual_hashes(list(after.values())).values())
    assert [checked.problems for checked in verify(gallery, model)] == [()] * 5
    (group,) = find_copies(gallery)
    assert {group.keep.path.name, *(copy.photo.path.name for copy in group.copies)} == {"a.png", "copy.png"}
    searcher = Searcher(model, gallery)
    (hit,) = searcher.search(folder / "a.png", 1, kind="photo")
    assert hit.copies == 1
    assert {hit.path.name, *(copy.path.name for copy in searcher.copies(hit.id))} == {"a.png", "copy.png"}


@on_every_engine
def test_a_photo_that_comes_back_to_where_another_was_gets_an_id_of_its_own(gallery, model, folder):
    path = photo(folder / "a.png", 1)
    index(gallery, model, [folder])
    path.rename(folder / "b.png")
    index(gallery, model, [folder])
    photo(path, 1)
    assert counts(index(gallery, model, [folder])) == {"added": 1, "unchanged": 1}
    assert len(set(ids(gallery).values())) == 2


@on_every_engine
def test_hashes_that_are_missing_are_filled_in_from_thumbnails(gallery, model, folder):
    for seed in range(3):
        photo(folder / f"{seed}.png", seed)
    index(gallery, model, [folder])
    with gallery.writing() as writer:
        rows = list(writer.rows(list(ids(gallery).values())).values())
        writer.put_rows([type(row)(row.photo, row.code, row.shape, row.details) for row in rows], {})
    assert len(gallery.without_hash(10)) == 3
    assert counts(index(gallery, model, [folder])) == {"unchanged": 3}
    assert gallery.without_hash(10) == []
    assert len(gallery.thumbnails(list(ids(gallery).values()))) == 3


@on_every_engine
def test_every_verb_takes_an_address(address, folder, model_folder, tmp_path, monkeypatch):
    monkeypatch.setenv("SKETCHHASH_MODEL", str(model_folder))
    monkeypatch.setenv("SKETCHHASH_GALLERY", address)
    for seed in range(3):
        photo(folder / f"cat/{seed}.png", seed)
    photo(folder / "dog/0.png", 0)

    def run(*arguments):
        result = CliRunner().invoke(app, [str(each) for each in arguments])
        assert result.exit_code == 0, result.output
        assert "Milvus@" not in result.output
        return result.stdout

    assert run("index", folder, "--labels", "folder") == "4 added\n"
    assert "photos        4" in run("gallery", "info")
    assert run("gallery", "verify") == ""
    assert run("gallery", "duplicates", "--exact").count("copy\t") == 1
    assert len(run("gallery", "export", "--format", "jsonl").splitlines()) == 4
    assert run("search", folder / "cat/1.png", "--photo", "-k", 1).startswith(f"1\t0\t{folder / 'cat/1.png'}")
    assert run("gallery", "remove", folder / "dog") == "1 removed\n"
    assert run("gallery", "shapes").endswith("without a shape\n")
    assert len(run("gallery", "export", "--format", "jsonl").splitlines()) == 3


def command(address, model_folder, *places, options=()):
    arguments = ["index", *places, "--gallery", address, "--model", model_folder, "--labels", "folder", *options]
    return [sys.executable, "-m", "sketchhash", *map(str, arguments)]


@pytest.mark.slow
@on_every_engine
def test_killed_at_any_moment_the_next_run_ends_as_if_nothing_had_happened(
    address, model, model_folder, folder, tmp_path
):
    rng = np.random.default_rng()
    for seed in range(40):
        photo(folder / f"{seed % 4}/{seed}.png", seed)
    create_gallery(address, model).close()
    killed = 0
    while killed < KILLS:
        with subprocess.Popen(
            command(address, model_folder, folder, options=["--prune", "--json"]), stdout=subprocess.PIPE, text=True
        ) as process:
            process.stdout.readline()  # the first event: indexing has begun
            time.sleep(rng.uniform(0, 0.8))
            process.send_signal(signal.SIGKILL)
            lines = [line for line in process.stdout.read().splitlines() if line.endswith("}")]
        killed += 1
        done = max((json.loads(line).get("done", 0) for line in lines), default=0)
        with open_gallery(address, latest=True) as gallery:
            found = [row.photo.id for page in gallery.pages() for row in page]  # several folders may have one name
            assert len(found) >= done
            assert set(gallery.thumbnails(found)) == set(found)
        for _ in range(4):
            changed = folder / f"{rng.integers(4)}/{rng.integers(40)}.png"
            photo(changed, int(rng.integers(10_000)))
            if rng.random() < 0.5:
                changed.rename(folder / f"{rng.integers(4)}/{rng.integers(40)}.png")
    with open_gallery(address, latest=True) as gallery:
        index(gallery, model, [folder], labels="folder", prune=True)
        rows = [row.photo.path for page in gallery.pages() for row in page]
        assert len(rows) == len(set(rows))
        assert contents(gallery) == indexed_into_a_file(folder, model, tmp_path / "afresh.gallery")


@pytest.mark.slow
@on_every_engine
def test_several_processes_index_different_folders_at_once(address, model, model_folder, folder, tmp_path):
    for seed in range(48):
        photo(folder / f"{seed % 3}/{seed}.png", seed)
    photo(folder / "2/same.png", 0)  # as in the first folder
    running = [
        subprocess.Popen(command(address, model_folder, folder / str(part)), stderr=subprocess.PIPE, text=True)
        for part in range(3)
    ]
    for process in running:
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
    with open_gallery(address, latest=True) as gallery:
        assert len(set(ids(gallery).values())) == 49
        assert contents(gallery) == indexed_into_a_file(folder, model, tmp_path / "afresh.gallery")


@on_every_engine
def test_workers_write_to_an_engine_themselves(gallery, model, model_folder, folder, tmp_path, monkeypatch):
    for seed in range(40):
        photo(folder / f"{seed}.png", seed)
    (folder / "broken.png").write_bytes(b"no photo")
    monkeypatch.setattr(type(gallery), "writing", None)  # this process has nothing to write
    gallery.keeps_hashes = False
    summary = index(gallery, model, [folder], labels="folder", workers=WorkerProcesses(model_folder, 2))
    assert counts(summary) == {"added": 40, "failed": 1}
    assert contents(gallery) == indexed_into_a_file(folder, model, tmp_path / "afresh.gallery")


@on_every_engine
def test_a_gallery_starts_over_with_another_model(address, model, make_model_folder, folder):
    from sketchhash import Gallery

    photo(folder / "a.png")
    other = Model.load(make_model_folder(bits=64, seed=3))
    with Gallery(address, model) as before:
        before.index(folder)
        with pytest.raises(IncompatibleGallery):
            Gallery(address, other)
        with Gallery(address, other, reindex=True) as after:
            assert after.index(folder).added == 1
            assert after.info().model == GalleryModel.of(other)
        with pytest.raises(IncompatibleGallery, match="another model"):
            photo(folder / "b.png", 5)
            before.index(folder)


# Runs the command line, and ends as a power cut would at a moment of starting over, which begins with dropping.
KILLED = """
import os, signal, sys
from sketchhash.cli import main
from sketchhash.engines.milvus import Collection

moment, is_dropped = sys.argv.pop(1), False

def patch(name):
    do = getattr(Collection, name)
    def doing(*values):
        global is_dropped
        is_dropped = is_dropped or name == "drop"
        done = do(*values)
        if is_dropped and moment == f"after {name}":
            os.kill(os.getpid(), signal.SIGKILL)
        return done
    setattr(Collection, name, doing)

patch("drop")
patch("create")
main()
"""


@pytest.mark.slow
def test_killed_while_a_gallery_on_milvus_starts_over_the_same_command_ends_it(
    milvus_server, model_folder, make_model_folder, folder, tmp_path
):
    address = milvus_server.address("killed_while_starting_over", timeout=60)
    for seed in range(12):
        photo(folder / f"{seed % 3}/{seed}.png", seed)
    folders = [model_folder, make_model_folder(bits=64, seed=3)]
    wanted = [
        indexed_into_a_file(folder, Model.load(each), tmp_path / f"{number}.gallery")
        for number, each in enumerate(folders)
    ]
    first = Model.load(folders[0])
    with create_gallery(address, first) as gallery:
        index(gallery, first, [folder], labels="folder")
    now = 0
    for moment in ("after drop", "after create"):
        again = command(address, folders[1 - now], folder, options=["--reindex"])
        program, *arguments = again
        assert arguments[:2] == ["-m", "sketchhash"]
        killed = subprocess.run([program, "-c", KILLED, moment, *arguments[2:]], check=False, capture_output=True)
        assert killed.returncode == -signal.SIGKILL, (moment, killed.stderr)
        if moment == "after drop":
            with pytest.raises(BadArgument, match="no collection"):
                open_gallery(address)
        now = 1 - now
        subprocess.run(again, check=True, capture_output=True)
        with open_gallery(address, latest=True) as gallery:
            assert contents(gallery) == wanted[now], moment
            found = list(ids(gallery).values())
            assert set(gallery.thumbnails(found)) == set(found)


def test_a_gallery_on_milvus_starts_over_as_it_was_made(milvus_server, model, make_model_folder, folder, tmp_path):
    pytest.importorskip("fsspec")
    options = {"thumbnails": (tmp_path / "small").as_uri(), "index": "BIN_IVF_FLAT", "nlist": 16}
    plain = milvus_server.address("starts_over_with_files", timeout=60)
    photo(folder / "a.png", 1)
    with create_gallery(milvus_server.address("starts_over_with_files", timeout=60, **options), model) as gallery:
        index(gallery, model, [folder])
    other = Model.load(make_model_folder(bits=64, seed=3))
    with open_gallery(plain, latest=True) as gallery, gallery.writing() as writer:
        writer.start_over(other)
    assert list((tmp_path / "small").rglob("*.jpg")) == []
    with create_gallery(plain, other) as gallery:
        assert (gallery.model, len(gallery)) == (GalleryModel.of(other), 0)
        index(gallery, other, [folder])
        assert len(list((tmp_path / "small").rglob("*.jpg"))) == 1
        assert gallery._photo_rows.clusters == 16
