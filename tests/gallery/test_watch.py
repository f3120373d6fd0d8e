import os
import time
from contextlib import closing

import pytest

from sketchhash.errors import BadArgument
from sketchhash.gallery import Failure, Summary, Watching, watch_folders
from sketchhash.gallery import watch as watch_module


@pytest.fixture
def watch(gallery, model, folder):
    """Return a function that starts watching and gives one that waits until the gallery is as expected."""
    running = []

    def start(**options):
        events = watch_folders(gallery, model, [folder], **options)
        running.append(events)

        def wait_for(expected):
            deadline = time.monotonic() + 15
            for event in events:
                names = {str(record.path.relative_to(folder)) for record in gallery.photos()}
                if names == expected and isinstance(event, Watching | Summary):
                    return
                assert time.monotonic() < deadline, f"the gallery has {names}, not {expected}"

        return wait_for

    yield start
    for events in running:
        events.close()


def test_photos_are_followed_as_they_come_move_and_go(gallery, folder, photo, watch):
    path = photo(folder / "a.png", 1)
    wait_for = watch(prune=True)
    wait_for({"a.png"})
    photo(folder / "sub/b.png", 2)
    wait_for({"a.png", "sub/b.png"})
    before = gallery.at(path).id
    moved = path.rename(folder / "c.png")
    wait_for({"c.png", "sub/b.png"})
    assert gallery.at(moved).id == before
    moved.unlink()
    wait_for({"sub/b.png"})


def test_a_folder_that_is_moved_in_is_indexed_whole(tmp_path, folder, photo, watch):
    wait_for = watch()
    wait_for(set())
    photo(tmp_path / "elsewhere/cats/a.png", 1)
    (tmp_path / "elsewhere").rename(folder / "here")
    wait_for({"here/cats/a.png"})


def test_names_that_are_not_text_are_followed_and_hidden_ones_are_not(folder, photo, watch):
    wait_for = watch()
    wait_for(set())
    photo(folder / ".hidden/a.png", 1)
    name = os.fsdecode(b"\xff.png")
    photo(folder / name, 2)
    wait_for({name})


def test_what_changes_during_the_first_run_is_not_missed(folder, photo, watch):
    photo(folder / "a.png", 1)
    wait_for = watch()
    wait_for({"a.png"})  # the first run has told its summary, and not gone on from there
    photo(folder / "b.png", 2)
    wait_for({"a.png", "b.png"})


def test_what_the_watch_loses_in_a_burst_is_found_by_a_second_look(gallery, model, folder, photo, monkeypatch):
    def lossy_watch(*_, stop_event, **__):
        stop_event.is_set()
        told = set()
        while not stop_event.is_set():
            if (folder / "b.png").exists() and not told:
                told = {(None, str(folder / "b.png"))}
                yield told
            time.sleep(0.01)

    monkeypatch.setattr(watch_module, "watch", lossy_watch)
    monkeypatch.setattr(watch_module, "_TICK", 0.05)
    photo(folder / "a.png", 1)
    (folder / "broken.png").write_bytes(b"junk")
    with closing(watch_folders(gallery, model, [folder])) as events:
        for event in events:
            if isinstance(event, Summary):
                break
        photo(folder / "c.png", 3)
        (folder / "bad.png").write_bytes(b"junk")
        photo(folder / "b.png", 2)
        seen = []
        for event in events:
            seen.append(event)
            if isinstance(event, Watching):
                break
    summaries = [event for event in seen if isinstance(event, Summary)]
    assert [summary.added for summary in summaries] == [1, 1]  # b.png, and then c.png
    assert [event.path.name for event in seen if isinstance(event, Failure)] == ["bad.png"]
    assert gallery.info().photos == 3


def test_a_second_look_that_finds_nothing_is_not_told(gallery, model, folder, photo, monkeypatch):
    monkeypatch.setattr(watch_module, "_TICK", 0.2)
    with closing(watch_folders(gallery, model, [folder])) as events:
        for event in events:
            if isinstance(event, Summary):
                break
        photo(folder / "a.png")
        (folder / "bad.png").write_bytes(b"junk")
        added, failures = 0, 0
        for event in events:
            added += isinstance(event, Summary) and event.added
            failures += isinstance(event, Failure)
            if isinstance(event, Watching) and added:
                break
        quiet = [next(events) for _ in range(3)]
    assert (added, quiet) == (1, [Watching()] * 3)
    assert failures >= 1


def test_a_folder_that_is_not_there_cannot_be_watched(gallery, model, folder):
    with pytest.raises(BadArgument, match="no folder or photo at"):
        next(watch_folders(gallery, model, [folder / "nowhere"]))
