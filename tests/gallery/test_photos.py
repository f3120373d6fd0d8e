import os
import socket

import pytest

from sketchhash.gallery.photos import Failure, find_photos, is_gone, outermost


def touch(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"")
    return path


def names(folder, *places):
    return [str(path.relative_to(folder)) for path in find_photos(places or [folder])]


def test_files_come_in_the_order_of_their_names_at_any_depth(folder):
    for name in ("b/2.jpg", "b/1.PNG", "a/deep/er/x.webp", "z.jpeg", "notes.txt", "jpg"):
        touch(folder / name)
    assert names(folder) == ["z.jpeg", "a/deep/er/x.webp", "b/1.PNG", "b/2.jpg"]


def test_hidden_names_are_left_out_but_a_hidden_place_may_be_named(folder):
    touch(folder / ".cache/a.jpg")
    touch(folder / ".b.jpg")
    assert names(folder) == []
    assert names(folder, folder / ".cache") == [".cache/a.jpg"]


def test_links_to_files_count_and_links_to_folders_do_not(folder):
    real = touch(folder / "real.jpg")
    (folder / "link.jpg").symlink_to(real)
    (folder / "dangling.jpg").symlink_to(folder / "nowhere.jpg")
    (folder / "self.jpg").symlink_to(folder / "self.jpg")
    (folder / "loop").symlink_to(folder)
    assert names(folder) == ["link.jpg", "real.jpg"]


def test_pipes_and_sockets_are_not_photos(folder, tmp_path, monkeypatch):
    os.mkfifo(folder / "pipe.jpg")
    monkeypatch.chdir(folder)  # the address of a socket has to be short
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket.jpg")
        assert names(folder) == []
        assert names(folder, folder / "pipe.jpg") == []


def test_a_place_may_be_a_file_and_must_be_named_like_a_photo(folder):
    photo, text = touch(folder / "a.jpg"), touch(folder / "a.txt")
    assert names(folder, photo, text, folder / "not there") == ["a.jpg"]


def test_a_folder_that_cannot_be_read_is_told_and_the_walk_goes_on(folder, monkeypatch):
    touch(folder / "a/1.jpg")
    touch(folder / "b/1.jpg")
    scandir = os.scandir

    def refuse(path):
        if path.name == "a":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert list(find_photos([folder])) == [Failure(folder / "a", "Permission denied."), folder / "b/1.jpg"]


def test_names_of_any_bytes_are_found(folder):
    for name in (b"new\nline.jpg", b"\xff\xfe.jpg"):
        (folder / os.fsdecode(name)).write_bytes(b"")
    assert {os.fsencode(path.name) for path in find_photos([folder])} == {b"new\nline.jpg", b"\xff\xfe.jpg"}


def test_places_below_other_places_are_visited_once(folder):
    touch(folder / "a/1.jpg")
    assert names(folder, folder / "a", folder, folder / "a/1.jpg") == ["a/1.jpg"]
    assert outermost([folder / "a", folder / "ab"]) == [folder / "a", folder / "ab"]


def test_only_what_is_surely_not_there_is_gone(folder, monkeypatch):
    photo = touch(folder / "a.jpg")
    assert not is_gone(photo)
    assert is_gone(folder / "b.jpg")
    assert is_gone(photo / "below a file.jpg")
    assert is_gone(folder)

    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(photo), "stat", refuse)
    assert not is_gone(photo)


@pytest.mark.parametrize("place", ["relative", "./relative/../relative"])
def test_paths_are_absolute(folder, monkeypatch, place):
    monkeypatch.chdir(folder)
    touch(folder / "relative/a.jpg")
    assert list(find_photos([type(folder)(place)])) == [folder / "relative/a.jpg"]
