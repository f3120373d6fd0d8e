"""What a run refuses, before hours are spent or anything is lost."""

import shutil
from collections import namedtuple
from dataclasses import replace

import pytest
import torch

from sketchhash.datasets import draw_split, open_dataset
from sketchhash.dsh import runs, training
from sketchhash.dsh.checkpoints import read_checkpoint
from sketchhash.dsh.networks import Branches
from sketchhash.dsh.optimisation import Processes
from sketchhash.dsh.progress import Silent
from sketchhash.dsh.runs import Job
from sketchhash.dsh.training import train
from sketchhash.errors import (
    BadArgument,
    DamagedState,
    DatasetProblem,
    SplitProblem,
    TrainingDiverged,
    UnknownWords,
    UnwritableState,
)
from sketchhash.words import sources

from .conftest import BITS, QUICK, Listening, state_of


def test_a_run_is_not_resumed_with_other_settings(done, run):
    with pytest.raises(BadArgument, match="begun with other settings"):
        run(replace(QUICK, hashing=replace(QUICK.hashing, epochs=9)), resume=True)
    with pytest.raises(BadArgument, match="begun with other settings"):
        run(bits=32, resume=True)
    (done / "run.json").write_text("{damaged", encoding="utf-8")
    with pytest.raises(BadArgument, match="begun with other settings"):
        run(resume=True)


def test_a_recipe_by_another_name_is_the_same_recipe(done, run):
    before = state_of(done)
    run(replace(QUICK, name="quicker", description="Told otherwise."), resume=True)
    torch.testing.assert_close(state_of(done), before, rtol=0, atol=0)


def test_an_existing_run_is_not_overwritten(done, run):
    with pytest.raises(BadArgument, match=r"already holds a run\. Add --resume"):
        run()
    (done / "run.json").unlink()
    with pytest.raises(BadArgument, match="already holds a run"):  # its checkpoint must not leak into a new run
        run()


def test_resuming_needs_a_run(run):
    with pytest.raises(BadArgument, match="holds no run to resume"):
        run(resume=True)


def test_too_little_room_is_refused_before_anything_is_done(run, tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(runs.shutil, "disk_usage", lambda path: usage(10**9, 10**9 - 1000, 1000))
    listening = Listening()
    with pytest.raises(BadArgument, match=r"0 MB free; a run of this network needs \d+ MB"):
        run(progress=listening)
    assert not listening.stages
    assert not (tmp_path / "run").exists()


def test_a_checkpoint_that_cannot_be_written_stops_the_run_and_can_be_resumed(done, run, tmp_path, monkeypatch):
    save, calls = torch.save, []

    def fill_the_disk(state, file):
        calls.append(state)
        if len(calls) == 2:  # pre-training is in the cache already, so this is the second epoch of hashing
            raise OSError(28, "No space left on device")
        save(state, file)

    with monkeypatch.context() as patch:
        patch.setattr("sketchhash.dsh.checkpoints.torch.save", fill_the_disk)
        with pytest.raises(UnwritableState, match=r"checkpoint\.pt cannot be written"):
            run(name="next")
    assert len(read_checkpoint(tmp_path / "next" / "checkpoint.pt")["history"]) == 1
    run(name="next", resume=True)
    expected, found = state_of(done), state_of(tmp_path / "next")
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_a_truncated_checkpoint_is_named_and_can_be_removed(done, run):
    path = done / "checkpoint.pt"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(DamagedState, match=r"checkpoint\.pt cannot be read: remove it"):
        run(resume=True)
    path.unlink()
    run(resume=True)


def test_damaged_pre_trained_weights_are_named(done, run, tmp_path):
    path = next((tmp_path / "cache" / "pretrained").glob("sketches-*"))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DamagedState, match="remove it to pre-train anew"):
        run(name="next")


@pytest.mark.parametrize("branches", list(Branches))
def test_unreadable_photos_are_all_named_before_pre_training(branches, shapes, tmp_path):
    shutil.copytree(shapes, tmp_path / "data")
    for name in ("bar/1.png", "fence/4.png"):
        (tmp_path / "data" / "photos" / name).write_bytes(b"not a picture")
    dataset = open_dataset(tmp_path / "data")
    job = Job(dataset, draw_split(dataset, queries=2), replace(QUICK, branches=branches), BITS)
    listening = Listening()
    with pytest.raises(DatasetProblem, match=r"(?s)2 pictures cannot be read.*1\.png.*4\.png"):
        train(job, tmp_path / "run", tmp_path / "cache", listening, Processes())
    assert len(listening.stages) == 1


def test_a_category_with_one_sketch_to_train_on_is_refused(shapes, tmp_path):
    shutil.copytree(shapes, tmp_path / "data")
    for number in range(3, 6):
        (tmp_path / "data" / "sketches" / "disc" / f"{number}.png").unlink()
    dataset = open_dataset(tmp_path / "data")
    job = Job(dataset, draw_split(dataset, queries=2), QUICK, BITS)
    with pytest.raises(SplitProblem, match="Only one sketch is left to train on in: disc"):
        train(job, tmp_path / "run", tmp_path / "cache", Silent(), Processes())
    assert not (tmp_path / "run").exists()


def test_one_category_is_not_enough(shapes, tmp_path):
    for kind in ("sketches", "photos"):
        shutil.copytree(shapes / kind / "disc", tmp_path / "data" / kind / "disc")
    dataset = open_dataset(tmp_path / "data")
    job = Job(dataset, draw_split(dataset, queries=2), QUICK, BITS)
    with pytest.raises(SplitProblem, match="Fewer than two categories"):
        train(job, tmp_path / "run", tmp_path / "cache", Silent(), Processes())


def test_words_of_a_file_are_read_before_anything_is_trained(dataset, tmp_path, monkeypatch):
    table = tmp_path / "vectors.txt"
    table.write_text("".join(f"{word} {number} 1.0\n" for number, word in enumerate(["bar", "cross", "disc"])))
    monkeypatch.setattr(training.words, "embed", sources.embed)
    recipe = replace(QUICK, words="glove-text", words_file=str(table))
    job = Job(dataset, draw_split(dataset, queries=2), recipe, BITS)
    with pytest.raises(UnknownWords, match="fence"):
        train(job, tmp_path / "run", tmp_path / "cache", Silent(), Processes())
    assert not (tmp_path / "run").exists()
    with table.open("a") as file:
        file.write("fence 3 1.0\n")
    train(job, tmp_path / "run", tmp_path / "cache", Silent(), Processes())
    assert (tmp_path / "run" / "checkpoint.pt").exists()


@pytest.mark.parametrize("bits", [0, 4, 12, -8, 1 << 20])
def test_codes_that_do_not_fill_bytes_are_refused(bits, dataset):
    with pytest.raises(BadArgument, match=f"multiple of 8 up to .*, not {bits}"):
        Job(dataset, draw_split(dataset, queries=2), QUICK, bits)


@pytest.mark.parametrize("stage", ["pretrain_sketches", "hashing"])
def test_a_loss_that_is_not_finite_stops_the_run(run, tmp_path, stage):
    steps = replace(getattr(QUICK, stage), learning_rate=1e30)
    with pytest.raises(TrainingDiverged, match=r"The loss became (nan|inf) in epoch \d+, batch \d+ of \d+\. Lower"):
        run(replace(QUICK, **{stage: steps}))
