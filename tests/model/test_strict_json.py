from collections.abc import Mapping
from dataclasses import dataclass

import pytest

from sketchhash.model.strict_json import conform, loads


@dataclass(frozen=True)
class Pen:
    width: float
    colour: tuple[int, int, int]


@dataclass(frozen=True)
class Box:
    label: str
    pens: tuple[Pen, ...]
    prices: Mapping[str, float]
    spare: Pen | None


GOOD = {
    "label": "blue",
    "pens": [{"width": 1, "colour": [0, 0, 255]}],
    "prices": {"one": 2.5},
    "spare": None,
}


def test_nested_values_take_their_declared_types():
    box = conform(GOOD, Box, "")
    assert box == Box("blue", (Pen(1.0, (0, 0, 255)),), {"one": 2.5}, None)
    assert isinstance(box.pens[0].width, float)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"label": 3}, "label should be text, found 3"),
        ({"label": None}, "label should be text, found None"),
        ({"pens": {}}, "pens should hold a list"),
        ({"pens": [{"width": 1}]}, r"pens\[0\]\.colour is missing"),
        (
            {"pens": [{"width": True, "colour": [0, 0, 0]}]},
            r"pens\[0\]\.width should be a number, found True",
        ),
        ({"pens": [{"width": 1, "colour": [0, 0]}]}, r"pens\[0\]\.colour should hold 3 values, found 2"),
        ({"pens": [{"width": 1, "colour": [0, 0, 0.5]}]}, r"pens\[0\]\.colour\[2\] should be a whole number"),
        ({"prices": [2.5]}, "prices should hold an object"),
        ({"prices": {"one": "2.5"}}, r"prices\['one'\] should be a number"),
        ({"spare": []}, "spare should hold an object"),
        ({"lid": 1}, "lid is not a known field"),
    ],
)
def test_a_misfit_is_named_with_its_place(change, complaint):
    with pytest.raises(ValueError, match=complaint):
        conform({**GOOD, **change}, Box, "")


@pytest.mark.parametrize("text", ['{"a": 1, "a": 2}', '{"a": NaN}', '{"a": -Infinity}', '{"a": 1', ""])
def test_doubtful_json_is_refused(text):
    with pytest.raises(ValueError, match=r"\w"):
        loads(text)


def test_a_number_too_large_for_a_float_is_refused():
    with pytest.raises(ValueError, match="should be a number, found inf"):
        conform(loads("1e999"), float, "score")
