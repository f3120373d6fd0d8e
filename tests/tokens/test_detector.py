import pytest

from sketchhash import tokens
from sketchhash.errors import UnknownName
from sketchhash.tokens import DETECTORS, detector


@pytest.mark.parametrize("name", DETECTORS)
def test_every_detector_answers_to_its_name_and_has_a_fingerprint(name):
    assert detector(name).name == name
    assert detector(name).fingerprint == detector(name).fingerprint != ""


def test_an_unknown_detector_names_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'gradient'"):
        detector("gradiant")


def test_the_room_lists_its_names_in_order():
    assert tokens.__all__ == sorted(tokens.__all__)
    assert all(hasattr(tokens, name) for name in tokens.__all__)
