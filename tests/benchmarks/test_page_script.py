"""The script that draws on the page: what it draws, which hits it takes for right, and how it shows a record."""

import json
from dataclasses import asdict

import pytest

import page as script
from page import Finding, Findings, is_right, thirty_drawings

FINDINGS = Findings(
    model="shipped",
    photos={"stamps": 329},
    found=[
        Finding("stamps", "mug", "sure", ["dishes/mug", "household/kettle"], [True, False]),
        Finding("stamps", "key", "unsure", ["string/guitar", "brass/trumpet"], [False, False]),
        Finding("stamps", "hammer", "sure", ["tools/mallet", "tools/hammer"], [False, True]),
    ],
)


def test_thirty_things_are_drawn_inside_the_sheet():
    drawings = thirty_drawings()
    assert len(drawings) == 30
    for drawing in drawings.values():
        points = [point for stroke in drawing.to_json() for point in stroke]
        assert all(0 <= value <= script.SHEET_SIDE for point in points for value in point)


@pytest.mark.parametrize(
    ("drawing", "hit", "right"),
    [
        ("car", "car/imagenet_3", True),
        ("car", "vegetables/carrot", False),
        ("tree", "trees/holm_oak", True),
        ("lightbulb", "household/Lightbulb", True),
        ("mushroom", "fungi/cep-1", True),
        ("key", "string/guitar", False),
    ],
)
def test_a_hit_is_right_by_whole_words_of_its_name_or_folder(drawing, hit, right):
    assert is_right(drawing, hit, {"mushroom": ["cep"]}) == right


def test_a_record_is_shown_with_its_counts(tmp_path, run):
    (tmp_path / "record.json").write_text(json.dumps(asdict(FINDINGS)))
    shown = run(script, "--show", tmp_path / "record.json").output
    assert (
        "stamps, 329 photos: 2 of 3 drawings find a right one among the first 5, 1 of them in the first place" in shown
    )
    assert "| hammer | sure | tools/mallet, **tools/hammer** |" in shown
