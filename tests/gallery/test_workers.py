"""Workers that read and encode photos: in order, again when one dies, and in processes of their own."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError
from pathlib import Path

import numpy as np
import pytest

from sketchhash.errors import BadArgument, IncompatibleModel, SketchHashError
from sketchhash.gallery import Failure, GalleryFile, Progress, index_events, workers
from sketchhash.gallery.examining import KnownContents
from sketchhash.gallery.workers import Task, WorkerLost, WorkerProcesses, examine_in_order


class FakePool:
    """Returns what it is asked to examine; a file whose name is a number kills so many workers."""

    def __init__(self, size=2, work=lambda tasks: None):
        self.size, self.work = size, work
        self.asked, self.lives = [], {}
        self.is_closed = False

    def examine(self, tasks):
        self.asked.append([task.path.name for task in tasks])
        self.work(tasks)
        for task in tasks:
            left = self.lives.setdefault(task.path, int(task.path.name))
            if left:
                self.lives[task.path] -= 1
                raise WorkerLost
        return list(tasks)

    def close(self):
        self.is_closed = True


def batches_of(*batches):
    return [(number, [Task(Path(name)) for name in names]) for number, names in enumerate(batches)]


def test_findings_come_in_order_beside_what_came_with_their_batch():
    batches = batches_of(["0", "00"], [], ["000"])
    pool = FakePool()
    assert list(examine_in_order(pool, batches)) == batches
    assert pool.is_closed


def test_few_batches_are_read_ahead():
    numbers = iter(range(1000))
    done = examine_in_order(FakePool(size=2), ((number, [Task(Path("0"))]) for number in numbers))
    assert [next(done)[0] for _ in range(3)] == [0, 1, 2]
    assert next(numbers) <= 3 + 2 * 2
    done.close()


def test_batches_are_worked_on_at_the_same_time():
    both = threading.Barrier(2, timeout=10)
    pool = FakePool(size=2, work=lambda _: both.wait())
    assert len(list(examine_in_order(pool, batches_of(["0"], ["0"], ["0"], ["0"])))) == 4


def test_a_batch_whose_worker_dies_is_done_again_and_no_other():
    pool = FakePool(size=1)
    batches = batches_of(["0", "00"], ["1", "000"], ["0000"])
    assert list(examine_in_order(pool, batches)) == batches
    assert pool.asked == [["0", "00"], ["1", "000"], ["1", "000"], ["0000"]]


def test_a_file_that_no_worker_survives_is_found_and_the_others_are_examined():
    pool = FakePool(size=1)
    ((_, results),) = examine_in_order(pool, batches_of(["0", "99", "00"]))
    assert [finding.path.name for finding in results] == ["0", "99", "00"]
    assert isinstance(results[1], Failure)
    assert "died" in results[1].reason


def test_an_error_ends_the_run_and_sends_the_team_home():
    def work(_):
        raise BadArgument("no such model")

    pool = FakePool(work=work)
    with pytest.raises(BadArgument, match="no such model"):
        list(examine_in_order(pool, batches_of(["0"], ["0"])))
    assert pool.is_closed


def test_who_stops_early_waits_for_no_batch_that_has_not_begun():
    pool = FakePool(size=1)
    done = examine_in_order(pool, batches_of(*[["0"]] * 50))
    next(done)
    done.close()
    assert pool.is_closed
    assert len(pool.asked) <= 4


def test_known_contents_are_those_of_the_gallery(gallery, folder, photo, index):
    for seed in range(30):
        photo(folder / f"{seed}.png", seed)
    empty = KnownContents.of(gallery)
    index()
    known = KnownContents.of(gallery)
    for record in gallery.photos():
        assert record.sha256 in known
        assert record.sha256 not in empty
    for number in np.random.default_rng(0).integers(0, 256, (30, 32), dtype=np.uint8):
        assert number.tobytes().hex() not in known


def test_workers_with_another_model_are_refused(gallery, model, folder):
    class Elsewhere:
        fingerprint = "another"

    with pytest.raises(BadArgument, match="another model"):
        index_events(gallery, model, [folder], workers=Elsewhere())


def test_a_closed_pool_of_cancelled_work_does_not_count_as_dead():
    pool = FakePool(size=1)

    def work(_):
        raise CancelledError

    pool.work = work
    with pytest.raises(CancelledError):
        list(examine_in_order(pool, batches_of(["0"])))
    assert len(pool.asked) == 1


@pytest.fixture
def pools(monkeypatch):
    """Collect the pools that are opened, with the batches that each was asked to examine."""
    opened = []
    start = WorkerProcesses.start

    def start_and_note(self, gallery):
        pool = start(self, gallery)
        examine, pool.asked = pool.examine, []

        def note(tasks):
            pool.asked.append([task.path for task in tasks])
            return examine(tasks)

        pool.examine = note
        opened.append(pool)
        return pool

    monkeypatch.setattr(WorkerProcesses, "start", start_and_note)
    return opened


def contents(gallery):
    return sorted(
        (photo.path, photo.sha256, photo.label, gallery.code(photo.id), gallery.thumbnail(photo.id))
        for photo in gallery.photos()
    )


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_processes_give_what_threads_give_and_a_killed_one_costs_its_batch(
    gallery, model, model_folder, folder, photo, tmp_path, counts, pools
):
    for seed in range(160):
        photo(folder / f"{seed % 3}/{seed:03}.png", seed)
    (folder / "bad.png").write_bytes(b"no picture")
    killed = None
    events = []
    for event in index_events(gallery, model, [folder], "folder", workers=WorkerProcesses(model_folder, 2)):
        events.append(event)
        if isinstance(event, Progress) and event.done > 0 and killed is None:
            killed = pools[0].pids[0]
            os.kill(killed, signal.SIGKILL)
    assert counts(events[-1]) == {"added": 160, "failed": 1}
    assert [event.path.name for event in events if isinstance(event, Failure)] == ["bad.png"]
    assert [event.done for event in events if isinstance(event, Progress)] == [0, *range(16, 161, 16), 161]

    (pool,) = pools
    assert 11 <= len(pool.asked) <= 12  # of eleven batches, the one in hand is asked for again
    assert pool.pids == []
    with GalleryFile.create(tmp_path / "by threads", model) as other:
        list(index_events(other, model, [folder], "folder"))
        assert contents(gallery) == contents(other)


def test_moved_and_copied_photos_are_not_encoded_again_by_processes(
    gallery, model, model_folder, folder, photo, counts
):
    first, second = photo(folder / "a.png", 1), photo(folder / "b.png", 2)
    *_, _ = index_events(gallery, model, [folder])
    before = gallery.at(first).id
    first.rename(folder / "c.png")
    (folder / "d.png").write_bytes(second.read_bytes())
    *_, summary = index_events(gallery, model, [folder], workers=WorkerProcesses(model_folder, 1))
    assert counts(summary) == {"moved": 1, "added": 1, "unchanged": 1}
    assert gallery.at(folder / "c.png").id == before


def test_who_stops_early_leaves_no_process_behind_and_the_next_run_goes_on(
    gallery, model, model_folder, folder, photo, counts, pools
):
    for seed in range(100):
        photo(folder / f"{seed:03}.png", seed)
    workers = WorkerProcesses(model_folder, 2)
    events = index_events(gallery, model, [folder], workers=workers)
    for event in events:
        if isinstance(event, Progress) and event.done:
            break
    pids = pools[0].pids
    assert pids
    events.close()
    assert not any(map(is_running, pids))
    stored = gallery.info().photos
    assert stored == event.done
    *_, summary = index_events(gallery, model, [folder], workers=workers)
    assert counts(summary) == {"added": 100 - stored, "unchanged": stored}


def test_an_error_of_a_worker_is_raised_here(gallery, model, make_model_folder, folder, photo):
    photo(folder / "a.png")
    broken = make_model_folder()
    (broken / "image.onnx").write_bytes(b"junk")
    with pytest.raises(IncompatibleModel, match="damaged"):
        list(index_events(gallery, model, [folder], workers=WorkerProcesses(broken, 1)))


def test_workers_that_cannot_start_end_the_run(gallery, model, model_folder, folder, photo, monkeypatch):
    monkeypatch.setattr(workers, "_COMMAND", ("false",))
    for seed in range(40):
        photo(folder / f"{seed}.png", seed)
    with pytest.raises(SketchHashError, match="worker processes died"):
        list(index_events(gallery, model, [folder], workers=WorkerProcesses(model_folder, 1)))


def test_a_worker_ends_when_nobody_can_ask_it_any_more():
    process = workers._Worker(b"").process
    process.communicate(timeout=120)  # closes its input, as when the process that started it is killed
    assert process.returncode == 0


INDEXING = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # a test that runs under nohup ignores it
import sys
from pathlib import Path
from sketchhash.gallery import GalleryFile, Progress, index_events
from sketchhash.gallery.workers import ProcessPool, WorkerProcesses
from sketchhash.model import Model

started = ProcessPool.__init__
def start(self, *args):
    started(self, *args)
    pools.append(self)
ProcessPool.__init__, pools = start, []

folder, photos, place = map(Path, sys.argv[1:])
model = Model.load(folder)
with GalleryFile.create(place, model) as gallery:
    for event in index_events(gallery, model, [photos], workers=WorkerProcesses(folder, 2)):
        if isinstance(event, Progress) and event.done:
            print(*pools[0].pids, flush=True)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_workers_end_quietly_with_the_process_that_started_them(ending, model_folder, folder, photo, tmp_path):
    for number in range(120):
        photo(folder / f"{number}.png", number)
    command = [sys.executable, "-c", INDEXING, str(model_folder), str(folder), str(tmp_path / "killed.gallery")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as parent:
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        parent.send_signal(ending)
        _, said = parent.communicate(timeout=60)
    deadline = time.monotonic() + 30
    while any(map(is_alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert pids
    assert not any(map(is_alive, pids))
    assert said == ""


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
