"""Photo stamps become photos: drawn ones are left out, each is laid on a page, and nothing is half done."""

from contextlib import contextmanager

import numpy as np
import pytest
from PIL import Image

from sketchhash.demo import stamps
from sketchhash.demo.debian import NoPackage
from sketchhash.imaging import read_photo

STAMPS = "usr/share/tuxpaint/stamps"


@pytest.fixture
def system(tmp_path):
    """Make the root of a system with stamps: red ones, 40 wide and 100 high, with a transparent corner."""
    root = tmp_path / "system"
    for name in (
        "food/fruit/apple.png",
        "animals/mammals/cats/lion.png",
        "animals/mammals/cats/cartoon/tom.png",
        "symbols/shapes/star.png",
        "food/fruit/pear.svg",
    ):
        stamp = Image.new("RGBA", (40, 100), "red")
        stamp.paste((0, 0, 0, 0), (0, 0, 10, 10))
        path = root / STAMPS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        stamp.save(path, "PNG")
    licence = root / "usr/share/doc/tuxpaint-stamps-default/copyright"
    licence.parent.mkdir(parents=True)
    licence.write_text("GPL-2")
    return root


@pytest.fixture
def installed(system, monkeypatch):
    monkeypatch.setattr(stamps, "_SYSTEM", system)
    return system


def names_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_photos_are_taken_with_their_folders_and_licence_and_drawn_stamps_are_not(installed, tmp_path, listener):
    stamps.gather_stamps(tmp_path / "stamps", listener)
    kept = ["animals/mammals/cats/lion.png", "copyright", "food/fruit/apple.png"]
    assert names_below(tmp_path / "stamps") == kept
    assert listener.stages == [("laying stamps on pages", 2, 2)]


def test_a_stamp_keeps_its_shape_on_a_white_square(installed, tmp_path, listener):
    stamps.gather_stamps(tmp_path / "stamps", listener)
    page = read_photo(tmp_path / "stamps" / "food/fruit/apple.png")
    assert page.shape[0] == page.shape[1] > 100
    is_red = (page == (255, 0, 0)).all(axis=2)
    rows, columns = np.flatnonzero(is_red.any(axis=1)), np.flatnonzero(is_red.any(axis=0))
    assert (np.ptp(rows) + 1, np.ptp(columns) + 1, is_red.sum()) == (100, 40, 100 * 40 - 10 * 10)
    assert (page[~is_red] == 255).all()
    assert abs(rows.mean() - columns.mean()) <= 1


def test_stamps_come_from_the_package_where_there_are_none(system, tmp_path, monkeypatch, listener):
    asked = []

    @contextmanager
    def unpacked(package, room, free_bytes):
        asked.append((package, room))
        yield system

    monkeypatch.setattr(stamps, "_SYSTEM", tmp_path / "bare")
    monkeypatch.setattr(stamps, "unpacked", unpacked)
    stamps.gather_stamps(tmp_path / "cache" / "stamps", listener)
    assert asked == [("tuxpaint-stamps-default", tmp_path / "cache")]
    assert "160 MB" in listener.said[0]
    assert "food/fruit/apple.png" in names_below(tmp_path / "cache" / "stamps")


def test_a_broken_stamp_is_told_and_left_out(installed, tmp_path, listener):
    (installed / STAMPS / "food/fruit/apple.png").write_bytes(b"\x89PNG broken")
    stamps.gather_stamps(tmp_path / "stamps", listener)
    assert "apple.png" in listener.said[0]
    assert names_below(tmp_path / "stamps") == ["animals/mammals/cats/lion.png", "copyright"]


def test_a_package_without_photos_is_none(installed, tmp_path, listener, monkeypatch):
    @contextmanager
    def unpacked(*_):
        yield tmp_path / "nothing"

    monkeypatch.setattr(stamps, "_SYSTEM", tmp_path / "bare")
    monkeypatch.setattr(stamps, "unpacked", unpacked)
    with pytest.raises(NoPackage, match="has no photos"):
        stamps.gather_stamps(tmp_path / "cache" / "stamps", listener)
    assert list((tmp_path / "cache").iterdir()) == []


def test_ctrl_c_leaves_nothing_half_done(installed, tmp_path, listener):
    @contextmanager
    def stage(name, steps):
        def interrupt():
            raise KeyboardInterrupt

        yield interrupt

    listener.stage = stage
    with pytest.raises(KeyboardInterrupt):
        stamps.gather_stamps(tmp_path / "cache" / "stamps", listener)
    assert list((tmp_path / "cache").iterdir()) == []
