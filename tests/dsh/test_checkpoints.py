"""State on disk: whole or not at all, and damage has a name."""

import numpy as np
import pytest
import torch
from torch import nn

from sketchhash.dsh.checkpoints import (
    DamagedState,
    UnwritableState,
    read_array,
    read_checkpoint,
    read_weights,
    write_array,
    write_checkpoint,
    write_parts,
    write_text,
    write_weights,
)

STATE = {"weights": {"w": torch.arange(6.0).reshape(2, 3)}, "history": [{"loss": 0.1, "epoch": 1}], "epoch": 3}


class Dangerous:
    """What only unpickling could bring back."""


def test_a_checkpoint_comes_back_as_it_was(tmp_path):
    write_checkpoint(tmp_path / "new" / "state.pt", STATE)
    state = read_checkpoint(tmp_path / "new" / "state.pt")
    assert torch.equal(state["weights"]["w"], STATE["weights"]["w"])
    assert (state["history"], state["epoch"]) == (STATE["history"], STATE["epoch"])


def test_weights_come_back_as_they_were_in_any_memory_layout(tmp_path):
    module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4)).to(memory_format=torch.channels_last)
    write_weights(tmp_path / "net.safetensors", module)
    weights = read_weights(tmp_path / "net.safetensors")
    assert weights.keys() == module.state_dict().keys()
    assert all(torch.equal(weights[name], tensor) for name, tensor in module.state_dict().items())


def test_an_array_comes_back_only_in_the_shape_and_kind_it_should_have(tmp_path):
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    write_array(tmp_path / "a.npy", array)
    np.testing.assert_array_equal(read_array(tmp_path / "a.npy", (2, 3), np.float32), array)
    assert read_array(tmp_path / "a.npy", (3, 2), np.float32) is None
    assert read_array(tmp_path / "a.npy", (2, 3), np.uint8) is None
    assert read_array(tmp_path / "absent.npy", (2, 3), np.float32) is None


@pytest.mark.parametrize("kept", [0, 7, 40, -1], ids=["empty", "header", "most of a header", "one byte short"])
def test_a_truncated_array_is_no_array(tmp_path, kept):
    path = tmp_path / "a.npy"
    write_array(path, np.ones((4, 4), dtype=np.float32))
    path.write_bytes(path.read_bytes()[:kept])
    assert read_array(path, (4, 4), np.float32) is None


@pytest.mark.parametrize(
    ("read", "write"),
    [
        (read_checkpoint, lambda path: write_checkpoint(path, STATE)),
        (read_weights, lambda path: write_weights(path, nn.Linear(8, 8))),
    ],
    ids=["checkpoint", "weights"],
)
@pytest.mark.parametrize("share", [0, 0.5, 0.95])
def test_truncated_state_names_its_file_and_the_way_out(tmp_path, read, write, share):
    path = tmp_path / "state"
    write(path)
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    with pytest.raises(DamagedState, match=r"state cannot be read: remove it"):
        read(path)


def test_a_checkpoint_cannot_bring_code(tmp_path):
    torch.save({"weights": Dangerous()}, tmp_path / "state.pt")
    with pytest.raises(DamagedState):
        read_checkpoint(tmp_path / "state.pt")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "state.pt"
    write_checkpoint(path, STATE)
    before = path.read_bytes()

    def full_disk(state, file):
        file.write(b"half a checkpo")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sketchhash.dsh.checkpoints.torch.save", full_disk)
    with pytest.raises(UnwritableState, match=r"state\.pt cannot be written: .*No space left.* then --resume"):
        write_checkpoint(path, STATE)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_interrupted_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "state.pt"
    write_checkpoint(path, STATE)
    before = path.read_bytes()

    def interrupt(state, file):
        file.write(b"half a checkpo")
        raise KeyboardInterrupt

    monkeypatch.setattr("sketchhash.dsh.checkpoints.torch.save", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_checkpoint(path, STATE)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_place_that_is_no_folder_is_explained(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(UnwritableState, match="cannot be written"):
        write_text(tmp_path / "file" / "log.jsonl", "{}")


def test_an_array_can_be_written_in_parts_and_is_whole_or_absent(tmp_path):
    whole = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    write_parts(
        tmp_path / "a.npy", whole.shape, (whole[view, start : start + 2] for view in (0, 1) for start in (0, 2))
    )
    np.testing.assert_array_equal(read_array(tmp_path / "a.npy", whole.shape, np.float32), whole)

    def broken():
        yield whole[0]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_parts(tmp_path / "b.npy", whole.shape, broken())
    write_parts(tmp_path / "short.npy", whole.shape, [whole[0]])
    assert read_array(tmp_path / "short.npy", whole.shape, np.float32) is None
    assert {path.name for path in tmp_path.iterdir()} == {"a.npy", "short.npy"}
