"""The script that compares models in pairs: what differs between two of them, and what is made of their scores."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

import detectors as script
from detectors import DETECTORS, Pairs, with_detector
from sketchhash.dsh.recipe import load_recipe

RESULTS = Path(__file__).parents[2] / "results"
PAIRS = Pairs(
    trained={"data": "berlin", "bits": "64"},
    queries=800,
    photos={"seen": 5731, "unseen": 1433},
    scores={
        "seen": {"sketch-tokens": [0.5, 0.52], "contour-net": [0.51, 0.54]},
        "unseen": {"sketch-tokens": [0.4, 0.4], "contour-net": [0.39, 0.42]},
    },
)


@pytest.mark.parametrize("starts_taught", [False, True])
def test_the_models_of_a_pair_differ_in_their_detector_alone(starts_taught):
    recipe = load_recipe("tuned")
    one, other = (with_detector(recipe, detector, starts_taught) for detector in DETECTORS)
    assert (one.detector, other.detector) == DETECTORS
    assert replace(one, detector=other.detector, name=other.name) == other
    assert one.pretrain_sketches.epochs == (0 if starts_taught else recipe.pretrain_sketches.epochs)
    assert replace(one, pretrain_sketches=recipe.pretrain_sketches, name="tuned", detector=recipe.detector) == recipe


def test_differences_are_taken_pair_by_pair():
    assert PAIRS.differences("seen") == pytest.approx([0.01, 0.02])
    assert PAIRS.differences("unseen") == pytest.approx([-0.01, 0.02])


def test_a_record_is_shown_with_means_and_spread(tmp_path, run):
    (tmp_path / "record.json").write_text(json.dumps(asdict(PAIRS)))
    shown = run(script, "--show", tmp_path / "record.json").output
    assert "| seen | 5,731 | 0.5100 | 0.5250 | +0.0150 | 0.0071 | +0.0100, +0.0200 |" in shown
    assert "| unseen | 1,433 | 0.4000 | 0.4050 | +0.0050 | 0.0212 | -0.0100, +0.0200 |" in shown


def test_the_document_has_the_table_of_the_recorded_pairs(run):
    shown = run(script, "--show", RESULTS / "detectors.json").stdout.strip()
    document = (RESULTS.parent / "docs" / "tokens.md").read_text(encoding="utf-8")
    for block in shown.split("\n\n"):
        assert block in document


def test_a_dataset_must_be_named(run):
    run(script, code=2)
