import pytest

from sketchhash.errors import BadArgument, UnknownName
from sketchhash.tokens import DETECTORS, WEIGHTS, detector


@pytest.mark.parametrize("name", DETECTORS)
def test_every_detector_answers_to_its_name_and_has_a_fingerprint(name):
    assert detector(name).name == name
    assert detector(name).fingerprint == detector(name).fingerprint != ""


def test_an_unknown_detector_names_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'gradient'"):
        detector("gradiant")


def test_only_learned_detectors_take_weights(tmp_path):
    assert detector("sketch-tokens", WEIGHTS["sketch-tokens"]).fingerprint == detector("sketch-tokens").fingerprint
    with pytest.raises(BadArgument, match="'gradient' takes no weights"):
        detector("gradient", tmp_path / "forest.npz")
