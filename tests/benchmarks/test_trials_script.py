"""The script that compares recipes behind one C2: what is done again, and what is made of the scores."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from statistics import mean
from types import SimpleNamespace

import pytest

import trials as script
from sketchhash.dsh.recipe import load_recipe
from sketchhash.errors import BadArgument
from trials import Score, Trial, Trials, page

ROOT = Path(__file__).parents[2]


def made(name="shipped", repeat=0, codes=0.5, bits=256):
    taught = (Score("berlin", 900, codes, codes + 0.01), Score("icons", 1800, codes + 0.1, codes + 0.11))
    untaught = (Score("berlin", 50, codes - 0.2, codes - 0.1),)
    return Trial(name, name * 2, {}, "0123456789", "split", bits, repeat, 100.0, taught, untaught)


def test_repeats_of_a_recipe_are_one_row_with_the_range_of_their_means():
    lines = page([made(), made("mine", codes=0.6), made(repeat=1, codes=0.52), made(bits=64)]).splitlines()
    assert lines[0].startswith("| recipe | C2 | bits | berlin, 900 | icons, 1,800 |")
    assert lines[2:] == [
        "| shipped | 01234567 | 256 | 0.510 | 0.610 | 0.560 (0.550–0.570) | 0.570 | 0.310 |",
        "| mine | 01234567 | 256 | 0.600 | 0.700 | 0.650 | 0.660 | 0.400 |",
        "| shipped | 01234567 | 64 | 0.500 | 0.600 | 0.550 | 0.560 | 0.300 |",
    ]


def test_a_trial_is_described_by_what_differs_from_the_shipped_recipe():
    shipped = load_recipe("shipped")
    other = replace(shipped, name="mine", category_weight=3.0, hashing=replace(shipped.hashing, epochs=30))
    differences = script._differences(asdict(shipped), asdict(other))
    assert differences == {"category_weight": 3.0, "hashing": {"epochs": 30}}


@pytest.fixture
def data(monkeypatch, tmp_path):
    """Stand in for data and training; return the options of a run and the jobs that were tried."""
    jobs = []

    def try_out(job, cache):
        jobs.append((job.recipe.name, job.bits, job.repeat))
        return replace(made(job.recipe.name, job.repeat, bits=job.bits), recipe=job.recipe.hash)

    monkeypatch.setattr(script, "try_out", try_out)
    monkeypatch.setattr(script, "open_dataset", lambda path: path)
    monkeypatch.setattr(script, "join", lambda parts: parts)
    split = SimpleNamespace(hash="split", apply=lambda dataset: None)
    monkeypatch.setattr(script.Split, "read", lambda path: split)
    monkeypatch.setattr(script, "read_manifest", lambda folder: SimpleNamespace(fingerprint="0123456789"))
    record = tmp_path / "trials.json"
    options = ("--data", "berlin", "--split", "choices.json", "--from", "model", "--out", record)
    return SimpleNamespace(options=options, jobs=jobs, record=record)


def test_what_the_record_holds_is_not_done_again(run, data):
    run(script, *data.options, "--recipe", "shipped")
    run(script, *data.options, "--recipe", "shipped", "--recipe", "tuned", "--repeats", 2)
    assert data.jobs == [("shipped", 256, 0), ("tuned", 256, 0), ("shipped", 256, 1), ("tuned", 256, 1)]
    trials = Trials.from_record(json.loads(data.record.read_text())).trials
    assert [(trial.name, trial.repeat) for trial in trials] == [(name, repeat) for name, _, repeat in data.jobs]


def test_a_record_is_shown(run, data):
    printed = run(script, *data.options).stdout
    assert run(script, "--show", data.record).stdout == printed


def test_data_a_split_and_a_model_must_be_named(run):
    run(script, "--data", "berlin", code=2)


def test_a_trial_needs_a_c2_to_train_behind(tmp_path):
    with pytest.raises(BadArgument, match="needs a model"):
        script.try_out(SimpleNamespace(dataset=None, split=None, recipe=None, start=None), tmp_path)


@pytest.mark.parametrize("record", ["taken-over", "trials"])
def test_the_document_has_what_the_records_say(record):
    document = (ROOT / "docs" / "model.md").read_text(encoding="utf-8")
    trials = Trials.from_record(json.loads((ROOT / "results" / "model" / f"{record}.json").read_text())).trials
    for trial in trials:
        scores = [f"{score.codes:.3f}" for score in trial.taught]
        untaught = mean(score.codes for score in trial.untaught)
        assert f"| {' | '.join(scores)} | {untaught:.3f} |" in document
