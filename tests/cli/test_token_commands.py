import json

import numpy as np
import pytest
import typer
from PIL import Image
from typer.testing import CliRunner

from sketchhash.cli.tokens import score, sheet
from sketchhash.errors import DatasetProblem, UnknownName

app = typer.Typer()
app.command("score")(score)
app.command("sheet")(sheet)


def run(*arguments):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def traced_folder(tmp_path):
    photo = np.full((96, 128, 3), 40, dtype=np.uint8)
    photo[:, 64:] = 210
    contour = np.zeros((96, 128), dtype=bool)
    contour[:, 64] = True
    photos, maps = tmp_path / "images" / "test", tmp_path / "boundaries" / "test" / "1"
    photos.mkdir(parents=True)
    maps.mkdir(parents=True)
    Image.fromarray(photo).save(photos / "1.jpg", quality=95)
    Image.fromarray(contour).save(maps / "0.png")
    return tmp_path


def test_score_prints_the_table_and_then_reads_what_was_kept(traced_folder, tmp_path):
    out = tmp_path / "out"
    judge = ("score", "--data", traced_folder, "--detector", "gradient", "--cache", tmp_path / "cache")
    judge += ("--thresholds", "9", "--processes", "1")
    assert "| gradient | 1 | 0.9" in run(*judge, "--out", out)
    assert {path.name for path in out.iterdir()} == {"scores.json", "precision_recall.png"}
    (printed,) = json.loads(run(*judge, "--json"))
    kept = json.loads((out / "scores.json").read_text())["gradient"]
    assert kept["fingerprint"] == printed["fingerprint"]
    assert kept["summary"] == pytest.approx(printed["summary"], rel=1e-5)


def test_choices_are_scored_on_the_photos_for_validation(traced_folder, tmp_path):
    for folder in ("images", "boundaries"):
        (traced_folder / folder / "test").rename(traced_folder / folder / "val")
    judge = ("score", "--data", traced_folder, "--detector", "gradient", "--cache", tmp_path / "cache")
    judge += ("--thresholds", "9", "--processes", "1")
    assert "| gradient | 1 | 0.9" in run(*judge, "--split", "val")
    with pytest.raises(DatasetProblem, match="There are no photos"):
        run(*judge)


def test_an_unknown_detector_stops_before_anything_is_read(tmp_path):
    with pytest.raises(UnknownName, match="gradient"):
        run("score", "--data", tmp_path / "nowhere", "--detector", "gradiant")


def test_sheet_paints_a_picture(tmp_path):
    out = tmp_path / "sheet.png"
    run("sheet", "--data", "synthetic", "--out", out, "--detector", "gradient", "--count", "2")
    assert np.asarray(Image.open(out)).std() > 10
