import numpy as np
import pytest

from sketchhash.datasets import synthetic
from sketchhash.dsh.progress import Silent
from sketchhash.evaluation import mean_average_precision
from sketchhash.paper import DSH, Entry, Records
from sketchhash.paper.ablations import AblationResult, ablation_table, read_ablations, run_ablations

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


ENTRIES = [Entry(DSH, 16), Entry("trunk-ridge", 16), Entry("trunk-cca", 8)]


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Return a function that runs a small study."""
    monkeypatch.setattr("sketchhash.dsh.training.words.embed", lambda names, source, path: np.eye(len(names), 8))
    (tmp_path / "quick.toml").write_text(QUICK)
    world = synthetic.load(12, 10, categories=("key", "snowman", "umbrella"), size=64)
    options = {"seed": 0, "queries": 4, "cache": tmp_path / "cache", "progress": Silent()}
    recipe = str(tmp_path / "quick.toml")
    return lambda: list(run_ablations(world, tmp_path / "results", ENTRIES, recipe=recipe, **options))


@pytest.mark.slow
def test_a_study_keeps_its_results_and_repeats_nothing(study, tmp_path, monkeypatch):
    results = study()
    assert [(result.method, result.protocol) for result in results] == [
        (entry.method, protocol) for protocol in ("seen", "unseen") for entry in ENTRIES
    ]
    assert all(0 < result.mean_average_precision <= 1 for result in results)
    records = Records(tmp_path / "results" / "seen")
    run = records.find(ENTRIES[0], records.runs()[0].recipe)
    assert mean_average_precision(records.rankings(ENTRIES[0])).value == pytest.approx(
        run.scores.mean_average_precision, rel=1e-5
    )
    written = read_ablations(tmp_path / "results")
    assert [result.mean_average_precision for result in written] == pytest.approx(
        [result.mean_average_precision for result in results], rel=1e-5
    )

    monkeypatch.setattr(
        "sketchhash.paper.methods.HashingMethod.encode", lambda self: pytest.fail("a finished run was repeated")
    )
    assert study() == written

    (tmp_path / "quick.toml").write_text(QUICK.replace("epochs = 3", "epochs = 4"))
    with pytest.raises(pytest.fail.Exception, match="repeated"):  # by another recipe, nothing is finished
        study()


def test_a_table_sets_both_protocols_beside_the_papers_numbers():
    results = [AblationResult(DSH, 64, "seen", 0.8125, 0.7), AblationResult(DSH, 64, "unseen", 0.5, 0.25)]
    assert ablation_table(results).splitlines()[-1] == "| full | 64 | 0.812 | 0.700 | 0.500 | 0.250 | 0.570 / 0.783 |"


def test_a_table_has_the_mean_and_spread_of_repeats():
    results = [AblationResult(DSH, 64, "seen", score, 0.5) for score in (0.70, 0.74, 0.75)]
    row = ablation_table(results).splitlines()[-1]
    assert row == "| full | 64 | 0.730 ±0.025 | 0.500 ±0.000 | – | – | 0.570 / 0.783 |"
