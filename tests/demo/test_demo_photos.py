"""Stamps if they are to be had, else the synthetic world; and what was got once is not asked for again."""

from functools import partial

import pytest

from sketchhash.demo import choose_photos, own_photos, photos
from sketchhash.demo.debian import NoPackage
from sketchhash.errors import BadArgument


@pytest.fixture(autouse=True)
def small_world(monkeypatch):
    monkeypatch.setattr(photos.synthetic, "load", partial(photos.synthetic.load, categories=["apple"], size=32))


@pytest.fixture
def gather(monkeypatch):
    """Stand in for what gathers stamps: it fails for its ``reason``, if there is one, and remembers who asked."""

    def gather_stamps(folder, listener):
        gather_stamps.asked.append(folder)
        if gather_stamps.reason:
            raise NoPackage(gather_stamps.reason)
        folder.mkdir(parents=True)

    gather_stamps.reason, gather_stamps.asked = None, []
    monkeypatch.setattr(photos.stamps, "gather_stamps", gather_stamps)
    monkeypatch.setattr(photos.stamps, "are_installed", lambda: False)
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
    assert listener.said[0].endswith("are not to be had: there is no apt-get on this system.")
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
    monkeypatch.setattr(photos.stamps, "are_installed", lambda: True)
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
