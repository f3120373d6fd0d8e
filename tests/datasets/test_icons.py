import json

import numpy as np
import pytest
from PIL import Image, ImageDraw
from typer.testing import CliRunner

from sketchhash.cli import app
from sketchhash.datasets import icons as icons_module
from sketchhash.datasets import open_dataset
from sketchhash.datasets.icons import find_icons, outline, write_outlines
from sketchhash.errors import DatasetProblem


@pytest.fixture
def package(tmp_path):
    """Write a package of three small sets; bodies are names that `draw` knows."""
    folder = tmp_path / "iconify"
    (folder / "json").mkdir(parents=True)
    licences = {"thin": "MIT", "solid": "Apache-2.0", "mean": "CC-BY-NC-4.0", "some-logos": "MIT"}
    sets = {name: {"license": {"spdx": licence}} for name, licence in licences.items()}
    (folder / "collections.json").write_text(json.dumps(sets), encoding="utf-8")
    names = ["key-outline", "key", "key-bold", "emoji-cat-face", "mouse", "keyboard-key"]
    for name in sets:
        icons = {icon: {"body": name} for icon in names}
        (folder / "json" / f"{name}.json").write_text(json.dumps({"icons": icons, "width": 24}), encoding="utf-8")
    return folder


def draw(svg):
    picture = Image.new("RGB", (256, 256), "white")
    pen = ImageDraw.Draw(picture)
    if "solid" in svg:
        pen.ellipse([40, 40, 200, 200], fill="black")
    else:
        pen.ellipse([40, 40, 200, 200], outline="black", width=6)
    return np.asarray(picture)


def test_icons_are_found_by_name_without_words_of_style(package):
    found = find_icons(package, ["key", "cat", "mouse (animal)"])
    assert {(icon.category, icon.set) for icon in found} == {
        ("cat", "solid"), ("cat", "thin"), ("key", "solid"), ("key", "thin")
    }  # fmt: skip
    assert sum(icon.category == "key" for icon in found) == 4  # two of a set
    assert len(find_icons(package, ["key"], most=3)) == 3
    assert find_icons(package, ["key"], seed=3) == find_icons(package, ["key"], seed=3)


def test_a_folder_without_icons_is_refused(package, tmp_path):
    with pytest.raises(DatasetProblem, match="no icon with the name of a category"):
        find_icons(package, ["dragon"])
    with pytest.raises(DatasetProblem, match="does not look like the npm package"):
        find_icons(tmp_path, ["key"])


def test_outlines_are_a_dataset_of_sketches(package, tmp_path):
    pytest.importorskip("cv2")
    icons = find_icons(package, ["key", "cat"])
    assert write_outlines(icons, tmp_path / "out", lambda: None, draw) == len(icons)
    dataset = open_dataset(tmp_path / "out")
    assert dataset.categories == ("cat", "key")
    assert len(dataset.sketches) == len(icons)


def test_lines_stay_and_areas_become_their_border():
    pytest.importorskip("cv2")
    line, area = outline(draw("thin")), outline(draw("solid"))
    assert line[120, 42] == 0 and area[120, 40] == 0
    assert line[120, 120] == area[120, 120] == 255


def test_a_coloured_picture_becomes_its_edges_and_an_empty_one_nothing():
    pytest.importorskip("cv2")
    picture = np.full((256, 256, 3), 255, np.uint8)
    assert outline(picture) is None
    picture[60:200, 60:200] = (200, 30, 30)
    picture[60:200, 130:200] = (30, 30, 200)
    page = outline(picture)
    assert (page[100:160, 55:65] == 0).any(axis=1).all()
    assert (page[100:160, 125:135] == 0).any(axis=1).all()
    assert (page[80:180, 80:110] == 255).all()


def test_the_verb_writes_a_dataset(package, tmp_path, monkeypatch):
    pytest.importorskip("cv2")
    monkeypatch.setattr(icons_module, "_render", draw)
    result = CliRunner().invoke(app, ["data", "icons", str(package), "--out", str(tmp_path / "icons")])
    assert result.exit_code == 0, result.output
    assert len(open_dataset(tmp_path / "icons").sketches) == 6
