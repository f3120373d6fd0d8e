import json
import subprocess
import sys
from importlib.metadata import version

import pytest
from typer.testing import CliRunner

from sketchhash.cli import app
from sketchhash.datasets import Split


@pytest.fixture
def run():
    runner = CliRunner()
    return lambda *arguments: runner.invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def zoo(tmp_path, paint_photo, paint_sketch):
    for category in ("cat", "dog"):
        for number in range(4):
            paint_sketch(tmp_path / "zoo" / "sketches" / category / f"{number}.png", number)
            paint_photo(tmp_path / "zoo" / "photos" / category / f"{number}.jpg", number)
    return tmp_path / "zoo"


def test_help_and_version_import_nothing_heavy():
    code = (
        "import sys\n"
        "from sketchhash.cli import main\n"
        "sys.argv = ['sketchhash', sys.argv[1]]\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "heavy = {'torch', 'sklearn', 'matplotlib', 'onnxruntime', 'numpy', 'PIL'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    for option in ("--help", "--version"):
        subprocess.run([sys.executable, "-c", code, option], check=True, capture_output=True, timeout=60)


def test_version_is_the_packages(run):
    assert run("--version").stdout.strip() == version("sketchhash")


def test_check_prints_counts_and_ends_well(run, zoo):
    result = run("data", "check", zoo)
    assert result.exit_code == 0, result.output
    assert "categories with both     2" in result.stdout


def test_check_as_json_is_one_document(run, zoo):
    (zoo / "photos" / "dog" / "0.jpg").write_bytes(b"junk")
    document = json.loads(run("data", "check", zoo, "--json").stdout)
    assert document["counts"][1] == {"category": "dog", "sketches": 4, "photos": 3}
    assert document["usable"] is True
    assert "0.jpg" in document["unreadable"][0]


def test_an_unusable_dataset_exits_with_1_and_the_reason_on_stderr(run, zoo):
    for photo in (zoo / "photos" / "dog").iterdir():
        photo.unlink()
    result = run("data", "check", zoo)
    assert result.exit_code == 1
    assert "cannot be used: fewer than two categories" in result.stderr


def test_what_is_no_dataset_exits_with_1_and_no_traceback(run, tmp_path):
    result = run("data", "check", tmp_path)
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: ")
    assert "Traceback" not in result.output
    assert result.stdout == ""


def test_debug_lets_the_error_through(run, tmp_path):
    result = run("--debug", "data", "check", tmp_path)
    assert type(result.exception).__name__ == "DatasetProblem"


def test_a_bad_value_exits_with_2(run, zoo, tmp_path):
    result = run("data", "split", zoo, "--out", tmp_path / "s.json", "--unseen-photos", "1.5")
    assert result.exit_code == 2
    assert not (tmp_path / "s.json").exists()


def test_a_split_is_written_and_summed_up(run, zoo, tmp_path):
    result = run("data", "split", zoo, "--out", tmp_path / "s.json", "--queries", "2", "--json")
    summary = json.loads(result.stdout)
    assert (summary["training_sketches"], summary["queries"], summary["gallery"]) == (4, 4, 8)
    assert json.loads((tmp_path / "s.json").read_text())["hash"] == summary["hash"]


def test_joined_datasets_are_split_with_half_of_the_queries_for_choices(run, zoo, tmp_path):
    out, choices = tmp_path / "s.json", tmp_path / "choices.json"
    also = ("--also", "synthetic", "--queries", "2", "--unseen-category", "dog", "--halves", choices)
    assert run("data", "split", zoo, "--out", out, *also).exit_code == 0
    reported, for_choices = Split.read(out), Split.read(choices)
    assert reported.unseen_categories == for_choices.unseen_categories == ("dog",)
    assert set(reported.query_sketches) == set(for_choices.validation_sketches)
    assert set(reported.validation_sketches) == set(for_choices.query_sketches)


def test_a_split_may_have_validation(run, tmp_path):
    options = ("--queries", "10", "--validation", "5", "--json")
    result = run("data", "split", "synthetic", "--out", tmp_path / "s.json", *options)
    summary = json.loads(result.stdout)
    counts = [summary[part] for part in ("training_sketches", "queries", "validation_queries", "validation_gallery")]
    assert counts == [47 * 65, 47 * 10, 47 * 5, 47 * 5]


def test_zero_shot_and_unseen_photos_exclude_each_other(run, zoo, tmp_path):
    options = ("--zero-shot", "sketchy-sake", "--unseen-photos", "0.2")
    result = run("data", "split", zoo, "--out", tmp_path / "s.json", *options)
    assert result.exit_code == 2


def test_a_world_is_written_that_checks_well(run, tmp_path):
    assert run("data", "synthesise", tmp_path / "world", "--sketches", "2", "--photos", "1").exit_code == 0
    document = json.loads(run("data", "check", tmp_path / "world", "--json").stdout)
    assert document["usable"]
    assert all((count["sketches"], count["photos"]) == (2, 1) for count in document["counts"])


def test_a_contact_sheet_shows_categories_with_both(run, zoo, tmp_path):
    from PIL import Image

    result = run("data", "sheet", zoo, "--out", tmp_path / "sheet.png", "--each", "2")
    assert result.stdout.strip() == str(tmp_path / "sheet.png")
    with Image.open(tmp_path / "sheet.png") as sheet:
        assert sheet.width >= 4 * 64
