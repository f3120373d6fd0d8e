import subprocess
import sys
from contextlib import suppress

import numpy as np
import pytest
from PIL import Image

from sketchhash.tokens import TokenCache, TokenStyle, pixel_content, token_map
from sketchhash.tokens.peers import GradientDetector

PHOTO = np.zeros((60, 60, 3), dtype=np.uint8)
PHOTO[15:45, 20:50] = 220


@pytest.fixture
def cache(tmp_path):
    return TokenCache(tmp_path, GradientDetector(), size=24)


def photo():
    return PHOTO


def never():
    raise AssertionError("the map was in the cache")


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_a_map_is_made_once_and_then_read(cache):
    made = cache.token_map(b"square", photo)
    np.testing.assert_array_equal(made, token_map(PHOTO, cache.detector, 24))
    assert (made < 255).any()
    kept = cache.token_map(b"square", never)
    np.testing.assert_array_equal(kept, made)
    assert kept.dtype == np.uint8
    assert kept.flags.writeable


def test_files_fan_out_into_folders_of_two_letters(cache, tmp_path):
    cache.token_map(b"square", photo)
    (path,) = files(tmp_path)
    assert len(path.parent.name) == 2
    assert path.suffix == ".png"
    assert path.parent.parent == tmp_path
    with Image.open(path) as picture:
        assert picture.size == (24, 24)


@pytest.mark.parametrize(
    "other",
    [
        lambda folder: TokenCache(folder, GradientDetector(surround=6.0), size=24),
        lambda folder: TokenCache(folder, GradientDetector(), size=25),
        lambda folder: TokenCache(folder, GradientDetector(), size=24, style=TokenStyle(threshold=0.5)),
    ],
    ids=["fingerprint", "size", "style"],
)
def test_another_detector_size_or_style_has_its_own_maps(cache, tmp_path, other):
    cache.token_map(b"square", photo)
    other(tmp_path).token_map(b"square", photo)
    assert len(files(tmp_path)) == 2


def test_another_photo_has_its_own_map(cache, tmp_path):
    cache.token_map(b"square", photo)
    blank = cache.token_map(b"blank", lambda: np.zeros_like(PHOTO))
    assert (blank == 255).all()
    assert len(files(tmp_path)) == 2


def test_pixels_of_another_shape_are_another_photo():
    pixels = np.zeros((4, 9), dtype=np.uint8)
    assert pixel_content(pixels) == pixel_content(pixels.copy())
    assert pixel_content(pixels) != pixel_content(pixels.reshape(9, 4))
    assert pixel_content(pixels) != pixel_content(pixels + 1)
    assert pixel_content(pixels.T) == pixel_content(np.ascontiguousarray(pixels.T))


def damaged(data):
    yield from (data[:length] for length in range(len(data)))
    for place in range(len(data)):
        for bit in (1, 32, 128):
            yield data[:place] + bytes([data[place] ^ bit]) + data[place + 1 :]


def test_no_damage_to_a_file_ever_changes_a_map(cache, tmp_path):
    made = cache.token_map(b"square", photo)
    (path,) = files(tmp_path)
    remade = []

    def make_again():
        remade.append(data)
        raise LookupError

    every_damage = list(damaged(path.read_bytes()))
    for data in every_damage:
        path.write_bytes(data)
        with suppress(LookupError):
            np.testing.assert_array_equal(cache.token_map(b"square", make_again), made)
    assert len(remade) > 0.9 * len(every_damage)  # the rest does not touch the picture


def test_a_damaged_file_is_replaced(cache, tmp_path):
    made = cache.token_map(b"square", photo)
    (path,) = files(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[:50])
    np.testing.assert_array_equal(cache.token_map(b"square", photo), made)
    assert path.read_bytes() == whole


@pytest.mark.parametrize("stranger", [np.zeros((24, 23), np.uint8), np.zeros((24, 24, 3), np.uint8)])
def test_a_picture_that_is_no_map_of_this_size_is_made_again(cache, tmp_path, stranger):
    made = cache.token_map(b"square", photo)
    (path,) = files(tmp_path)
    Image.fromarray(stranger).save(path)
    np.testing.assert_array_equal(cache.token_map(b"square", photo), made)
    np.testing.assert_array_equal(cache.token_map(b"square", never), made)


def test_nothing_is_left_behind_when_writing_fails(cache, tmp_path, monkeypatch):
    def full_disk(*_, **__):
        raise OSError("no space left on device")

    monkeypatch.setattr(Image.Image, "save", full_disk)
    with pytest.raises(OSError, match="no space"):
        cache.token_map(b"square", photo)
    assert files(tmp_path) == []


WORKER = """
import sys
from pathlib import Path
import numpy as np
from sketchhash.tokens import TokenCache, detector

cache = TokenCache(Path(sys.argv[1]), detector("gradient"), size=16)
sys.stdin.readline()  # start together
for number in range(10):
    photo = np.full((40, 40), 30, dtype=np.uint8)
    photo[:, 5 + 3 * number :] = 200
    columns = cache.token_map(b"%d" % number, lambda: photo).min(axis=0)
    assert abs(columns.argmin() - (5 + 3 * number) * 16 / 40) <= 1
"""


def test_processes_share_a_folder(tmp_path):
    command = [sys.executable, "-W", "error", "-c", WORKER, str(tmp_path)]
    workers = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(3)]
    for worker in workers:
        worker.stdin.write(b"\n")
        worker.stdin.flush()
    for worker in workers:
        worker.communicate(timeout=60)
    assert [worker.returncode for worker in workers] == [0, 0, 0]
    assert len(files(tmp_path)) == 10
    assert all(path.suffix == ".png" for path in files(tmp_path))
