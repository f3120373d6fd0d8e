import logging

import numpy as np
import pytest

from number_formats import (
    NumberFormat,
    Preparation,
    onnx_format,
    score_formats,
    time_formats,
    write_dynamic,
    write_static,
)
from sketchhash.datasets import draw_split, synthetic
from sketchhash.evaluation.encodings import Encodings, Medium
from sketchhash.evaluation.quality import score_setting
from sketchhash.evaluation.settings import EvaluationData
from sketchhash.model import Model, verify
from stages import Stages

WORLD = synthetic.load(6, 5, categories=("cat", "key", "umbrella"), size=32)


@pytest.fixture(scope="module")
def settings():
    return EvaluationData([WORLD], draw_split(WORLD, queries=2, unseen_photos=0.4)).settings()


@pytest.fixture(scope="module")
def inputs(token_model_folder):
    stages = Stages(token_model_folder)
    return Preparation.photos(stages).one_by_one(WORLD.photos), Preparation.sketches(stages).one_by_one(WORLD.sketches)


def test_formats_are_scored_as_models_are(token_model_folder, settings, tmp_path):
    model = Model.load(token_model_folder)
    encodings = Encodings(model, tmp_path, threads=1)
    for setting in settings:
        encodings.encode(Medium.SKETCH, setting.queries)
        encodings.encode(Medium.PHOTO, setting.gallery)
    one = onnx_format("it", token_model_folder)
    scores = score_formats([one], Stages(token_model_folder), settings)
    assert scores["it"] == {
        setting.title: pytest.approx(
            score_setting(setting, encodings, WORLD.categories).codes.mean_average_precision.value
        )
        for setting in settings
    }
    assert list(scores["it"]) == ["synthetic → synthetic, seen photos", "synthetic → synthetic, unseen photos"]


def test_every_one_sees_every_picture_and_has_its_own_score(token_model_folder, settings):
    stages = Stages(token_model_folder)
    right = onnx_format("right", token_model_folder)
    wrong = NumberFormat("wrong", 1, lambda some: -right.photos(some), right.sketches)
    scores = score_formats([right, wrong], stages, settings[:1])
    assert scores["right"] != scores["wrong"]


def test_unreadable_pictures_are_left_out_of_the_scores(token_model_folder, settings, monkeypatch):
    monkeypatch.setattr("number_formats.photo_picture", lambda item: (_ for _ in ()).throw(OSError))
    assert Preparation.photos(Stages(token_model_folder)).one_by_one(WORLD.photos) == []


def test_formats_are_timed_alone_and_together(token_model_folder, inputs):
    photos, sketches = inputs
    calls = []

    def spy(some):
        calls.append(len(next(iter(some.values()))))
        return np.zeros((1, 32), np.float32)

    times = time_formats([NumberFormat("spy", 1, spy, spy)], sketches[:2], photos[:4], seconds=0)
    assert times["spy"].batch.calls >= 3
    assert set(calls) == {1, 4}


@pytest.mark.parametrize("kind", ["dynamic", "static"])
def test_quantised_models_can_be_loaded_and_give_nearly_the_same_values(kind, token_model_folder, inputs, tmp_path):
    target = tmp_path / "int8"
    if kind == "dynamic":
        write_dynamic(token_model_folder, target)
    else:
        write_static(token_model_folder, target, *inputs)
    assert verify(target).is_intact
    plain, small = Model.load(token_model_folder), Model.load(target)
    assert small.fingerprint != plain.fingerprint
    assert small.manifest.scores == plain.manifest.scores
    photos = [photo.content.read() for photo in WORLD.photos]
    expected, found = plain.encode_photos(photos), small.encode_photos(photos)
    assert not np.array_equal(expected, found)
    assert np.corrcoef(expected.ravel(), found.ravel())[0, 1] > 0.98
    assert onnx_format("int8", target).bytes < 0.5 * onnx_format("float32", token_model_folder).bytes


def test_quantising_is_silent_and_leaves_logging_as_it_was(token_model_folder, tmp_path, caplog):
    before = logging.root.manager.disable
    write_dynamic(token_model_folder, tmp_path / "int8")
    assert caplog.records == []
    assert logging.root.manager.disable == before
