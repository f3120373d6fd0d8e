"""Stamps of Tux Paint if they can be had, otherwise the synthetic world; nothing is done twice or left half done."""

from contextlib import contextmanager
from functools import partial

import numpy as np
import pytest
from PIL import Image

from sketchhash.demo import choose_photos, own_photos, photos
from sketchhash.demo.packages import PackageUnavailable
from sketchhash.errors import BadArgument
from sketchhash.imaging import read_photo


@pytest.fixture(autouse=True)
def small_world(monkeypatch):
    monkeypatch.setattr(photos.synthetic, "load", partial(photos.synthetic.load, categories=["apple"], size=32))


@pytest.fixture
def gather(monkeypatch):
    """Stand in for what gathers stamps: it fails for its ``reason``, if there is one, and remembers who asked."""

    def gather_stamps(folder, listener):
        gather_stamps.asked.append(folder)
        if gather_stamps.reason:
            raise PackageUnavailable(gather_stamps.reason)
        folder.mkdir(parents=True)

    gather_stamps.reason, gather_stamps.asked = None, []
    monkeypatch.setattr(photos, "gather_stamps", gather_stamps)
    monkeypatch.setattr(photos, "stamps_are_installed", lambda: False)
    return gather_stamps


def test_stamps_are_got_once_and_named_with_their_licence(gather, tmp_path, listener):
    for _ in range(2):
        chosen = choose_photos(tmp_path, listener)
        assert chosen.folder == tmp_path / "stamps"
        assert "GPL-2" in listener.said[-1]
    assert gather.asked == [tmp_path / "stamps"]


def test_without_stamps_it_says_why_and_shows_the_synthetic_world(gather, tmp_path, listener):
    gather.reason = "there is no apt-get on this system"
    chosen = choose_photos(tmp_path, listener)
    assert len(list(chosen.folder.glob("photos/apple/*.jpg"))) == 8
    assert listener.said[0].endswith("are not available: there is no apt-get on this system.")
    assert "synthetic world" in listener.said[1] and "--photos" in listener.said[1]


def test_the_world_is_painted_once_and_stamps_are_not_asked_for_again(gather, tmp_path, listener):
    gather.reason = "the network is down"
    chosen = choose_photos(tmp_path, listener)
    assert choose_photos(tmp_path, listener) == chosen
    assert len(gather.asked) == 1
    assert [name for name, _, _ in listener.stages] == ["painting the synthetic world"]


def test_stamps_that_were_installed_meanwhile_take_the_worlds_place(gather, tmp_path, listener, monkeypatch):
    gather.reason = "the network is down"
    choose_photos(tmp_path, listener)
    gather.reason = None
    monkeypatch.setattr(photos, "stamps_are_installed", lambda: True)
    assert choose_photos(tmp_path, listener).folder == tmp_path / "stamps"


def test_every_folder_of_ones_own_has_its_gallery(tmp_path, paint_photo):
    for name in "ab":
        paint_photo(tmp_path / name / "photo.jpg")
    a, b = (own_photos(tmp_path / name, tmp_path) for name in "ab")
    assert a.gallery != b.gallery
    assert a == own_photos(tmp_path / "b" / ".." / "a", tmp_path)


def test_a_folder_without_photos_is_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("no photo")
    with pytest.raises(BadArgument, match="no photos in or below"):
        own_photos(tmp_path, tmp_path)


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
    monkeypatch.setattr(photos, "_SYSTEM", system)
    return system


def names_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_photos_are_taken_with_their_folders_and_licence_and_drawn_stamps_are_not(installed, tmp_path, listener):
    photos.gather_stamps(tmp_path / "stamps", listener)
    kept = ["animals/mammals/cats/lion.png", "copyright", "food/fruit/apple.png"]
    assert names_below(tmp_path / "stamps") == kept
    assert listener.stages == [("laying stamps on pages", 2, 2)]


def test_a_stamp_keeps_its_shape_on_a_white_square(installed, tmp_path, listener):
    photos.gather_stamps(tmp_path / "stamps", listener)
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
    def unpacked_package(package, room, free_bytes):
        asked.append((package, room))
        yield system

    monkeypatch.setattr(photos, "_SYSTEM", tmp_path / "bare")
    monkeypatch.setattr(photos, "unpacked_package", unpacked_package)
    photos.gather_stamps(tmp_path / "cache" / "stamps", listener)
    assert asked == [("tuxpaint-stamps-default", tmp_path / "cache")]
    assert "160 MB" in listener.said[0]
    assert "food/fruit/apple.png" in names_below(tmp_path / "cache" / "stamps")


def test_a_broken_stamp_is_told_and_left_out(installed, tmp_path, listener):
    (installed / STAMPS / "food/fruit/apple.png").write_bytes(b"\x89PNG broken")
    photos.gather_stamps(tmp_path / "stamps", listener)
    assert "apple.png" in listener.said[0]
    assert names_below(tmp_path / "stamps") == ["animals/mammals/cats/lion.png", "copyright"]


def test_a_package_without_photos_is_none(installed, tmp_path, listener, monkeypatch):
    @contextmanager
    def unpacked_package(*_):
        yield tmp_path / "nothing"

    monkeypatch.setattr(photos, "_SYSTEM", tmp_path / "bare")
    monkeypatch.setattr(photos, "unpacked_package", unpacked_package)
    with pytest.raises(PackageUnavailable, match="has no photos"):
        photos.gather_stamps(tmp_path / "cache" / "stamps", listener)
    assert list((tmp_path / "cache").iterdir()) == []


def test_ctrl_c_leaves_nothing_half_done(installed, tmp_path, listener):
    @contextmanager
    def stage(name, steps):
        def interrupt():
            raise KeyboardInterrupt

        yield interrupt

    listener.stage = stage
    with pytest.raises(KeyboardInterrupt):
        photos.gather_stamps(tmp_path / "cache" / "stamps", listener)
    assert list((tmp_path / "cache").iterdir()) == []
