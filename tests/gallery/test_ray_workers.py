"""Workers on a Ray cluster: one of two cores on this machine, which these tests share."""

import os
import signal
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from PIL import Image

from sketchhash.errors import BadArgument, MissingExtra
from sketchhash.gallery import Failure, GalleryFile, Progress, index_events
from sketchhash.gallery.examining import KnownContents, Setup
from sketchhash.gallery.ray_workers import RayPool, RayWorkers

pytestmark = pytest.mark.slow

needs_proc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")


@pytest.fixture(scope="module")
def cluster(model_folder):
    """Start a local cluster; pools that are opened meanwhile are its guests."""
    if find_spec("ray") is None:
        pytest.skip("needs pip install 'sketchhash[ray]'")
    cluster = RayWorkers(model_folder, "local", workers=2)
    host = RayPool(cluster, Setup(None, KnownContents(np.empty(0, dtype=np.uint64))))
    yield cluster
    host.close()
    assert not host._ray.is_initialized()
    assert not Path(host._place.name).exists()


@pytest.fixture
def ray(cluster):
    """Return the module; it must not be imported before the cluster is started."""
    return import_module("ray")


def listening_inodes():
    """Find the sockets that listen to other machines too."""
    for table, loopback in (("tcp", "0100007F"), ("tcp6", "01000000".rjust(32, "0"))):
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            columns = line.split()
            if columns[3] == "0A" and not columns[1].startswith((loopback, "0000000000000000FFFF00000100007F")):
                yield columns[9]


@needs_proc
def test_a_local_cluster_listens_to_this_machine_only(ray, cluster):
    place = ray._private.worker._global_node.get_session_dir_path().split("/session_")[0]
    mine, processes = set(), 0
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if place.encode() not in (process / "cmdline").read_bytes():
                continue
            processes += 1
            mine.update(str(handle.readlink()) for handle in (process / "fd").iterdir())
        except OSError:
            continue
    assert processes >= 2
    assert not mine & {f"socket:[{inode}]" for inode in listening_inodes()}


@pytest.fixture
def batches(monkeypatch):
    """Collect the batches that are sent to the cluster."""
    sent = []
    examine = RayPool.examine

    def note(self, tasks):
        sent.append([task.path for task in tasks])
        return examine(self, tasks)

    monkeypatch.setattr(RayPool, "examine", note)
    return sent


def kill_a_busy_worker(killed):
    """Kill the first process that is seen at work on a batch; Ray names processes after their task."""
    deadline = time.monotonic() + 120
    while not killed and time.monotonic() < deadline:
        for place in Path("/proc").glob("[0-9]*"):
            try:
                is_busy = b"ray::examine_on_cluster" in (place / "cmdline").read_bytes()
            except OSError:
                continue
            if is_busy:
                os.kill(int(place.name), signal.SIGKILL)
                killed.append(int(place.name))
                return
        time.sleep(0.01)


@needs_proc
def test_a_killed_worker_costs_its_batch_and_nothing_is_lost(
    cluster, gallery, model, folder, tmp_path, counts, batches
):
    noise = np.random.default_rng(0).integers(0, 256, (700, 700, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "large.png")  # so that a batch takes a while
    for number in range(63):
        os.link(tmp_path / "large.png", folder / f"{number:02}.png")
    (folder / "bad.png").write_bytes(b"no picture")
    killed = []
    killer = Thread(target=kill_a_busy_worker, args=(killed,))
    killer.start()
    events = list(index_events(gallery, model, [folder], "folder", workers=cluster))
    killer.join()
    assert killed
    assert counts(events[-1]) == {"added": 63, "failed": 1}
    assert [event.path.name for event in events if isinstance(event, Failure)] == ["bad.png"]
    assert [event.done for event in events if isinstance(event, Progress)] == [0, 16, 32, 48, 64]
    assert 4 <= len(batches) <= 5
    with GalleryFile.create(tmp_path / "by threads", model) as other:
        list(index_events(other, model, [folder], "folder"))
        assert contents(gallery) == contents(other)


def contents(gallery):
    return sorted((photo.path, photo.sha256, photo.label, gallery.code(photo.id)) for photo in gallery.photos())


def test_moved_photos_are_not_encoded_again_and_a_guest_does_not_end_the_cluster(
    ray, cluster, gallery, model, folder, photo, counts
):
    path = photo(folder / "a.png")
    list(index_events(gallery, model, [folder]))
    path.rename(folder / "b.png")
    *_, summary = index_events(gallery, model, [folder], workers=cluster)
    assert counts(summary) == {"moved": 1}
    assert ray.is_initialized()


def test_who_stops_early_keeps_what_is_stored_and_the_next_run_goes_on(cluster, gallery, model, folder, photo, counts):
    for seed in range(100):
        photo(folder / f"{seed:03}.png", seed)
    events = index_events(gallery, model, [folder], workers=cluster)
    for event in events:
        if isinstance(event, Progress) and event.done:
            break
    events.close()
    stored = gallery.info().photos
    assert stored == event.done
    *_, summary = index_events(gallery, model, [folder], workers=cluster)
    assert counts(summary) == {"added": 100 - stored, "unchanged": stored}


def test_without_ray_it_is_said_what_to_install(gallery, model, model_folder, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[ray\]'"):
        list(index_events(gallery, model, [folder], workers=RayWorkers(model_folder)))


def test_where_there_is_no_cluster_it_is_said_how_to_start_one(ray, gallery, model, model_folder, folder, monkeypatch):
    def refuse(*_, **__):
        raise ConnectionError("nobody answers")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", refuse)
    with pytest.raises(BadArgument, match="no Ray cluster to join at 'far:6379'"):
        list(index_events(gallery, model, [folder], workers=RayWorkers(model_folder, "far:6379")))
