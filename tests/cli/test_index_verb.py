import json
import re
import shlex
import signal
import sqlite3
import sys
import time
from contextlib import closing
from pathlib import Path
from threading import Timer

import pytest

from sketchhash.cli.index import IndexingProgress, Speed
from sketchhash.gallery import Failure, GalleryFile, Progress, Waiting


def read_until(process, wanted):
    """Read the events of a process up to one that is ``wanted``, and give that."""
    for line in process.stdout:
        event = json.loads(line)
        if wanted(event):
            return event
    raise AssertionError(process.stderr.read())


def test_index_sums_up_and_a_second_run_has_nothing_to_do(run, photos, tmp_path):
    path = tmp_path / "new/test.gallery"
    first, second = (run("index", photos, "--gallery", path) for _ in range(2))
    assert (first.exit_code, first.stdout) == (0, "5 added\n")
    assert first.stderr == f"To search by drawing, type: sketchhash serve --open --gallery {path}\n"
    assert second.stdout == "5 unchanged\n"


def test_what_to_type_next_names_the_model_and_can_be_typed(run, photos, tmp_path, model_folder):
    path = tmp_path / "my photos.gallery"
    result = run("index", photos, "--gallery", path, "--model", model_folder)
    assert result.exit_code == 0, result.stderr
    typed = result.stderr.splitlines()[-1].removeprefix("To search by drawing, type: ")
    assert shlex.split(typed) == ["sketchhash", "serve", "--open", "--gallery", str(path), "--model", str(model_folder)]


def test_index_as_json_is_a_line_an_event_and_ends_with_the_summary(run, photos, tmp_path):
    (photos / "cat/bad.jpg").write_bytes(b"junk")
    result = run("index", photos, "--gallery", tmp_path / "g", "--json")
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [event["event"] for event in events] == ["progress", "failure", "progress", "summary"]
    assert events[2] == {"event": "progress", "done": 6, "total": 6, "encoded": 5}
    assert events[3]["added"] == 5
    assert events[3]["failed"] == [{key: events[1][key] for key in ("path", "reason")}]
    assert events[1]["path"] == str(photos / "cat/bad.jpg")


def test_unreadable_photos_are_told_and_left_out(run, photos, tmp_path):
    (photos / "cat/bad.jpg").write_bytes(b"junk")
    result = run("index", photos, "--gallery", tmp_path / "g")
    assert (result.exit_code, result.stdout) == (0, "5 added, 1 left out\n")
    assert result.stderr.startswith(f"Left out {photos / 'cat/bad.jpg'}: its content is none of")


def test_photos_that_are_gone_are_pruned_when_asked(run, photos, gallery):
    (photos / "cat/a.jpg").unlink()
    assert run("index", photos, "--gallery", gallery).stdout == "4 unchanged\n"
    assert run("index", photos, "--gallery", gallery, "--prune").stdout == "1 removed, 4 unchanged\n"


def test_another_model_needs_reindex_which_may_be_repeated(run, photos, gallery, make_model_folder):
    other = make_model_folder(seed=1)
    refused = run("index", photos, "--gallery", gallery, "--model", other)
    assert refused.exit_code == 1
    assert "sketchhash index FOLDER --reindex --gallery " in refused.stderr
    for summary in ("5 added\n", "5 unchanged\n"):
        assert run("index", photos, "--gallery", gallery, "--model", other, "--reindex").stdout == summary


def test_reindex_may_also_begin_a_gallery(run, photos, tmp_path):
    (tmp_path / "g").touch()  # as a run leaves it that is killed at once
    assert run("index", photos, "--gallery", tmp_path / "g", "--reindex").stdout == "5 added\n"


def test_reindex_does_not_touch_a_gallery_of_a_newer_format(run, photos, gallery):
    with GalleryFile.open(gallery) as opened:
        opened.rows("PRAGMA user_version = 99")
    assert "upgrade" in run("index", photos, "--gallery", gallery, "--reindex").stderr
    with closing(sqlite3.connect(gallery)) as connection:
        assert connection.execute("SELECT count(*) FROM photos").fetchall() == [(5,)]


def test_without_any_model_it_is_said_how_to_name_one(run, photos, tmp_path, monkeypatch):
    monkeypatch.setenv("SKETCHHASH_MODEL", "")
    monkeypatch.setattr("sketchhash.model.folder._SHIPPED", tmp_path / "nothing")
    result = run("index", photos, "--gallery", tmp_path / "g")
    assert result.exit_code == 2
    assert "--model FOLDER" in result.stderr
    assert not (tmp_path / "g").exists()


def test_a_place_that_is_not_there_is_an_error_and_no_gallery_is_made(run, tmp_path):
    result = run("index", tmp_path / "nowhere", "--gallery", tmp_path / "g")
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: There is no folder or photo at")
    assert not (tmp_path / "g").exists()


def test_the_shipped_model_is_the_default(run, photos, tmp_path, monkeypatch, model_folder):
    monkeypatch.delenv("SKETCHHASH_MODEL")
    monkeypatch.setattr("sketchhash.model.folder._SHIPPED", model_folder)
    assert run("index", photos, "--gallery", tmp_path / "g").stdout == "5 added\n"


def test_ctrl_c_keeps_what_is_stored_and_the_same_command_goes_on(run, tmp_path, paint_photo, start):
    for seed in range(300):
        paint_photo(tmp_path / f"photos/{seed:03}.jpg", seed)
    command = ("index", tmp_path / "photos", "--gallery", tmp_path / "g", "--json")
    with start(*command) as process:
        kept = read_until(process, lambda event: event["event"] == "progress" and event["done"] > 0)["done"]
        process.send_signal(signal.SIGINT)
        _, talk = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"same command continues" in talk
    assert b"Traceback" not in talk
    with GalleryFile.open(tmp_path / "g") as gallery:
        stored = gallery.info().photos
    assert kept <= stored < 300
    summary = json.loads(run(*command).stdout.splitlines()[-1])
    assert (summary["unchanged"], summary["added"]) == (stored, 300 - stored)


def test_watching_takes_up_what_changes_until_ctrl_c(tmp_path, photos, paint_photo, start):
    def is_summary(event):
        return event["event"] == "summary" and event["added"] > 0

    with start("index", photos, "--gallery", tmp_path / "g", "--watch", "--json") as process:
        limit = Timer(60, process.kill)  # so that what is missed is a failure, and not the end of all tests
        limit.start()
        assert read_until(process, is_summary)["added"] == 5
        paint_photo(photos / "new.jpg", 9)
        assert read_until(process, is_summary)["added"] == 1
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        limit.cancel()
    assert process.returncode == 130


def test_workers_index_what_one_process_does_until_ctrl_c_and_leave_nothing_behind(run, tmp_path, paint_photo, start):
    for seed in range(300):
        paint_photo(tmp_path / f"photos/{seed:03}.jpg", seed)
    (tmp_path / "photos/bad.jpg").write_bytes(b"junk")
    command = ("index", tmp_path / "photos", "--gallery", tmp_path / "g", "--workers", 2, "--json")
    with start(*command) as process:
        kept = read_until(process, lambda event: event["event"] == "progress" and event["done"] > 0)["done"]
        process.send_signal(signal.SIGINT)
        _, talk = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"Traceback" not in talk
    summary = json.loads(run(*command).stdout.splitlines()[-1])
    assert kept <= summary["unchanged"] < 300
    assert summary["unchanged"] + summary["added"] == 300
    assert [failure["path"] for failure in summary["failed"]] == [str(tmp_path / "photos/bad.jpg")]


def test_a_cluster_that_is_not_there_is_an_error_that_says_what_to_type(run, photos, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    result = run("index", photos, "--gallery", tmp_path / "g", "--ray", "auto")
    assert result.exit_code == 1
    assert "[ray]'" in result.stderr


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "100")


def test_on_a_terminal_a_bar_shows_rate_and_time_left(terminal, capsys):
    with IndexingProgress() as progress:
        for done in (0, 20, 40):
            progress.show(Progress(done, 100, encoded=done))
            time.sleep(0.25)
    shown = capsys.readouterr().err
    assert "40/100" in shown
    assert "photos/s" in shown
    assert "0:00:0" in shown


def test_files_that_are_passed_over_do_not_count_as_speed(terminal, capsys):
    with IndexingProgress() as progress:
        for done in (0, 5_000, 10_000):
            progress.show(Progress(done, 20_000, encoded=0))
            time.sleep(0.2)
    assert "photos/s" not in capsys.readouterr().err


def test_the_rate_is_that_of_the_last_minute():
    speed = Speed()
    for second in range(0, 301, 10):  # ten a second for 200 seconds, then one a second
        speed.update(10 * min(second, 200) + max(second - 200, 0), float(second))
    assert speed.rate == pytest.approx(1.0, rel=0.2)


def test_a_message_stands_above_the_bar(terminal, capsys):
    with IndexingProgress() as progress:
        progress.show(Progress(1, 10))
        progress.show(Failure(Path("bad.jpg"), "its content is none of these."))
        progress.show(Progress(2, 10))
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "Left out" in line]
    assert line.rsplit("\r")[-1].removeprefix("\x1b[2K").startswith("Left out bad.jpg: its content is none of these.")


def test_later_runs_count_failures_by_cause_and_list_them_when_asked(run, photos, tmp_path):
    for name in ("a.jpg", "b.jpg"):
        (photos / "cat" / f"bad-{name}").write_bytes(b"junk")
    command = ("index", photos, "--gallery", tmp_path / "g")
    assert run(*command).stderr.count("Left out") == 2
    again = run(*command)
    assert "Left out" not in again.stderr
    assert "2 × its content is none of" in again.stderr
    assert "--verbose" in again.stderr
    assert run(*command, "--verbose").stderr.count("Left out") == 2


def test_elsewhere_there_is_no_bar_and_waiting_is_said_once(capsys):
    with IndexingProgress() as progress:
        for event in (Progress(0, 10), Waiting(), Waiting(), Progress(10, 10)):
            progress.show(event)
    assert capsys.readouterr().err == "Another process is writing to the gallery; waiting for it ...\n"


@pytest.fixture
def without_heic_and_raw(monkeypatch):
    monkeypatch.setattr("sketchhash.imaging.formats._is_installed", lambda module: False)


def test_what_was_passed_over_is_said_with_what_to_install(run, photos, tmp_path, without_heic_and_raw):
    for name in ("a.HEIC", "cat/b.heif", "c.NEF", "d.txt"):
        (photos / name).write_bytes(b"content")
    said = run("index", photos, "--gallery", tmp_path / "g")
    assert (said.exit_code, said.stdout) == (0, "5 added\n")
    assert re.search(r"2 HEIC and 1 RAW skipped: .*install.*\[heic,raw\]'", said.stderr)
    summary = json.loads(run("index", photos, "--gallery", tmp_path / "g", "--json").stdout.splitlines()[-1])
    assert summary["skipped"] == {"HEIC": 2, "RAW": 1}
    assert summary["install"].endswith("[heic,raw]'")
    assert (summary["unchanged"], summary["failed"]) == (5, [])


def test_pictures_of_which_none_can_be_read_are_a_failure(run, tmp_path, without_heic_and_raw):
    folder = tmp_path / "phone"
    folder.mkdir()
    assert run("index", folder, "--gallery", tmp_path / "g").exit_code == 0
    (folder / "a.heic").write_bytes(b"content")
    for options in ((), ("--json",)):
        assert run("index", folder, "--gallery", tmp_path / "g", *options).exit_code == 1
    (folder / "a.heic").unlink()
    (folder / "a.jpg").write_bytes(b"junk")
    assert run("index", folder, "--gallery", tmp_path / "g").exit_code == 1
