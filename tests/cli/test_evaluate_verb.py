import json
import subprocess
import sys

import pytest

from sketchhash.datasets import draw_joined_split, open_dataset


@pytest.fixture
def zoo(tmp_path, paint_photo, paint_sketch):
    for category in ("cat", "dog", "owl"):
        for number in range(4):
            paint_sketch(tmp_path / "zoo" / "sketches" / category / f"{number}.png", number)
            paint_photo(tmp_path / "zoo" / "photos" / category / f"{number}.jpg", number)
            paint_photo(tmp_path / "park" / "photos" / category / f"{number}.jpg", number + 50)
    return tmp_path / "zoo"


@pytest.fixture
def split(zoo, tmp_path):
    drawn = draw_joined_split([open_dataset(zoo)], queries=1, unseen_photos=0.25, unseen_categories=["owl"])
    drawn.write(tmp_path / "split.json")
    return tmp_path / "split.json"


def evaluate(run, zoo, *more):
    out = zoo.parent / "scores"
    result = run("evaluate", "--data", zoo, "--out", out, "--cache", zoo.parent / "cache", *more)
    assert result.exit_code == 0, result.output
    return result


def test_a_model_is_scored_in_every_setting(run, zoo, split, tmp_path):
    result = evaluate(run, zoo, "--split", split, "--search", tmp_path / "park")
    rows = [line.split(" | ")[:5] for line in result.stdout.splitlines()[2:]]
    assert rows == [
        ["| zoo", "zoo", "seen photos", "2", "6"],
        ["| zoo", "zoo", "unseen photos", "2", "2"],
        ["| zoo", "zoo", "unseen categories", "1", "4"],
        ["| zoo", "park", "another collection", "3", "12"],
    ]
    assert (tmp_path / "scores" / "scores.md").exists()
    assert "scores.json" in result.stderr


def test_json_is_what_the_file_holds_and_a_second_run_encodes_nothing(run, zoo, tmp_path, monkeypatch):
    printed = evaluate(run, zoo, "--json").stdout
    document = json.loads(printed)
    assert printed == (tmp_path / "scores" / "scores.json").read_text()
    assert document["split_hash"] is None
    assert document["limit"] is None
    monkeypatch.setattr("sketchhash.model.Model.encode_photos", lambda *_: pytest.fail("encoded again"))
    monkeypatch.setattr("sketchhash.model.Model.encode_sketches", lambda *_: pytest.fail("encoded again"))
    assert json.loads(evaluate(run, zoo, "--json").stdout) == document


def test_photos_a_category_can_be_capped(run, zoo):
    document = json.loads(evaluate(run, zoo, "--most", 2, "--seed", 3, "--json").stdout)
    assert document["limit"] == {"photos": 2, "seed": 3}
    assert document["settings"][0]["gallery"] == 6


def test_a_collection_of_sketches_may_be_joined(run, zoo, tmp_path, paint_sketch):
    for number in range(2):
        paint_sketch(tmp_path / "more" / "sketches" / "cat" / f"{number}.png", number + 9)
    document = json.loads(evaluate(run, zoo, "--also", tmp_path / "more", "--json").stdout)
    assert document["data"] == "zoo + more"
    assert [(each["sketches"], each["queries"]) for each in document["settings"]] == [("zoo", 12), ("more", 2)]


def test_unreadable_pictures_are_told(run, zoo):
    (zoo / "photos" / "cat" / "0.jpg").write_bytes(b"junk")
    result = evaluate(run, zoo, "--json")
    assert "1 pictures could not be read" in result.stderr
    document = json.loads(result.stdout)
    assert list(document["unreadable"]) == ["zoo: cat/0.jpg"]
    assert document["settings"][0]["gallery"] == 11


def test_data_without_anything_to_find_is_refused(run, tmp_path, paint_sketch):
    paint_sketch(tmp_path / "drawn" / "sketches" / "cat" / "1.png")
    result = run("evaluate", "--data", tmp_path / "drawn", "--out", tmp_path / "scores")
    assert result.exit_code == 2
    assert "No sketch here" in result.output


def test_evaluating_needs_no_torch(zoo, model_folder, tmp_path):
    code = (
        "import sys\n"
        "from sketchhash.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "assert not {'torch', 'sklearn', 'scipy', 'matplotlib'} & set(sys.modules)\n"
    )
    asked = ["--data", zoo, model_folder, "--out", tmp_path / "scores", "--cache", tmp_path / "cache"]
    subprocess.run(
        [sys.executable, "-c", code, "evaluate", *map(str, asked)],
        check=True,
        capture_output=True,
        timeout=300,
    )
