"""A folder is whole or not there."""

import os
import time

import pytest

from sketchhash.demo.unfinished import becoming, scratch


def test_a_folder_appears_when_its_block_ends(tmp_path):
    with becoming(tmp_path / "shelf" / "photos") as folder:
        (folder / "a.txt").write_text("a")
        assert not (tmp_path / "shelf" / "photos").exists()
    assert [path.name for path in (tmp_path / "shelf").iterdir()] == ["photos"]
    assert (tmp_path / "shelf" / "photos" / "a.txt").read_text() == "a"


@pytest.mark.parametrize("end", [KeyboardInterrupt, OSError])
def test_nothing_is_left_of_a_folder_that_was_not_finished(tmp_path, end):
    with pytest.raises(end), becoming(tmp_path / "photos") as folder:
        (folder / "a.txt").write_text("a")
        raise end
    assert list(tmp_path.iterdir()) == []


def test_another_process_may_be_faster(tmp_path):
    with becoming(tmp_path / "photos") as slow:
        (slow / "a.txt").write_text("slow")
        with becoming(tmp_path / "photos") as fast:
            (fast / "a.txt").write_text("fast")
    assert (tmp_path / "photos" / "a.txt").read_text() == "fast"
    assert [path.name for path in tmp_path.iterdir()] == ["photos"]


def test_what_a_killed_process_left_is_swept_away_after_a_day(tmp_path):
    for name, age in ((".unfinished-old", 25), (".unfinished-new", 1), ("photos", 25)):
        (tmp_path / name / "inside").mkdir(parents=True)
        os.utime(tmp_path / name, (time.time() - age * 3600,) * 2)
    with scratch(tmp_path):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {".unfinished-new", "photos"}
