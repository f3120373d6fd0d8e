import json

import numpy as np
import pytest

from sketchhash.benchmark.study import ABLATIONS, Entry, Result, Study, ablation_entries, study_entries, table
from sketchhash.datasets import synthetic
from sketchhash.dsh.progress import Silent
from sketchhash.evaluation import TieGroups, mean_average_precision

QUICK = """
base = "tiny"
description = "a few steps"
frozen_trunks = true
words = "wordnet-free"
[pretrain_photos]
epochs = 2
[pretrain_sketches]
epochs = 2
[hashing]
epochs = 3
"""


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.setattr("sketchhash.dsh.training.words.embed", lambda names, source: np.eye(len(names), 8))
    (tmp_path / "quick.toml").write_text(QUICK)
    world = synthetic.load(12, 10, categories=("key", "snowman", "umbrella"), size=64)
    return Study(world, tmp_path / "results", tmp_path / "cache", seed=0, queries=4, progress=Silent())


def entries(tmp_path):
    recipe = str(tmp_path / "quick.toml")
    return [
        Entry("full", recipe, 16),
        Entry("ridge to random class codes", recipe, 16),
        Entry("sign of CCA", recipe, 8),
    ]


@pytest.mark.slow
def test_a_study_keeps_its_results_and_repeats_nothing(study, tmp_path, monkeypatch):
    results = list(study.run(entries(tmp_path)))
    assert [(result.method, result.protocol) for result in results][:2] == [
        ("full", "seen"),
        ("ridge to random class codes", "seen"),
    ]
    assert all(0 < result.mean_average_precision <= 1 for result in results)
    document = json.loads((tmp_path / "results" / "full-16-seen.json").read_text())
    assert len(document["log"]) == 3
    assert document["job"]["split_hash"]
    groups = TieGroups.load(tmp_path / "results" / "full-16-seen.npz")
    assert mean_average_precision(groups).value == document["scores"]["mean_average_precision"]["value"]

    monkeypatch.setattr(Study, "_run", lambda *arguments: pytest.fail("a finished run was repeated"))
    assert list(study.run(entries(tmp_path))) == results

    (tmp_path / "quick.toml").write_text(QUICK.replace("epochs = 3", "epochs = 4"))
    with pytest.raises(pytest.fail.Exception, match="repeated"):  # by another recipe, nothing is finished
        list(study.run(entries(tmp_path)))


def test_the_study_holds_every_ablation_once():
    listed = study_entries([32, 64], 64)
    assert len(listed) == len(set(listed)) == 2 * 3 + len(ABLATIONS)
    assert {entry.method for entry in ablation_entries(64)} == {*ABLATIONS, "full"}
    assert len({entry.slug for entry in ablation_entries(64, repeats=3)}) == 3 * (len(ABLATIONS) + 1)


def test_a_table_sets_both_protocols_beside_the_papers_numbers():
    results = [Result("full", 64, "seen", 0.8125, 0.7), Result("full", 64, "unseen", 0.5, 0.25)]
    assert table(results).splitlines()[-1] == "| full | 64 | 0.812 | 0.700 | 0.500 | 0.250 | 0.570 / 0.783 |"


def test_a_table_gives_the_mean_and_spread_of_repeats():
    results = [Result("full", 64, "seen", score, 0.5) for score in (0.70, 0.74, 0.75)]
    assert table(results).splitlines()[-1] == "| full | 64 | 0.730 ±0.025 | 0.500 ±0.000 | – | – | 0.570 / 0.783 |"
