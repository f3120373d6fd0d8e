"""Whatever happens while photos are indexed, nothing that was reported as stored is lost, and nothing is half there.

The command line runs in processes that are killed at random moments. Starting Python and importing everything
would take most of each run, so a server that has done both forks a process for each. It kills for about
``KILLING_SECONDS``, or, with the environment variable ``SKETCHHASH_KILLS``, exactly that often.
"""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from launching import after

from sketchhash.errors import DamagedState
from sketchhash.gallery import GalleryFile, PhotoProblem, index_events, verify
from sketchhash.gallery.photos import find_photos

KILLING_SECONDS = 15
PHOTOS = 120

SERVER = """
import contextlib, gc, io, json, os, signal, sys, time
import onnxruntime, typer
import sketchhash.gallery, sketchhash.model.shipped
from sketchhash.cli import app

command = typer.main.get_command(app)
with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()):
    command(["gallery", "info", "--gallery", "/nowhere"])  # imports what is left to import
gc.freeze()

def run(arguments, out):
    for stream in (1, 2):
        os.dup2(os.open(out, os.O_WRONLY | os.O_CREAT | os.O_APPEND), stream)
    try:
        command(arguments)
    except SystemExit as end:
        os._exit(end.code)  # a longer goodbye would look for ONNX Runtime's threads, which did not come along
    finally:
        os._exit(99)

def wait(child, out, seconds, from_first_event):
    start = None if from_first_event else time.monotonic()
    while start is None or time.monotonic() < start + seconds:
        if start is None and os.path.exists(out) and os.path.getsize(out):
            start = time.monotonic()
        if (found := os.waitpid(child, os.WNOHANG))[0]:
            return found[1]
        time.sleep(0.0005)
    os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]

print("ready", flush=True)
for line in sys.stdin:
    arguments, *when = json.loads(line)
    child = os.fork()
    if not child:
        run(arguments, when[0])
    print(os.waitstatus_to_exitcode(wait(child, *when)), flush=True)
"""


class CommandLine:
    """Runs the command line in forked processes, which it kills after some seconds."""

    def __init__(self, server, out):
        self._server, self._out = server, out

    def run(self, *arguments, seconds=60.0, from_first_event=False):
        """Return the exit code, negative if the process was killed, and the events that it printed."""
        self._out.unlink(missing_ok=True)
        order = [list(map(str, arguments)), str(self._out), seconds, from_first_event]
        self._server.stdin.write(json.dumps(order) + "\n")
        self._server.stdin.flush()
        code = int(self._server.stdout.readline())
        printed = self._out.read_text() if self._out.exists() else ""
        whole_lines = printed.split("\n")[:-1]
        return code, [json.loads(line) for line in whole_lines if line.startswith("{")]


@pytest.fixture
def command_line(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout.readline() == "ready\n"
        yield CommandLine(server, tmp_path / "printed")
        server.stdin.close()


def contents(gallery):
    return {photo.path: (photo.sha256, photo.label, gallery.code(photo.id)) for photo in gallery.photos()}


def disturb(folder, photo, rng):
    """Add, change, move and remove some photos."""
    for _ in range(20):
        name, other = (folder / f"{rng.integers(4)}/{rng.integers(PHOTOS)}.png" for _ in range(2))
        photo(name, int(rng.integers(10_000)))
        os.utime(name, ns=(0, int(rng.integers(10**18))))
        if rng.random() < 0.3:
            name.rename(other)
        elif rng.random() < 0.2:
            name.unlink()


def assert_sound(path, model, folder, acknowledged):
    """No row is half written, and the first ``acknowledged`` photos are stored as they are."""
    try:
        gallery = GalleryFile.open(path)
    except DamagedState as problem:  # killed before there was a gallery
        assert acknowledged == 0
        assert "is empty" in str(problem)
        return
    with gallery:
        found = {problem for verdict in verify(gallery, model, every=8) for problem in verdict.problems}
        assert found <= {PhotoProblem.FILE_GONE, PhotoProblem.FILE_CHANGED}  # what the interrupted run had yet to see
        photos, codes, thumbnails = (
            gallery.rows(f"SELECT {column} FROM {table} ORDER BY 1")
            for table, column in (("photos", "id"), ("codes", "photo"), ("thumbnails", "photo"))
        )
        assert photos == codes == thumbnails
        for file in list(find_photos([folder]))[:acknowledged]:
            record, status = gallery.at(file), file.stat()
            assert record is not None, file
            assert (record.size, record.mtime_ns) == (status.st_size, status.st_mtime_ns)


def assert_complete(code, events, path, model, folder):
    """The run came to its end, and the gallery holds what one made afresh holds."""
    assert (code, events[-1]["event"], events[-1]["failed"]) == (0, "summary", [])
    with TemporaryDirectory() as elsewhere, GalleryFile.create(Path(elsewhere) / "afresh", model) as afresh:
        list(index_events(afresh, model, [folder], labels="folder"))
        with GalleryFile.open(path) as continued:
            assert contents(continued) == contents(afresh)


@pytest.mark.slow
def test_killed_at_any_moment_nothing_is_lost_and_the_next_run_goes_on(
    command_line, model, model_folder, folder, photo, tmp_path, capsys
):
    rng = np.random.default_rng()
    for seed in range(PHOTOS):
        photo(folder / f"{seed % 4}/{seed}.png", seed)
    path, seconds_a_run = tmp_path / "0.gallery", 0.5
    kills, finished, moments = 0, 0, set()
    options = ("--model", model_folder, "--labels", "folder", "--prune", "--json")
    wanted, end = int(os.environ.get("SKETCHHASH_KILLS", 0)), time.monotonic() + KILLING_SECONDS
    while kills < wanted if wanted else time.monotonic() < end:
        started = time.monotonic()
        code, events = command_line.run(
            *("index", folder, "--gallery", path, *options),
            seconds=rng.uniform(0, seconds_a_run),
            from_first_event=rng.random() < 0.7,
        )
        seconds = time.monotonic() - started
        acknowledged = max((event["done"] for event in events if event["event"] == "progress"), default=0)
        if path.exists():
            assert_sound(path, model, folder, acknowledged)
        if code == -9:
            kills += 1
            moments.add(acknowledged)
            continue
        assert_complete(code, events, path, model, folder)
        finished += 1
        seconds_a_run = (seconds_a_run + seconds) / 2
        disturb(folder, photo, rng)
        if finished % 2 == 0:
            path = tmp_path / f"{finished}.gallery"
    assert_complete(*command_line.run("index", folder, "--gallery", path, *options), path, model, folder)
    if wanted:
        with capsys.disabled():
            sys.stdout.write(f"\n{kills} kills after {sorted(moments)} photos; {finished} runs came to their end\n")
    assert kills >= 1


@pytest.fixture
def indexing(tmp_path, folder, model_folder):
    """Return the command that indexes a folder, to be run in a process of its own."""

    def command(gallery, *options, place=folder):
        arguments = ("index", place, "--gallery", gallery, "--model", model_folder, *options)
        return [sys.executable, "-m", "sketchhash", *map(str, arguments)]

    return command


@pytest.fixture
def many_photos(folder, photo):
    for seed in range(PHOTOS):
        photo(folder / f"{seed:03}.png", seed)


def output(command, **options):
    """Return the exit code of a command, its data and its talk."""
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60, **options)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def small_disk(tmp_path):
    """Return a disk in memory, and a function that sets its size."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=False).returncode:
        pytest.skip("only root may mount a disk")
    yield folder, lambda size: subprocess.run(["mount", "-o", f"remount,size={size}", folder], check=True)
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("size", ["16k", "64k", "256k"])
def test_on_a_full_disk_what_fitted_is_kept_and_the_same_command_goes_on(
    indexing, model, folder, many_photos, small_disk, size
):
    disk, resize = small_disk
    resize(size)
    code, events, talk = output(indexing(disk / "g", "--json"))
    acknowledged = max((json.loads(line).get("done", 0) for line in events.splitlines()), default=0)
    assert code == 1
    assert talk.startswith("Error: ")
    assert "room" in talk
    assert acknowledged < PHOTOS
    resize("4m")
    assert_sound(disk / "g", model, folder, acknowledged)
    assert output(indexing(disk / "g"))[0] == 0
    assert_sound(disk / "g", model, folder, PHOTOS)


def test_where_files_may_not_grow_what_fitted_is_kept(indexing, model, folder, many_photos, tmp_path):
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))"
    code, _, talk = output(after(limit, indexing(tmp_path / "g")))
    assert code == 1
    assert talk.startswith("Error: ")
    assert "has room" in talk
    assert_sound(tmp_path / "g", model, folder, 0)
    assert output(indexing(tmp_path / "g"))[0] == 0
    assert_sound(tmp_path / "g", model, folder, PHOTOS)


@pytest.fixture
def unprivileged():
    """Return what to put before a command so that permissions hold for it, even if root runs the tests."""
    if os.geteuid() != 0:
        return []
    if shutil.which("setpriv") is None:
        pytest.skip("permissions do not hold for root")
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


def test_where_nothing_may_be_written_no_gallery_is_begun(indexing, unprivileged, many_photos, tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir()
    closed.chmod(0o555)
    for path in (closed / "g", closed / "folder/g"):
        code, data, talk = output([*unprivileged, *indexing(path)])
        assert (code, data) == (1, "")
        assert talk.startswith("Error: ")
        assert str(path) in talk
    assert list(closed.iterdir()) == []


@pytest.mark.parametrize("closed", ["file", "folder"])
def test_a_gallery_that_may_only_be_read_is_searched_and_not_changed(
    indexing, unprivileged, model_folder, folder, photo, tmp_path, closed
):
    photo(folder / "a.png")
    path, strokes = tmp_path / "kept/g", tmp_path / "strokes.json"
    assert output(indexing(path))[0] == 0
    photo(folder / "b.png", 1)
    strokes.write_text("[[[0, 0], [5, 9]]]")
    (path if closed == "file" else path.parent).chmod(0o444 if closed == "file" else 0o555)
    before = path.read_bytes()
    code, data, talk = output([*unprivileged, *indexing(path)])
    assert (code, data) == (1, "")
    assert "cannot be written" in talk
    search = ("search", strokes, "--gallery", path, "--model", model_folder)
    code, hits, _ = output([*unprivileged, sys.executable, "-m", "sketchhash", *map(str, search)])
    assert (code, len(hits.splitlines())) == (0, 1)
    assert path.read_bytes() == before


def test_a_search_sees_each_photo_as_soon_as_it_is_reported(indexing, model, gallery, many_photos):
    searcher, found = gallery, [0]
    with subprocess.Popen(indexing(gallery.path, "--json"), stdout=subprocess.PIPE) as process:
        for line in process.stdout:
            found.append(len(searcher.search(np.ones(model.bits), k=2 * PHOTOS)))
            assert found[-1] >= json.loads(line).get("done", 0)
    assert process.returncode == 0
    assert found == sorted(found)
    assert found[-1] == PHOTOS


def test_two_writers_take_turns_and_both_finish(indexing, model, folder, photo, tmp_path):
    for seed in range(PHOTOS):
        photo(folder / f"{seed % 2}/{seed}.png", seed)
    writers = [
        subprocess.Popen(indexing(tmp_path / "g", place=folder / name), stdout=subprocess.PIPE) for name in ("0", "1")
    ]
    summaries = [writer.communicate(timeout=60)[0] for writer in writers]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert summaries == [f"{PHOTOS // 2} added\n".encode()] * 2
    assert_sound(tmp_path / "g", model, folder, PHOTOS)
