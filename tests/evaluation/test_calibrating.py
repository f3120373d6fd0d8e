"""Fitting and measuring chances on a made-up world, where drawings and photos lie about the vectors of categories."""

import json

import numpy as np
import pytest

from sketchhash.evaluation import fit_calibration, measure_sureness
from sketchhash.evaluation.calibrating import fit_logistic
from sketchhash.evaluation.sureness import reliability
from sketchhash.evaluation.trials import Half, Kind, Material, Pictures, kind_weights, part_of
from sketchhash.imaging import InkStyle, share_of_ink
from sketchhash.model.calibration import logistic

BITS, NAMES, UNTAUGHT = 64, 24, 12


class World:
    """Categories are random directions; drawings and photos of them are those with noise."""

    def __init__(self):
        self.rng = np.random.default_rng(0)
        self.centres = self.rng.standard_normal((NAMES + UNTAUGHT, BITS))

    def pictures(self, labels, noise, size=1.0):
        labels = np.asarray(labels)
        values = self.centres[labels] + noise * self.rng.standard_normal((len(labels), BITS))
        return Pictures((size * values).astype(np.float32), labels)

    def nothing(self, count):
        values = 0.5 * self.rng.standard_normal((count, BITS))
        return Pictures(values.astype(np.float32), np.full(count, -1))

    def half(self, untaught):
        taught = np.repeat(np.arange(NAMES), 8)
        drawn = np.concatenate([taught, np.repeat(untaught, 6)])
        return Half(
            sketches=self.pictures(drawn, 1.2),
            parts=self.pictures(taught[::4], 3.0),
            scribbles=self.nothing(60),
            photos=self.pictures(taught, 0.8),
            ink=np.linspace(0.02, 0.1, 50),
        )


@pytest.fixture(scope="module")
def material():
    world = World()
    rows = np.repeat(np.arange(NAMES), 6)
    untaught = np.arange(NAMES, NAMES + UNTAUGHT)
    return Material(
        names=tuple(f"thing {row}" for row in range(NAMES)),
        drawn=world.pictures(rows, 1.2),
        shown=world.pictures(rows, 0.8),
        halves={"fit": world.half(untaught[::2]), "measure": world.half(untaught[1::2])},
        split_hash=None,
    )


@pytest.fixture(scope="module")
def calibration(material):
    return fit_calibration(material)


@pytest.fixture(scope="module")
def sureness(material, calibration):
    class Calibrated:
        fingerprint = "f" * 64

        class manifest:  # noqa: N801 - stands for a model's
            name = "made up"

    Calibrated.calibration = calibration
    return measure_sureness(Calibrated, material)


def test_known_things_are_sure_and_others_are_not(sureness):
    assert sureness.kinds["present"].sure > 0.7
    assert sureness.kinds["scribble"].sure < 0.1
    assert sureness.kinds["absent"].sure < 0.15
    assert sureness.kinds["untaught"].sure < 0.15
    assert sureness.kinds["absent"].right == 0
    for kind in sureness.kinds.values():
        assert kind.sure + kind.unsure + kind.unknown == pytest.approx(1)


def test_chances_come_true_as_often_as_they_say(sureness):
    assert sureness.answers.error < 0.08
    assert sureness.guesses.error < 0.08
    assert sureness.hits.error < 0.08


def test_photos_and_categories_are_judged_too(sureness):
    for asked in ("photo", "category"):
        kinds, error = sureness.other_queries[asked]
        assert kinds["present"].sure > kinds["absent"].sure + 0.5
        assert error < 0.1


def test_fitting_twice_gives_the_same(material, calibration):
    assert fit_calibration(material).to_bytes() == calibration.to_bytes()


def test_coefficients_go_with_the_vectors_of_another_model(material, calibration):
    other = Material(material.names[::-1], material.shown, material.drawn, {}, None)
    moved = fit_calibration(other, calibration)
    assert moved.categories == material.names[::-1]
    assert moved.heads is calibration.heads
    assert moved.drawn == pytest.approx(calibration.shown)


def test_a_report_is_written_with_its_diagram(sureness, tmp_path):
    pytest.importorskip("matplotlib")
    sureness.write(tmp_path)
    assert json.loads((tmp_path / "sureness.json").read_text())["kinds"].keys() == sureness.kinds.keys()
    assert "| scribble |" in (tmp_path / "sureness.md").read_text()
    assert (tmp_path / "sureness.png").read_bytes().startswith(b"\x89PNG")


def test_a_logistic_regression_finds_the_coefficients_that_made_the_data():
    rng = np.random.default_rng(0)
    features = np.stack([np.ones(20_000), rng.standard_normal(20_000)], axis=1)
    targets = (rng.random(20_000) < logistic(features @ [-1.0, 2.0])).astype(float)
    assert fit_logistic(features, targets, np.ones(20_000), ridge=1e-6) == pytest.approx([-1.0, 2.0], abs=0.1)


def test_the_error_of_chances_that_are_all_too_high():
    named, came_true = [0.95] * 10, [True] * 5 + [False] * 5
    assert reliability(named, came_true, np.ones(10)).error == pytest.approx(0.45)


def test_kinds_count_as_they_should_however_many_there_are():
    weights = kind_weights([Kind.PRESENT] * 9 + [Kind.PART])
    assert weights[:9].sum() == pytest.approx(4 * weights[9])


def test_a_part_of_a_sketch_has_less_of_its_lines():
    ink = np.full((64, 64), 255, dtype=np.uint8)
    ink[10:54, 10:12] = ink[10:54, 30:32] = ink[10:54, 52:54] = 0
    part = part_of(ink, np.random.default_rng(0), InkStyle(line_width=1 / 32))
    assert part.shape == ink.shape
    assert share_of_ink(part) > 0
    assert (part != ink).any()
