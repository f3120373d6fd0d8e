"""Chances: they fall along the hits, add up, and are kept in the model folder."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.codes import pack
from sketchhash.errors import IncompatibleModel, UnknownName
from sketchhash.model import Calibration, Model, QueryKind, read_manifest, write_calibration
from sketchhash.model.calibration import FEATURES, Head, falling, unit
from sketchhash.model.manifest import CALIBRATION

BITS = 16
NAMES = ("cat", "dog")


def calibration(sure=0.6):
    """Return one whose categories are opposite, and whose answers are as sure as their first hits agree."""
    cat = unit(np.where(np.arange(BITS) % 2, 1.0, -1.0)[None])
    vectors = np.concatenate([cat, -cat])
    answer = np.zeros(FEATURES)
    answer[1] = 1.0
    head = Head(answer, np.array([0.0, 1.0, 0.0]), sure)
    return Calibration(
        NAMES,
        vectors,
        vectors,
        np.array([8.0, 0.0, 3.0, 0.0]),
        np.array([8.0, 3.0]),
        dict.fromkeys(QueryKind, head),
        0.03,
    )


def codes_of(*names):
    made = calibration()
    return pack(np.stack([made.category_values(name) for name in names]))


@given(st.lists(st.floats(0, 1), max_size=30))
def test_chances_are_made_to_fall_without_changing_their_mean(chances):
    fell = falling(np.array(chances))
    assert (np.diff(fell) <= 1e-12).all()
    assert fell.sum() == pytest.approx(sum(chances))


def test_chances_that_fall_already_stay():
    assert falling(np.array([0.9, 0.4, 0.4, 0.1])).tolist() == [0.9, 0.4, 0.4, 0.1]


def test_hits_that_show_what_was_drawn_are_sure_and_likely():
    made = calibration()
    found = made.judge(
        made.category_values("cat"), codes_of("cat", "cat", "cat", "cat", "cat", "dog"), QueryKind.SKETCH
    )
    assert found.verdict == "sure"
    assert found.likely == 5
    assert found.guesses[0].category == "cat"
    assert found.guesses[0].chance > 0.9
    assert list(found.hit_chances) == sorted(found.hit_chances, reverse=True)


def test_more_hits_leave_the_chances_of_the_first_as_they_are():
    made, rng = calibration(), np.random.default_rng(0)
    codes = pack(made.category_values("cat") + rng.normal(0, 0.3, (100, BITS)))
    many, few = (made.judge(made.category_values("cat"), codes[:count], QueryKind.SKETCH) for count in (100, 40))
    assert many.hit_chances[:40] == few.hit_chances
    assert (np.diff(many.hit_chances) <= 0).all()
    assert (many.verdict, many.chance) == (few.verdict, few.chance)


def test_what_is_not_in_the_gallery_is_unknown_unless_it_is_just_begun():
    made = calibration()
    cat, dogs = made.category_values("cat"), codes_of(*["dog"] * 6)
    found = made.judge(cat, dogs, QueryKind.SKETCH, ink=0.1)
    assert (found.verdict, found.likely) == ("unknown", 0)
    assert found.chance < 0.1
    assert made.judge(cat, dogs, QueryKind.SKETCH, ink=0.01).verdict == "unsure"
    assert made.judge_category("cat", dogs).verdict == "unknown"


def test_what_is_like_nothing_known_is_unknown():
    made = calibration()
    nothing = np.ones(BITS, dtype=np.float32)
    assert made.drawing_chances(nothing[None])[0, -1] > 0.5
    assert made.judge(nothing, codes_of("cat", "dog"), QueryKind.SKETCH, ink=0.1).verdict == "unknown"


def test_an_empty_gallery_has_no_chance():
    made = calibration()
    found = made.judge(made.category_values("cat"), np.empty((0, BITS // 8), dtype=np.uint8), QueryKind.SKETCH)
    assert (found.verdict, found.chance, found.hit_chances) == ("unknown", 0.0, ())
    assert found.guesses[0].category == "cat"


def test_chances_of_categories_and_of_none_add_up():
    made = calibration()
    values = np.random.default_rng(0).standard_normal((50, BITS))
    for chances in (made.drawing_chances(values), made.photo_chances(values)):
        assert chances.shape == (50, 3)
        assert chances.sum(axis=1) == pytest.approx(1)


def test_a_category_that_is_not_known_is_refused():
    with pytest.raises(UnknownName, match="Did you mean 'cat'"):
        calibration().category_values("cta")


def test_a_folder_keeps_its_fingerprint_and_gives_the_calibration_back(model_folder):
    before = read_manifest(model_folder).fingerprint
    assert Model.load(model_folder).calibration is None
    write_calibration(model_folder, calibration())
    write_calibration(model_folder, calibration(sure=0.7))
    model = Model.load(model_folder)
    assert model.fingerprint == before
    assert model.calibration.categories == NAMES
    assert model.calibration.heads[QueryKind.SKETCH].sure == 0.7
    assert model.calibration.shown == pytest.approx(calibration().shown, abs=1e-3)
    assert (model.calibration.drawing == calibration().drawing).all()


def test_vectors_of_another_length_are_refused(model_folder):
    short = replace(calibration(), drawn=np.eye(2, 8), shown=np.eye(2, 8))
    write_calibration(model_folder, short)
    with pytest.raises(IncompatibleModel, match=f"{CALIBRATION}.*sketchhash model calibrate"):
        Model.load(model_folder)


def test_a_damaged_calibration_is_explained(write):
    with pytest.raises(IncompatibleModel, match="cannot be used"):
        Model.load(write(extra_files={CALIBRATION: b"PK nothing"}))
