import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sketchhash.cli import console
from sketchhash.gallery import GalleryFile

ODD_NAMES = [b"new\nline.jpg", b"\xff\xfe.jpg", "ünï 😀.jpg".encode(), b"tab\t\x1b[31m.jpg"]


@pytest.fixture
def odd_gallery(tmp_path, run, paint_photo):
    """Index photos with names of any bytes."""
    for seed, name in enumerate(ODD_NAMES):
        paint_photo(tmp_path / "odd" / os.fsdecode(name), seed)
    assert run("index", tmp_path / "odd", "--gallery", tmp_path / "g").stdout == "4 added\n"
    return tmp_path / "g"


@pytest.mark.parametrize("to_file", [True, False])
def test_an_export_as_json_lines_keeps_every_name(run, odd_gallery, tmp_path, to_file):
    out = tmp_path / "out.jsonl"
    result = run(
        "gallery", "export", "--gallery", odd_gallery, "--format", "jsonl", *(["--out", out] if to_file else [])
    )
    text = out.read_text() if to_file else result.stdout
    records = [json.loads(line) for line in text.splitlines()]
    assert {os.fsencode(Path(record["path"]).name) for record in records} == set(ODD_NAMES)
    with GalleryFile.open(odd_gallery) as opened:
        assert {record["code"] for record in records} == {opened.code(record["id"]).hex() for record in records}


def test_an_export_as_csv_escapes_bytes_that_are_not_text(run, odd_gallery):
    records = list(csv.DictReader(io.StringIO(run("gallery", "export", "--gallery", odd_gallery).stdout, newline="")))
    names = {Path(record["path"]).name for record in records}
    assert names == {name.decode("utf-8", "backslashreplace") for name in ODD_NAMES}
    assert all(len(record["sha256"]) == 64 for record in records)


def test_odd_names_are_printed_on_one_line_each_and_json_is_exact(run, odd_gallery, sketch, tmp_path):
    hits = [line.split("\t") for line in run("search", sketch, "--gallery", odd_gallery).stdout.splitlines()]
    assert {Path(path).name for _, _, path in hits} == {
        "new\\nline.jpg",
        "\\xff\\xfe.jpg",
        "ünï 😀.jpg",
        "tab\\t\\x1b[31m.jpg",
    }
    exact = json.loads(run("search", sketch, "--gallery", odd_gallery, "--json").stdout)
    assert {os.fsencode(Path(hit["path"]).name) for hit in exact} == set(ODD_NAMES)


def test_all_verbs_print_odd_names_in_a_process_of_their_own(odd_gallery, tmp_path, start):
    for path in (tmp_path / "odd").iterdir():
        path.write_bytes(b"broken")
    for arguments in (
        ("index", tmp_path / "odd"),
        ("gallery", "verify"),
        ("gallery", "verify", "--json"),
        ("gallery", "duplicates", "--json"),
        ("gallery", "export"),
    ):
        with start(*arguments, "--gallery", odd_gallery) as process:
            data, talk = process.communicate(timeout=60)
        assert b"Traceback" not in talk
        assert process.returncode == (1 if {"index", "verify"} & set(arguments) else 0)  # no photo can be read
        assert data.decode("utf-8")


HOSTILE = "cat\x1b]0;owned\x07\x9b31m\u202e\r"


def test_control_characters_reach_no_terminal(capsys):
    console.write(f"{HOSTILE}\nnext\tcell")
    console.say(HOSTILE)
    console.complain(HOSTILE)
    console.print_json({"label": HOSTILE})
    out, err = capsys.readouterr()
    assert "next\tcell\n" in out
    for character in "\x1b\x07\x9b\u202e\r":
        assert character not in out + err.replace("\x1b[31m\x1b[1m", "").replace("\x1b[0m", "")


def test_what_libraries_say_about_a_damaged_file_is_not_heard(capfd):
    with console.quiet_libraries():
        os.write(2, b"TIFFReadDirectory: whatever")
    console.say("after it")
    assert capfd.readouterr().err == "after it\n"


def test_work_with_a_bar_hears_messages_and_no_libraries():
    program = """
import os
import subprocess
import sys
from sketchhash.cli import console
with console.progress("opening pictures", 1) as advance:
    os.write(2, b"TIFFReadDirectory: whatever")
    console.say("meanwhile")
    advance()
console.say("after it")
"""
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stderr == "meanwhile\nafter it\n"


def test_data_for_programs_is_exact_and_for_terminals_escaped(capsys, monkeypatch):
    console.write_exactly(HOSTILE)
    assert capsys.readouterr().out.replace("\n", "\r") == HOSTILE
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    console.write_exactly(HOSTILE)
    assert "\x1b" not in capsys.readouterr().out


def test_nothing_else_prints_in_the_command_line():
    for path in sorted(Path(console.__file__).parent.glob("*.py")):
        if path.name != "console.py":
            assert "typer.echo" not in path.read_text(encoding="utf-8"), path


def test_a_training_in_a_log_says_every_minute_how_far_it_is(capsys):
    seconds = iter(range(0, 10_000, 20))
    progress = console.TrainingProgress(clock=lambda: float(next(seconds)))
    with progress.stage("features of photos", 10) as advance:
        for _ in range(10):
            advance()
    assert capsys.readouterr().err.splitlines() == [
        "features of photos: 3 of 10, about 2 min left",
        "features of photos: 6 of 10, about 1 min left",
        "features of photos: 9 of 10, about 1 min left",
    ]


def test_a_short_stage_says_nothing_in_a_log(capsys):
    with console.TrainingProgress().stage("features of photos", 3) as advance:
        for _ in range(3):
            advance()
    assert capsys.readouterr().err == ""
