import os
import shutil
from pathlib import Path

import pytest

from sketchhash.errors import BadArgument, IncompatibleModel
from sketchhash.model import (
    CardFacts,
    Inspection,
    folder,
    model_card,
    read_manifest,
    says_nothing_was_kept_out,
    verify,
)
from sketchhash.model.card import NOTHING_KEPT_OUT

FILES = ("README.md", "image.onnx", "manifest.json", "sketch.onnx")
LISTED = ("README.md", "image.onnx", "sketch.onnx")


def contents(parent):
    return {path.relative_to(parent): path.read_bytes() for path in parent.rglob("*") if path.is_file()}


def test_a_written_folder_holds_the_layout_and_verifies(model_folder, manifest):
    assert sorted(path.name for path in model_folder.iterdir()) == sorted(FILES)
    assert verify(model_folder) == Inspection((), (), ())
    assert read_manifest(model_folder).name == manifest.name
    assert [path.name for path in model_folder.parent.iterdir()] == ["model"]


def test_extra_files_are_written_and_verified(write):
    folder = write(extra_files={"tokens.npz": b"forest"})
    assert (folder / "tokens.npz").read_bytes() == b"forest"
    (folder / "tokens.npz").write_bytes(b"Forest")
    assert verify(folder).changed == ("tokens.npz",)


@pytest.mark.parametrize("name", ["README.md", "image.onnx", "manifest.json", "../outside", "a/b", ".hidden", ""])
def test_an_extra_file_cannot_take_a_name_of_the_layout_or_leave_the_folder(write, tmp_path, name):
    with pytest.raises(BadArgument, match=r"extra file|plain name"):
        write(extra_files={name: b"x"})
    assert not list(tmp_path.iterdir())


def test_missing_changed_and_extra_files_are_told_apart(model_folder):
    (model_folder / "image.onnx").unlink()
    (model_folder / "README.md").write_text("another card")
    (model_folder / "notes.txt").write_text("mine")
    assert verify(model_folder) == Inspection(("image.onnx",), ("README.md",), ("notes.txt",))


@pytest.mark.parametrize("name", LISTED)
def test_a_byte_flipped_anywhere_shows(model_folder, name):
    path = model_folder / name
    original = path.read_bytes()
    for place in (0, len(original) // 2, len(original) - 1):
        damaged = bytearray(original)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        assert verify(model_folder).changed == (name,)


@pytest.mark.parametrize(
    ("protocol", "answer"), [(NOTHING_KEPT_OUT, True), ("3 query sketches search 5 photos.", False)]
)
def test_a_card_tells_whether_nothing_was_kept_out_of_training(write, manifest, protocol, answer):
    assert says_nothing_was_kept_out(write(card=model_card(manifest, CardFacts("", (), protocol)))) is answer


def test_a_card_that_was_edited_tells_nothing(model_folder):
    (model_folder / "README.md").write_text("another card")
    with pytest.raises(IncompatibleModel, match=r"README\.md was changed"):
        says_nothing_was_kept_out(model_folder)


def test_a_folder_without_manifest_is_no_model(tmp_path):
    with pytest.raises(IncompatibleModel, match=r"is not a model folder: manifest\.json cannot be read"):
        read_manifest(tmp_path)


def test_a_model_replaces_a_model(write, model_folder):
    write(name="model", scores={"map": 0.75})
    assert read_manifest(model_folder).scores == {"map": 0.75}
    assert verify(model_folder).is_intact
    assert [path.name for path in model_folder.parent.iterdir()] == ["model"]


def test_a_damaged_model_can_be_replaced(write, model_folder):
    (model_folder / "image.onnx").write_bytes(b"rot")
    write()
    assert verify(model_folder).is_intact


def test_an_empty_folder_is_filled(write, tmp_path):
    (tmp_path / "model").mkdir()
    assert verify(write()).is_intact


def test_a_link_to_a_model_keeps_being_a_link(write, model_folder):
    link = model_folder.with_name("current")
    link.symlink_to(model_folder)
    write(name="current", scores={"map": 0.75})
    assert link.is_symlink()
    assert read_manifest(model_folder).scores == {"map": 0.75}


def test_a_folder_of_something_else_is_left_alone(write, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "thesis.tex").write_text("five years")
    with pytest.raises(BadArgument, match=r"not a readable model folder\. Choose another folder"):
        write()
    assert contents(tmp_path) == {Path("model/thesis.tex"): b"five years"}


def test_a_file_in_the_place_of_the_folder_is_left_alone(write, tmp_path):
    (tmp_path / "model").write_text("a file")
    with pytest.raises(BadArgument, match="not a readable model folder"):
        write()
    assert (tmp_path / "model").read_text() == "a file"


def test_a_model_folder_with_files_of_the_user_is_left_alone(write, model_folder):
    (model_folder / "notes.txt").write_text("mine")
    before = contents(model_folder)
    with pytest.raises(BadArgument, match=r"files that no model wrote: notes\.txt"):
        write()
    assert contents(model_folder) == before


STEPS = {
    "making the folder": (Path, "mkdir", 1),
    **{f"opening file {n}": (Path, "open", n) for n in (1, 2, 3, 4)},
    **{f"syncing file {n}": (folder.os, "fsync", n) for n in (1, 2, 3, 4)},
    "syncing the folder": (folder.os, "fsync", 5),
    "the first rename": (Path, "rename", 1),
}


@pytest.fixture(params=[OSError("disk full"), KeyboardInterrupt()], ids=["full disk", "interrupt"])
def crash_at(monkeypatch, request):
    """Make the n-th call of a function fail, once."""

    def arrange(owner, name, nth):
        real, calls = getattr(owner, name), []

        def sometimes(*arguments, **options):
            # Reading the old model opens files as well: only writing counts.
            if name != "open" or "xb" in arguments:
                calls.append(1)
                if len(calls) == nth:
                    raise request.param
            return real(*arguments, **options)

        monkeypatch.setattr(owner, name, sometimes)
        return type(request.param)

    return arrange


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_while_writing_leaves_nothing(write, tmp_path, crash_at, step):
    crash = crash_at(*STEPS[step])
    with pytest.raises(crash):
        write()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("step", [*STEPS, "the second rename"])
def test_a_crash_while_replacing_leaves_the_old_model(write, model_folder, crash_at, step):
    before = contents(model_folder.parent)
    crash = crash_at(*STEPS.get(step, (Path, "rename", 2)))
    with pytest.raises(crash):
        write(scores={"map": 0.75})
    assert contents(model_folder.parent) == before


def test_an_old_model_that_cannot_be_deleted_does_not_spoil_the_new_one(write, model_folder, monkeypatch):
    monkeypatch.setattr(shutil, "rmtree", lambda path, ignore_errors: None)
    write(scores={"map": 0.75})
    assert read_manifest(model_folder).scores == {"map": 0.75}
    assert verify(model_folder).is_intact


def test_files_are_readable_as_the_user_s_mask_allows(write):
    mask = os.umask(0o022)
    try:
        folder = write()
    finally:
        os.umask(mask)
    assert folder.stat().st_mode & 0o777 == 0o755
    assert (folder / "image.onnx").stat().st_mode & 0o777 == 0o644
