"""The picture of a run's objective."""

import json

import pytest
from PIL import Image

from sketchhash.dsh.runs import draw_log

OLD_TERMS = (
    "pairwise",
    "semantic_photos",
    "semantic_sketches",
    "quantisation_photos",
    "quantisation_sketches",
    "total",
)


@pytest.fixture
def run(tmp_path):
    def write(*lines):
        tmp_path.joinpath("log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return tmp_path

    return write


def test_every_term_is_a_curve(run):
    lines = [{"epoch": epoch, **dict.fromkeys((*OLD_TERMS, "basis"), 9.0 - epoch)} for epoch in (1, 2, 3)]
    drawn = Image.open(draw_log(run(*lines))).convert("RGB")
    width, height = drawn.size
    panels = [(column, row) for row in range(2) for column in range(4)]

    def has_curve(column, row):
        left, top = column * width // 4, row * height // 2
        panel = drawn.crop((left, top, left + width // 4, top + height // 2))
        return any(blue > red + 60 for _, (red, _, blue) in panel.getcolors(panel.width * panel.height))

    assert [has_curve(*panel) for panel in panels] == [True] * 7 + [False]


def test_a_run_begun_before_a_term_was_added_can_be_drawn(run):
    old = {"epoch": 1, **dict.fromkeys(OLD_TERMS, 8.0)}
    assert draw_log(run(old, {**old, "epoch": 2, "basis": 0.5})).stat().st_size > 0
