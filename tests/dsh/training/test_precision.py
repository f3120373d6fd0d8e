"""Steps in half precision learn too, and leave weights, losses and values in full."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from sketchhash.dsh.checkpoints import read_checkpoint
from sketchhash.dsh.optimisation import autocast
from sketchhash.dsh.recipe import load_recipe, parse_recipe
from sketchhash.errors import UnknownName

from .conftest import MODES, Listening, state_of


def in_bfloat16(recipe):
    stages = ("pretrain_photos", "pretrain_sketches", "hashing")
    return replace(recipe, **{stage: replace(getattr(recipe, stage), precision="bfloat16") for stage in stages})


@MODES
def test_a_run_in_bfloat16_learns_in_another_way_than_one_in_float32(recipe, run, finished, dataset, tmp_path):
    listening = Listening()
    inputs = run(in_bfloat16(recipe), progress=listening)
    losses = [line["loss"] for line in map(json.loads, (tmp_path / "run" / "log.jsonl").read_text().splitlines())]
    assert np.isfinite([entry["loss"] for entry in listening.entries]).all()
    assert losses[-1] < losses[0]
    values = inputs.photo_values(dataset.photos)
    assert values.dtype == np.float32 and np.isfinite(values).all()
    mine, other = state_of(tmp_path / "run"), state_of(finished(recipe) / "run")
    assert {name: tensor.dtype for name, tensor in mine.items()} == {name: each.dtype for name, each in other.items()}
    assert not torch.equal(mine["hash_c1.weight"], other["hash_c1.weight"])
    for moments in read_checkpoint(tmp_path / "run" / "checkpoint.pt")["optimiser"]["state"].values():
        assert moments["exp_avg"].dtype == torch.float32


def test_layers_compute_in_the_precision_of_a_stage():
    steps = load_recipe("tiny").hashing
    layer, values = torch.nn.Linear(2, 2), torch.ones(1, 2)
    for precision in ("float32", "bfloat16"):
        with autocast(replace(steps, precision=precision)):
            assert layer(values).dtype == getattr(torch, precision)


def test_any_recipe_can_be_said_to_be_in_bfloat16():
    recipe = load_recipe("paper+bfloat16+without-tokens")
    stages = (recipe.pretrain_photos, recipe.pretrain_sketches, recipe.hashing)
    assert [steps.precision for steps in stages] == ["bfloat16"] * 3
    assert recipe == replace(
        in_bfloat16(load_recipe("paper+without-tokens")), name=recipe.name, description=recipe.description
    )


def test_a_precision_is_part_of_the_hash_unless_it_is_what_was_before():
    paper = load_recipe("paper")
    assert paper.hash.startswith("8136c062f5c8ea6f")  # as before there was a choice
    assert load_recipe("paper+bfloat16").hash != paper.hash


def test_an_unknown_precision_is_refused():
    table = {**load_recipe("tiny").__dict__, "hashing": {"epochs": 1}, "precision": "float8"}
    table.update({stage: {"epochs": 1} for stage in ("pretrain_photos", "pretrain_sketches", "pretrain_ink")})
    with pytest.raises(UnknownName, match="no precision named 'float8'"):
        parse_recipe({**table, "objective": {}})
