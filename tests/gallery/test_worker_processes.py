"""Processes that read and encode photos for one that writes them."""

import os
import signal

import pytest

from sketchhash.errors import IncompatibleModel, SketchHashError
from sketchhash.gallery import Failure, GalleryFile, Progress, index_events, workers
from sketchhash.gallery.workers import WorkerProcesses


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
