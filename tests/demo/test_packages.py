"""A Debian package is unpacked or the reason is told; a folder is whole or not there."""

import os
import tarfile
import time

import pytest

from sketchhash.demo import packages
from sketchhash.demo.packages import PackageUnavailable, atomic_folder, scratch_folder, unpacked_package


@pytest.fixture
def archive(tmp_path):
    (tmp_path / "hello.txt").write_text("hello")
    with tarfile.open(tmp_path / "archive", "w") as file:
        file.add(tmp_path / "hello.txt", "usr/share/hello.txt")
    return tmp_path / "archive"


def test_a_package_is_unpacked_and_gone_afterwards(apt_get, archive, tmp_path):
    apt_get(f'echo "$@" > {tmp_path}/asked; cp {archive} things_1.0_all.deb')
    room = tmp_path / "room"
    with unpacked_package("things", room) as files:
        assert (files / "usr/share/hello.txt").read_text() == "hello"
        assert files.is_relative_to(room)
    assert (tmp_path / "asked").read_text().split()[-2:] == ["download", "things"]
    assert list(room.iterdir()) == []


def reason_for(room):
    with pytest.raises(PackageUnavailable) as problem, unpacked_package("things", room, 1000):
        pass
    assert list(room.iterdir()) == []
    return str(problem.value)


def test_without_apt_get_it_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with (
        pytest.raises(PackageUnavailable, match="there is no apt-get on this system"),
        unpacked_package("things", tmp_path),
    ):
        pass


def test_the_first_error_of_apt_get_is_told_and_warnings_are_not(apt_get, tmp_path):
    apt_get('echo "W: never mind" >&2; echo "E: Unable to locate package things" >&2; echo "E: more" >&2; exit 100')
    assert reason_for(tmp_path / "room") == "apt-get says: Unable to locate package things"


def test_a_silent_failure_is_told_by_its_code(apt_get, tmp_path):
    apt_get("exit 7")
    assert reason_for(tmp_path / "room") == "apt-get says: exit code 7"


def test_an_apt_get_that_hangs_is_given_up(apt_get, tmp_path, monkeypatch):
    monkeypatch.setattr(packages, "_DOWNLOAD_SECONDS", 0.2)
    apt_get("exec sleep 30")
    assert "was not done after" in reason_for(tmp_path / "room")


def test_an_archive_that_is_cut_short_is_told(apt_get, tmp_path):
    apt_get("echo nonsense > things.deb")
    assert reason_for(tmp_path / "room").startswith("dpkg-deb says: ")


def test_an_apt_get_that_downloads_nothing_is_told(apt_get, tmp_path):
    apt_get("exit 0")
    assert reason_for(tmp_path / "room") == "apt-get downloaded nothing"


def test_a_disk_that_is_nearly_full_is_left_alone(apt_get, tmp_path, monkeypatch):
    apt_get("exit 0")
    monkeypatch.setattr(packages.shutil, "disk_usage", lambda _: packages.shutil._ntuple_diskusage(100, 100, 0))
    assert "MB are needed" in reason_for(tmp_path / "room")


def test_a_folder_appears_when_its_block_ends(tmp_path):
    with atomic_folder(tmp_path / "shelf" / "photos") as folder:
        (folder / "a.txt").write_text("a")
        assert not (tmp_path / "shelf" / "photos").exists()
    assert [path.name for path in (tmp_path / "shelf").iterdir()] == ["photos"]
    assert (tmp_path / "shelf" / "photos" / "a.txt").read_text() == "a"


@pytest.mark.parametrize("end", [KeyboardInterrupt, OSError])
def test_nothing_is_left_of_a_folder_that_was_not_finished(tmp_path, end):
    with pytest.raises(end), atomic_folder(tmp_path / "photos") as folder:
        (folder / "a.txt").write_text("a")
        raise end
    assert list(tmp_path.iterdir()) == []


def test_another_process_may_be_faster(tmp_path):
    with atomic_folder(tmp_path / "photos") as slow:
        (slow / "a.txt").write_text("slow")
        with atomic_folder(tmp_path / "photos") as fast:
            (fast / "a.txt").write_text("fast")
    assert (tmp_path / "photos" / "a.txt").read_text() == "fast"
    assert [path.name for path in tmp_path.iterdir()] == ["photos"]


def test_what_a_killed_process_left_is_swept_away_after_a_day(tmp_path):
    for name, age in ((".unfinished-old", 25), (".unfinished-new", 1), ("photos", 25)):
        (tmp_path / name / "inside").mkdir(parents=True)
        os.utime(tmp_path / name, (time.time() - age * 3600,) * 2)
    with scratch_folder(tmp_path):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {".unfinished-new", "photos"}
