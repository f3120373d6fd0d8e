import numpy as np
import pytest

from sketchhash.errors import BadArgument, UnknownName
from sketchhash.tokens import DEFAULT_DETECTOR, DETECTORS, WEIGHTS, TokenStyle, detect, detector, sketch, token_map
from sketchhash.tokens.peers import GradientDetector


@pytest.mark.parametrize("name", DETECTORS)
def test_every_detector_answers_to_its_name_and_has_a_fingerprint(name):
    if name == "canny":
        pytest.importorskip("cv2")
    assert detector(name).name == name
    assert detector(name).fingerprint == detector(name).fingerprint != ""


def test_an_unknown_detector_names_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'gradient'"):
        detector("gradiant")


def test_only_learned_detectors_take_weights(tmp_path):
    assert detector("sketch-tokens", WEIGHTS["sketch-tokens"]).fingerprint == detector("sketch-tokens").fingerprint
    with pytest.raises(BadArgument, match="'gradient' takes no weights"):
        detector("gradient", tmp_path / "forest.npz")


OTHER = GradientDetector(surround=9.0)


def square():
    photo = np.full((90, 120, 3), 60, dtype=np.uint8)
    photo[25:65, 30:90] = 190
    return photo


def test_the_default_is_one_of_the_detectors():
    assert DEFAULT_DETECTOR in DETECTORS


def test_one_call_detects_and_one_call_draws_with_any_detector_and_style():
    np.testing.assert_array_equal(detect(square(), OTHER), OTHER.detect(square()))
    style = TokenStyle(threshold=0.2)
    np.testing.assert_array_equal(sketch(square(), 60, OTHER, style), token_map(square(), OTHER, 60, style))


def test_without_a_detector_the_edges_of_a_square_are_found():
    scores = detect(square())
    assert scores.shape == (90, 120)
    assert scores[40:50, 20:40].max() > 3 * scores[40:50, 55:65].max()
    assert (sketch(square(), 60) < 128).any()


def test_grey_photos_are_as_good_as_coloured_ones():
    grey = square()[:, :, 0]
    np.testing.assert_array_equal(detect(grey), detect(square()))
    np.testing.assert_array_equal(sketch(grey, 60), sketch(square(), 60))


def test_what_is_no_photo_is_refused():
    with pytest.raises(BadArgument, match="A photo is uint8"):
        detect(np.zeros((4, 4, 4), dtype=np.uint8))
