import pytest

from sketchhash.errors import BadArgument, UnknownName
from sketchhash.tokens.training import PRESETS, Preset, preset


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_answers_to_its_name_and_fits_into_twelve_gigabytes(name):
    sizes = preset(name)
    samples = sizes.positives * sizes.tokens + sizes.negatives * 200
    assert 4 * samples * sizes.features < 12e9


def test_an_unknown_preset_names_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'small'"):
        preset("smal")


@pytest.mark.parametrize(
    ("field", "value"), [("positives", 0), ("negatives", -1), ("trees", 0), ("features", 21_351), ("tokens", 0)]
)
def test_sizes_that_no_forest_can_grow_from_are_refused(field, value):
    with pytest.raises(BadArgument):
        Preset(**{"positives": 1, "negatives": 1, "trees": 1, field: value})
