from dataclasses import replace
from pathlib import Path

import pytest

import codes
import full_size
from full_size import Networks, Plan, Rate, Speeds
from timing import read_record

ROOT = Path(__file__).parents[2]

PLAN = Plan(
    recipe="paper",
    size=codes.Size(photos=1000, sketches=100, bits=64, classes=10),
    teraflops=1.0,
    share=0.5,
    batch=64,
    epochs={"pretrain_photos": 2, "pretrain_sketches": 3, "hashing": 5},
    rounds=2,
    copies=3,
    networks=Networks(photo=3.0, ink=1.0, weights=1_000_000, activations=10_000),
    speeds=Speeds(
        cores=2,
        contours=Rate(1.0, 25.0),
        photos=Rate(1.0, 50.0),
        tokens=Rate(1.0, 125.0),
        sketches=Rate(1.0, 100.0),
        kept_photos=Rate(1.0, 500.0),
        kept_tokens=Rate(1.0, 1000.0),
        code_seconds=7.0,
        code_bytes=10**9,
    ),
)


def test_the_operations_of_table_1_are_those_of_its_layers():
    convolutions = [(63, 64, 14 * 14), (31, 128, 64 * 9), (31, 128, 128 * 9), (15, 256, 128 * 9), (15, 256, 256 * 9)]
    layers = [(7 * 7 * 256, 4096), (4096, 1024), (1024, 128)]
    multiplications = sum(side**2 * outputs * inputs for side, outputs, inputs in convolutions)
    multiplications += sum(inputs * outputs for inputs, outputs in layers)
    counted = full_size.count("paper", 128)
    assert counted.ink == pytest.approx(2 * multiplications / 1e9)
    assert counted.photo > 2 * counted.ink  # C1, and C2 on the token map


def test_a_stage_takes_what_its_pictures_take():
    stages = {name: times for name, *times in PLAN.stages()}
    assert stages["contours, once"] == [0, 20, 20]
    assert stages["keeping pixels, once"] == [0, 0, 10 + 4]
    assert stages["pre-training of C1"] == [pytest.approx(3 * 2 * 1000 * 2e9 / 0.5e12), 2 * 10, 2 * 1]
    assert stages["pre-training of C2"] == [pytest.approx(3 * 3 * 100 * 1e9 / 0.5e12), 1.5, 1.5]
    assert stages["Algorithm 1, networks"] == [
        pytest.approx(5 * 4 * (1000 * 3e9 + 100 * 1e9) / 0.5e12),
        pytest.approx(2 * 5 * (10 + 4 + 0.5)),
        pytest.approx(2 * 5 * (1 + 0.5 + 0.5)),
    ]
    assert stages["Algorithm 1, codes"] == [0, 70, 70]
    assert PLAN.card_bytes() == 3_000_000 + 640_000


def test_a_faster_card_shortens_the_card_alone():
    faster = replace(PLAN, teraflops=2.0)
    for (_, card, *machine), (_, shorter, *same) in zip(PLAN.stages(), faster.stages(), strict=True):
        assert (shorter, same) == (card / 2, machine)


def test_the_page_of_training_has_the_recorded_table():
    text = (ROOT / "docs" / "training.md").read_text(encoding="utf-8")
    plan = read_record(ROOT / "results" / "full-size.json", Plan.from_record)
    assert full_size.page(plan) in text


def test_a_dry_run_measures_this_machine_and_can_be_shown_again(run, tmp_path):
    record = tmp_path / "full.json"
    sizes = ("--photos", 300, "--sketches", 100, "--categories", 5, "--bits", 16, "--pictures", 1)
    made = run(full_size, "--recipe", "tiny", *sizes, "--out", record)
    assert "300 photos, 100 sketches of 5 categories, 16 bits" in made.stdout
    assert run(full_size, "--show", record).stdout == made.stdout


def test_a_recipe_with_frozen_trunks_is_refused(run):
    assert "keeps its trunks frozen" in run(full_size, "--recipe", "tuned", code=2).output
