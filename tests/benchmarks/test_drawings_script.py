import json

import pytest

import drawings

pytest.importorskip("resvg_py")


@pytest.mark.parametrize(
    ("icon", "category", "is_right"),
    [
        ("bulb-off", "lightbulb", True),
        ("device-tv", "tv", True),
        ("black cat", "cat", True),
        ("headphones", "head-phones", True),
        ("adjustments-key", "key", False),
        ("keyboard", "key", False),
    ],
)
def test_an_icon_is_right_by_its_name(icon, category, is_right):
    assert drawings.shows(icon, category) == is_right


def test_a_pack_is_indexed_and_asked_only_for_what_it_has(run, tmp_path):
    for number, name in enumerate(["cat", "key-off", "arrow-left"]):
        body = f'<circle cx="12" cy="12" r="{5 + number}"/>'
        (tmp_path / f"{name}.svg").write_text(
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#000">{body}</svg>'
        )
    run(drawings, f"test={tmp_path}", "--out", tmp_path / "record.json")
    (score,) = json.loads((tmp_path / "record.json").read_text())["packs"]
    assert (score["icons"], score["drawings"]) == (3, {"asked": 2, "found": 2})
    assert score["sketches"] == {"asked": 0, "found": 0}


def test_a_place_that_is_not_there_is_told(run, tmp_path):
    assert isinstance(run(drawings, f"test={tmp_path / 'nowhere'}", code=1).exception, Exception)
