"""Kept pixels are those that would be read, are written once, and gone on with after an interruption."""

from collections import namedtuple
from contextlib import contextmanager

import numpy as np
import pytest
import torch

from sketchhash.dsh import pixels
from sketchhash.dsh.pixels import Kept, PixelFile, check_room
from sketchhash.dsh.progress import Silent
from sketchhash.errors import BadArgument, DamagedState, UnwritableState

SHAPE = (1, 4, 5)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch):
    monkeypatch.setattr(pixels, "_PART", 3)


class Reader:
    """Makes pixels of whole numbers, counts what it reads, and may fail at one."""

    def __init__(self, fails_at=None, problem=None):
        self.seen, self.fails_at, self.problem = [], fails_at, problem

    def __call__(self, items):
        if self.fails_at in items:
            raise self.problem
        self.seen.extend(items)
        return np.stack([np.full(SHAPE, item, dtype=np.uint8) for item in items])


class Counting(Silent):
    """Counts the items of each stage."""

    def __init__(self):
        self.stages = []

    @contextmanager
    def stage(self, name, steps):
        self.stages.append([name, steps, 0])

        def advance():
            self.stages[-1][2] += 1

        yield advance


def file_in(folder, reader, count=20):
    return PixelFile(folder / "kept" / "photos.npy", range(count), SHAPE, reader)


def test_pixels_are_read_once(tmp_path):
    reader, counting = Reader(), Counting()
    expected = torch.arange(20, dtype=torch.uint8).view(-1, 1, 1, 1).expand(-1, *SHAPE)
    for _ in range(2):
        assert torch.equal(file_in(tmp_path, reader).open("photos", counting), expected)
    assert reader.seen == list(range(20))
    assert counting.stages == [["keeping pixels of photos", 20, 20]]
    assert [path.name for path in (tmp_path / "kept").iterdir()] == ["photos.npy"]


@pytest.mark.parametrize("stopped_at", [0, 2, 7, 19])
def test_an_interrupted_file_is_gone_on_with(tmp_path, stopped_at):
    first = Reader(stopped_at, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        file_in(tmp_path, first).open("photos", Silent())
    second, counting = Reader(), Counting()
    kept = file_in(tmp_path, second).open("photos", counting)
    assert torch.equal(kept[:, 0, 0, 0], torch.arange(20, dtype=torch.uint8))
    assert second.seen == list(range(max(0, len(first.seen) - 3), 20))  # the last part may not have reached the disk
    assert counting.stages[0][1:] == [20, 20]


def test_half_a_part_is_written_again(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        file_in(tmp_path, Reader(12, KeyboardInterrupt())).open("photos", Silent())
    (partial,) = (tmp_path / "kept").iterdir()
    partial.write_bytes(partial.read_bytes()[:-7] + b"rubbish" + b"and more")
    kept = file_in(tmp_path, Reader()).open("photos", Silent())
    assert torch.equal(kept[:, 0, 0, 0], torch.arange(20, dtype=torch.uint8))


def test_a_full_disk_says_how_to_go_on(tmp_path):
    reader = Reader(10, OSError(28, "No space left on device"))
    with pytest.raises(UnwritableState, match=r"No space left on device.*then --resume: it goes on where it stopped"):
        file_in(tmp_path, reader).open("photos", Silent())


def test_too_little_room_is_refused_before_anything_is_written(tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    file = file_in(tmp_path, Reader(), count=1_000_000)
    monkeypatch.setattr(pixels.shutil, "disk_usage", lambda _: usage(0, 0, 39_000_000))
    with pytest.raises(BadArgument, match=r"0\.0 GB free; the pixels to keep need 0\.0 GB.*leave --keep-pixels out"):
        check_room(tmp_path / "kept", [file, file])
    monkeypatch.setattr(pixels.shutil, "disk_usage", lambda _: usage(0, 0, 41_000_000))
    check_room(tmp_path / "kept", [file, file])
    assert not (tmp_path / "kept").exists()


def test_what_is_written_needs_no_more_room(tmp_path):
    file = file_in(tmp_path, Reader())
    assert file.missing_bytes > 400
    file.open("photos", Silent())
    assert file.missing_bytes == 0


@pytest.mark.parametrize("change", [lambda data: data[:50], lambda data: b"", lambda data: data[:-1]])
def test_a_damaged_file_is_named(tmp_path, change):
    file = file_in(tmp_path, Reader())
    file.open("photos", Silent())
    file.path.write_bytes(change(file.path.read_bytes()))
    with pytest.raises(DamagedState, match=r"photos\.npy .*remove it to write it anew"):
        file.open("photos", Silent())


def test_rows_are_those_of_the_file(tmp_path):
    kept = file_in(tmp_path, Reader()).open("photos", Silent())
    some = torch.tensor([19, 3, 3, 8, 0, 11, 2])
    source = Kept(kept, some, lambda shown, generator: shown + torch.rand(1, generator=generator))
    rows = torch.tensor([6, 0, 1, 2, 5, 0])
    assert torch.equal(source.batch(rows, None), kept[some[rows]])
    changed = source.batch(rows, torch.Generator().manual_seed(0))
    assert torch.equal(changed, kept[some[rows]] + torch.rand(1, generator=torch.Generator().manual_seed(0)))
