"""Runs are repeated, stopped and resumed, and end as if nothing had been."""

import json
from importlib.metadata import version

import pytest
import torch

from sketchhash.datasets import draw_split
from sketchhash.dsh.optimisation import Processes, seeded_epoch

from .conftest import BITS, FROZEN, QUICK, Interrupting, Listening, state_of


def test_another_seed_gives_another_model(done, run, tmp_path):
    run(name="other", seed=1)
    first, other = state_of(done), state_of(tmp_path / "other")
    assert not torch.equal(first["c1.fc_a.weight"], other["c1.fc_a.weight"])
    assert not torch.equal(first["photo codes"], other["photo codes"])


def test_training_leaves_torchs_own_generator_as_it_was(run):
    before = torch.random.get_rng_state()
    run()
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    ("recipe", "stage"),
    [
        (QUICK, "pre-training on sketches, epoch 2"),
        (QUICK, "pre-training on photos, epoch 2"),
        (QUICK, "hashing, epoch 1"),
        (QUICK, "hashing, epoch 3"),
        (FROZEN, "pre-training on photos, epoch 2"),
        (FROZEN, "hashing, epoch 3"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"frozen={value.frozen_trunks}",
)
def test_an_interrupted_run_ends_as_if_it_had_not_been(recipe, stage, finished, run, tmp_path):
    whole, halved = finished(recipe) / "run", tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        run(recipe, progress=Interrupting(stage))
    listening = Listening()
    inputs = run(recipe, progress=listening, resume=True)
    repeated = next(name for name in listening.stages if "epoch" in name)
    assert repeated.startswith(stage)  # and nothing before it
    expected, found = state_of(whole), state_of(halved)
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)
    assert all(torch.equal(expected[name], tensor) for name, tensor in inputs.network.state_dict().items())
    assert (whole / "log.jsonl").read_bytes() == (halved / "log.jsonl").read_bytes()


def test_resuming_a_finished_run_only_gives_it_back(done, run):
    listening = Listening()
    inputs = run(resume=True, progress=listening)
    kept = state_of(done)
    assert not listening.entries
    assert all(torch.equal(kept[name], tensor) for name, tensor in inputs.network.state_dict().items())


def test_models_with_other_bits_start_from_the_same_pre_training(done, run):
    listening = Listening()
    run(bits=32, name="32", progress=listening)
    assert {entry["stage"] for entry in listening.entries} == {"hashing"}


def test_the_record_of_a_run_names_what_decided_it(done, dataset):
    record = json.loads((done / "run.json").read_text())
    assert (record["bits"], record["seed"], record["dataset"]) == (BITS, 0, dataset.name)
    assert record["recipe"]["hash"] == QUICK.hash
    assert record["split_hash"] == draw_split(dataset, queries=2).hash
    assert record["versions"]["torch"] == version("torch")


def test_an_epoch_is_seeded_by_its_stage_number_and_seed_and_each_process_drops_apart():
    def draws(seed=0, stage="hashing", epoch=0, processes=Processes()):  # noqa: B008
        with seeded_epoch(seed, stage, epoch, processes) as generator:
            return torch.rand(1, generator=generator).item(), torch.rand(1).item()

    assert draws() == draws()
    others = [draws(seed=1), draws(stage="pre-training"), draws(epoch=1)]
    assert len({draws(), *others}) == 4
    first, second = draws(processes=Processes(0, 2)), draws(processes=Processes(1, 2))
    assert first == draws()
    assert first[0] == second[0]
    assert first[1] != second[1]
