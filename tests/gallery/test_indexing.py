import os
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from sketchhash.codes import pack
from sketchhash.errors import BadArgument, IncompatibleGallery
from sketchhash.gallery import (
    Failure,
    GalleryFile,
    Progress,
    Summary,
    Waiting,
    examining,
    index_events,
    indexing,
    schema,
)
from sketchhash.imaging import decoders, read_photo


def paths(gallery, folder):
    return sorted(str(record.path.relative_to(folder)) for record in gallery.photos())


@pytest.fixture
def encoded(model, monkeypatch):
    """Count the photos that the model encodes."""
    calls = []

    def encode(model, photos):
        calls.extend(photos)
        return original(model, photos)

    original = examining._encode
    monkeypatch.setattr(examining, "_encode", encode)
    return calls


def test_new_photos_are_stored_with_code_and_thumbnail(gallery, model, folder, photo, index, counts):
    names = [f"{number:02}.png" for number in range(40)]
    for seed, name in enumerate(names):
        photo(folder / name, seed)
    assert counts(index()) == {"added": 40}
    assert paths(gallery, folder) == names
    for record in gallery.photos():
        pixels = read_photo(record.path)
        assert gallery.code(record.id) == pack(model.encode_photos([pixels])).tobytes()
        assert read_photo(gallery.thumbnail(record.id)).shape == pixels.shape
        assert (record.size, record.mtime_ns) == (record.path.stat().st_size, record.path.stat().st_mtime_ns)


def test_a_core_has_photos_to_encode_while_all_decoders_are_busy(model, folder, photo, index, counts, monkeypatch):
    threads = (os.cpu_count() or 1) + 1
    for seed in range(threads * indexing._BATCH):
        photo(folder / f"{seed:03}.png", seed)
    met, first = threading.Barrier(threads), threading.local()

    def run(function, *args, **kwargs):
        if not getattr(first, "is_over", False):
            first.is_over = True
            met.wait(30)  # breaks unless so many threads ask for a decoder at once
        return decoders.run(function, *args, **kwargs)

    monkeypatch.setattr(decoders, "shared", lambda: SimpleNamespace(run=run))
    assert counts(index()) == {"added": threads * indexing._BATCH}


def test_large_photos_are_shrunk_before_they_wait_for_their_batch(gallery, model, folder, index, encoded):
    Image.new("RGB", (3000, 20), "red").save(folder / "panorama.png")
    index()
    assert [pixels.shape for pixels in encoded] == [(3, 512, 3)]


def test_a_second_run_opens_nothing(folder, photo, index, counts, monkeypatch):
    photo(folder / "a.png")
    index()
    monkeypatch.setattr(examining, "read_file", None)
    assert counts(index()) == {"unchanged": 1}


def test_a_touched_file_is_read_but_not_encoded(gallery, folder, photo, index, counts, encoded):
    path = photo(folder / "a.png")
    index()
    before = gallery.at(path)
    os.utime(path, ns=(1, 1))
    assert counts(index()) == {"unchanged": 1}
    assert (gallery.at(path).id, gallery.at(path).mtime_ns) == (before.id, 1)
    assert len(encoded) == 1


def test_a_changed_file_is_encoded_again_under_a_new_id(gallery, folder, photo, index, counts):
    path = photo(folder / "a.png", 1)
    index()
    before = gallery.at(path)
    code = gallery.code(before.id)
    photo(path, 2)
    os.utime(path, ns=(1, 1))
    assert counts(index()) == {"updated": 1}
    assert gallery.at(path).id != before.id
    assert gallery.code(gallery.at(path).id) != code
    assert gallery.info().photos == 1


def test_a_moved_file_keeps_its_id_and_is_not_encoded(gallery, folder, photo, index, counts, encoded):
    path = photo(folder / "a.png")
    index()
    before = gallery.at(path)
    (folder / "sub").mkdir()
    moved = path.rename(folder / "sub/b.png")
    assert counts(index(prune=True)) == {"moved": 1}
    assert paths(gallery, folder) == ["sub/b.png"]
    assert gallery.at(moved).id == before.id
    assert len(encoded) == 1


def test_a_file_moved_over_another_takes_its_place(gallery, folder, photo, index, counts):
    first, second = photo(folder / "a.png", 1), photo(folder / "b.png", 2)
    index()
    before = gallery.at(first)
    first.rename(second)
    assert counts(index()) == {"moved": 1}
    assert [record.id for record in gallery.photos()] == [before.id]


def test_equal_files_are_photos_of_their_own_and_encoded_once(gallery, folder, photo, index, counts, encoded):
    path = photo(folder / "a.png")
    index()
    photo(folder / "b.png")
    assert counts(index()) == {"added": 1, "unchanged": 1}
    assert len(encoded) == 1
    codes = {gallery.code(record.id) for record in gallery.photos()}
    thumbnails = {gallery.thumbnail(record.id) for record in gallery.photos()}
    assert (gallery.info().photos, len(codes), len(thumbnails)) == (2, 1, 1)
    assert gallery.at(path).id == 1


def test_of_two_copies_one_is_the_moved_original(gallery, folder, photo, index, counts):
    path = photo(folder / "a.png")
    index()
    path.unlink()
    for name in ("b.png", "c.png"):
        photo(folder / name)
    assert counts(index()) == {"moved": 1, "added": 1}


def test_two_files_that_change_places_change_codes(gallery, folder, photo, index, counts):
    first, second = photo(folder / "a.png", 1), photo(folder / "b.png", 2)
    index()
    codes = [gallery.code(gallery.at(path).id) for path in (first, second)]
    first.rename(folder / "c.png")
    second.rename(first)
    (folder / "c.png").rename(second)
    for path in (first, second):
        os.utime(path, ns=(1, 1))
    assert counts(index()) == {"updated": 2}
    assert [gallery.code(gallery.at(path).id) for path in (second, first)] == codes


def test_photos_whose_file_is_gone_stay_until_pruned(gallery, folder, photo, index, counts):
    photo(folder / "a.png", 1)
    photo(folder / "b.png", 2)
    gone = photo(folder / "sub/c.png", 3)
    index()
    gone.unlink()
    assert counts(index()) == {"unchanged": 2}
    assert gallery.info().photos == 3
    assert counts(index(prune=True)) == {"unchanged": 2, "removed": 1}
    assert paths(gallery, folder) == ["a.png", "b.png"]


def test_pruning_does_not_reach_beyond_the_places_named(gallery, folder, photo, index, counts):
    here, there = photo(folder / "here/a.png", 1), photo(folder / "there/b.png", 2)
    index()
    here.unlink()
    there.unlink()
    assert counts(index([folder / "here"], prune=True)) == {"removed": 1}
    assert paths(gallery, folder) == ["there/b.png"]


def test_a_place_that_is_not_there_is_refused_at_once(gallery, model, folder):
    with pytest.raises(BadArgument, match=r"no folder or photo at .*unmounted"):
        index_events(gallery, model, [folder, folder / "unmounted"], prune=True)


def test_a_gallery_of_another_model_is_refused_at_once(gallery, other_model, folder):
    with pytest.raises(IncompatibleGallery, match="--reindex"):
        index_events(gallery, other_model, [folder])


def test_a_gallery_that_starts_over_meanwhile_takes_no_codes_of_the_old_model(
    gallery, model, other_model, folder, photo
):
    photo(folder / "a.png")
    events = index_events(gallery, model, [folder])
    next(events)
    with gallery.writing() as writer:
        writer.start_over(other_model)
    with pytest.raises(IncompatibleGallery):
        list(events)
    assert gallery.info().photos == 0


def test_unreadable_files_are_told_and_tried_again(gallery, model, folder, photo, counts):
    photo(folder / "good.png")
    (folder / "bad.png").write_bytes(b"no picture")
    (folder / "empty.jpg").write_bytes(b"")
    for expected in ({"added": 1, "failed": 2}, {"unchanged": 1, "failed": 2}):
        events = list(index_events(gallery, model, [folder]))
        failures = [event for event in events if isinstance(event, Failure)]
        assert {failure.path.name: failure.reason.split()[:2] for failure in failures} == {
            "bad.png": ["its", "content"],
            "empty.jpg": ["it", "is"],
        }
        assert counts(events[-1]) == expected
        assert events[-1].failed == tuple(failures)
    photo(folder / "bad.png", 5)
    *_, summary = index_events(gallery, model, [folder])
    assert counts(summary) == {"added": 1, "unchanged": 1, "failed": 1}


def test_a_file_that_becomes_unreadable_keeps_its_photo(gallery, folder, photo, index, counts):
    path = photo(folder / "a.png")
    index()
    path.write_bytes(b"broken")
    assert counts(index(prune=True)) == {"failed": 1}
    assert gallery.info().photos == 1


def test_a_file_that_vanishes_or_turns_into_a_pipe_is_told(gallery, model, folder, photo):
    vanishing, turning = photo(folder / "a.png", 1), photo(folder / "b.png", 2)
    tasks = [examining.Task(vanishing), examining.Task(turning)]
    found = examining.examine(model, tasks, gallery.has_content)
    assert not any(isinstance(finding, Failure) for finding in found)
    vanishing.unlink()
    turning.unlink()
    os.mkfifo(turning)
    assert examining.examine(model, tasks, gallery.has_content) == [
        Failure(vanishing, "No such file or directory."),
        Failure(turning, "it is not a regular file."),
    ]


def test_progress_is_told_batch_by_batch_and_only_for_what_is_kept(gallery, model, folder, photo):
    for seed in range(40):
        photo(folder / f"{seed}.png", seed)
    with GalleryFile.open(gallery.path) as witness:
        kept = []
        for event in index_events(gallery, model, [folder]):
            if isinstance(event, Progress):
                kept.append((event.done, event.total, witness.info().photos))
    assert kept == [(0, 40, 0), (16, 40, 16), (32, 40, 32), (40, 40, 40)]
    assert isinstance(event, Summary)


def test_an_interrupted_run_is_continued(gallery, model, folder, photo, counts, encoded):
    for seed in range(100):
        photo(folder / f"{seed:03}.png", seed)
    events = index_events(gallery, model, [folder])
    for event in events:
        if isinstance(event, Progress) and event.done == 16:
            break
    events.close()
    assert gallery.info().photos == 16
    encoded.clear()
    *_, summary = index_events(gallery, model, [folder])
    assert counts(summary) == {"added": 84, "unchanged": 16}
    assert len(encoded) == 84


@pytest.mark.parametrize("name", [b"new\nline", b"\xff\xfe", "ünï 😀".encode()])
def test_names_of_any_bytes_are_indexed_and_labelled(gallery, folder, photo, index, counts, name):
    path = photo(folder / os.fsdecode(name) / f"{os.fsdecode(name)}.png")
    assert counts(index(labels="folder")) == {"added": 1}
    (record,) = gallery.photos()
    assert record.path == path
    assert record.label == name.decode("utf-8", "backslashreplace")
    assert counts(index(labels="folder")) == {"unchanged": 1}


def test_labels_are_taken_when_asked_and_kept_otherwise(gallery, folder, photo, index, encoded):
    path = photo(folder / "cat/a.png")
    index()
    assert gallery.at(path).label is None
    index(labels="folder")
    assert gallery.at(path).label == "cat"
    os.utime(path, ns=(1, 1))
    index()
    assert gallery.at(path).label == "cat"
    (folder / "dog").mkdir()
    path = path.rename(folder / "dog/a.png")
    index(labels="folder")
    assert gallery.at(path).label == "dog"
    assert len(encoded) == 1


def test_a_waiting_writer_says_so_and_goes_on(gallery, model, folder, photo, counts, monkeypatch):
    monkeypatch.setattr(schema, "PATIENCE", 0.05)
    photo(folder / "a.png")
    with GalleryFile.open(gallery.path, model) as second:
        events = index_events(second, model, [folder])
        assert next(events) == Progress(0, 1)
        with gallery.writing():
            assert [next(events), next(events)] == [Waiting(), Waiting()]
        *_, summary = events
    assert counts(summary) == {"added": 1}


def test_two_that_index_the_same_folder_store_each_photo_once(gallery, model, folder, photo):
    for seed in range(60):
        photo(folder / f"{seed}.png", seed)
    problems = []

    def run():
        try:
            with GalleryFile.open(gallery.path, model) as mine:
                list(index_events(mine, model, [folder]))
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert [record.id for record in gallery.photos()] == list(range(1, 61))


def test_a_copy_whose_original_is_removed_meanwhile_is_encoded(gallery, model, folder, photo, counts, encoded):
    photo(folder / "a.png")
    list(index_events(gallery, model, [folder]))
    copy = photo(folder / "b.png")
    results = examining.examine(model, [examining.Task(copy)], gallery.has_content)
    with gallery.writing() as writer:
        writer.remove([1])
    storing = indexing._store(gallery, model, results, indexing._Tally())
    with pytest.raises(StopIteration) as end:
        next(storing)
    assert [change.value for change in end.value.value] == ["added"]
    assert len(encoded) == 2


def test_pixels_are_those_of_the_file_that_was_hashed(gallery, folder, index, model):
    pixels = np.random.default_rng(0).integers(0, 256, (9, 9, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "a.png")
    index()
    assert gallery.code(1) == pack(model.encode_photos([pixels])).tobytes()


def test_a_relative_place_is_stored_as_an_absolute_path(gallery, folder, photo, index, monkeypatch):
    path = photo(folder / "a.png")
    monkeypatch.chdir(folder)
    index([Path()])
    assert gallery.at(path) is not None


def test_whatever_happens_to_files_the_gallery_ends_as_one_made_afresh(gallery, model, folder, photo, index, tmp_path):
    rng = np.random.default_rng(0)
    for step in range(25):
        for _ in range(rng.integers(1, 5)):
            name, other = (folder / f"{rng.integers(3)}/{rng.integers(4)}.png" for _ in range(2))
            match rng.integers(4):
                case 0 | 1:
                    photo(name, int(rng.integers(6)))
                case 2 if name.exists() and other.parent.exists():
                    name.rename(other)
                case 3:
                    name.unlink(missing_ok=True)
            if name.exists():
                os.utime(name, ns=(0, step * 10**9))
        index(labels="folder", prune=True)
        with GalleryFile.create(tmp_path / f"{step}.gallery", model) as afresh:
            list(index_events(afresh, model, [folder], labels="folder"))
            assert contents(gallery) == contents(afresh)


def contents(gallery):
    return sorted(
        (photo.path, photo.sha256, photo.size, photo.label, gallery.code(photo.id), gallery.thumbnail(photo.id))
        for photo in gallery.photos()
    )


def test_the_plain_function_runs_to_the_end_and_tells_every_event(gallery, model, folder, photo, counts):
    for seed in range(20):
        photo(folder / f"{seed}.png", seed)
    told = []
    summary = indexing.index(gallery, model, [folder], progress=told.append)
    assert counts(summary) == {"added": 20}
    assert told[-1] == summary
    assert [type(event) for event in told[:-1]] == [Progress] * 3


def test_progress_counts_what_was_really_encoded(gallery, model, folder, photo):
    for seed in range(40):
        photo(folder / f"a {seed:02}.png", seed)
    *_, last, _ = index_events(gallery, model, [folder])
    assert last == Progress(40, 40, 40)
    for seed in range(40, 43):
        photo(folder / f"b {seed}.png", seed)
    (folder / "b copy.png").write_bytes((folder / "a 00.png").read_bytes())
    (folder / "b junk.png").write_bytes(b"junk")
    events = [event for event in index_events(gallery, model, [folder]) if isinstance(event, Progress)]
    assert events[-1] == Progress(45, 45, 3)
    assert [event.encoded for event in events if event.done <= 32] == [0, 0, 0]


def test_failures_are_counted_by_cause(gallery, model, folder, photo):
    whole = photo(folder / "whole.png").read_bytes()
    for number in range(3):
        (folder / f"junk {number}.png").write_bytes(b"junk")
    for number in range(2):
        (folder / f"cut {number}.png").write_bytes(whole[: 60 + 3 * number])
    (folder / "empty.png").write_bytes(b"")
    causes = indexing.index(gallery, model, [folder]).causes()
    assert sorted(causes.values(), reverse=True) == list(causes.values()) == [3, 2, 1]
    assert list(causes)[1:] == ["its content is broken.", "it is empty."]
