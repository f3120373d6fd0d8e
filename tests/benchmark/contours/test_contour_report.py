import json

import numpy as np
from PIL import Image

from sketchhash.benchmark.contours import Counts
from sketchhash.benchmark.contours.report import Judgement, table, write


def judgement():
    numbers = ([80, 40], [100, 100], [60, 50], [120, 50])
    return Judgement.of("gradient", "f00d", [Counts(*map(np.array, numbers))])


def test_the_table_sets_the_measured_beside_the_published():
    lines = table([judgement()]).splitlines()
    assert lines[2].startswith("| gradient | 1 | 0.669 | 0.615 |")
    assert any(
        line == "| published: Sketch Tokens (Lim et al., 2013) | 200 | 0.730 | 0.750 | 0.780 |" for line in lines
    )
    assert all(line.count("|") == lines[0].count("|") for line in lines)


def test_scores_and_figure_are_written(tmp_path):
    write([judgement()], tmp_path)
    (kept,) = json.loads((tmp_path / "scores.json").read_text())
    assert kept["detector"] == "gradient"
    assert kept["recall"] == [0.8, 0.4]
    assert kept["precision"] == [0.5, 1.0]
    drawn = np.asarray(Image.open(tmp_path / "precision_recall.png").convert("RGB"))
    blue = (drawn == [31, 119, 180]).all(axis=2)  # matplotlib's first colour: the curve and its sample
    assert blue.sum() > 100
