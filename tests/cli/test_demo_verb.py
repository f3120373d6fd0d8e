"""``sketchhash demo``: one command from nothing to a page to draw on."""

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from functools import partial
from pathlib import Path

import pytest

from sketchhash.datasets import example_drawings
from sketchhash.demo import photos as demo_photos

# No proxy of the environment stands between this machine and itself.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "cache"


@pytest.fixture
def demo(run, cache):
    """Give a function that runs the demo with a cache of its own."""
    return lambda *options: run("demo", "--cache", cache, *options)


def test_check_searches_with_every_drawing_and_prints_the_hits(demo, photos):
    result = demo("--photos", photos, "--check")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert [line[:16].strip() for line in lines] == list(example_drawings())
    assert all(line.count(".jpg (") == 5 for line in lines)
    assert "5 added" in result.stderr


def test_the_second_start_finds_all_done(demo, photos):
    demo("--photos", photos, "--check")
    assert "5 unchanged" in demo("--photos", photos, "--check").stderr


def test_photos_that_are_gone_are_not_shown(demo, photos):
    demo("--photos", photos, "--check")
    (photos / "cat" / "a.jpg").unlink()
    result = demo("--photos", photos, "--check")
    assert "1 removed, 4 unchanged" in result.stderr
    assert all(line.count(".jpg (") == 4 for line in result.stdout.splitlines())


def test_another_model_indexes_anew(demo, photos, make_model_folder):
    demo("--photos", photos, "--check")
    result = demo("--photos", photos, "--check", "--model", make_model_folder(seed=1))
    assert (result.exit_code, "5 added" in result.stderr) == (0, True), result.output


def test_it_needs_nothing_of_research_and_finishes_by_itself(photos, cache, model_folder):
    code = (
        "import sys\n"
        "from sketchhash.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "heavy = {'torch', 'sklearn', 'scipy', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    options = ("--photos", photos, "--cache", cache, "--model", model_folder, "--check")
    subprocess.run([sys.executable, "-c", code, "demo", *options], check=True, capture_output=True, timeout=600)


@pytest.mark.skipif(os.name == "nt", reason="Ctrl-C cannot be sent to a process of its own on Windows")
def test_it_serves_the_page_until_ctrl_c(start, photos, cache):
    process = start("demo", "--photos", photos, "--cache", cache, "--port", 0, "--no-open")
    try:
        address = process.stdout.readline().decode().strip()
        with OPENER.open(f"{address}health", timeout=300) as answer:
            assert json.load(answer) == {"status": "ok", "photos": 5}
        process.send_signal(signal.SIGINT)
        _, talk = process.communicate(timeout=300)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, b"Stopped." in talk, b"Traceback" in talk) == (0, True, False), talk


@pytest.mark.parametrize(
    ("variables", "options", "opens"),
    [({"DISPLAY": ":0"}, [], True), ({"DISPLAY": ":0"}, ["--no-open"], False), ({}, [], False)],
)
@pytest.mark.skipif(sys.platform in ("darwin", "win32"), reason="these always have a desktop")
def test_the_page_opens_where_there_is_a_desktop(demo, photos, monkeypatch, variables, options, opens):
    served = []
    monkeypatch.setattr("sketchhash.cli.demo.serve", lambda open_page, **_: served.append(open_page))
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert demo("--photos", photos, "--port", 0, *options).exit_code == 0
    assert served == [opens]


def test_without_apt_get_the_synthetic_world_is_shown_and_it_says_so(demo, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(demo_photos, "_SYSTEM", tmp_path)
    small = partial(demo_photos.synthetic.load, categories=["apple", "cat"], size=32)
    monkeypatch.setattr(demo_photos.synthetic, "load", small)
    result = demo("--check")
    assert result.exit_code == 0, result.output
    assert "are not available: there is no apt-get on this system." in result.stderr
    assert "The photos are of the synthetic world" in result.stderr
    assert "(apple)" in result.stdout and "(cat)" in result.stdout


def test_a_port_in_use_is_explained_before_anything_is_done(demo, photos, cache):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        result = demo("--photos", photos, "--port", port)
    assert (result.exit_code, f"Port {port} is in use." in result.stderr) == (2, True)
    assert not cache.exists()


def test_a_folder_that_is_not_there_or_has_no_photos_is_refused(demo, tmp_path, cache):
    (tmp_path / "empty").mkdir()
    for name, words in (("missing", "does not exist"), ("empty", "There are no photos in or below")):
        result = demo("--photos", tmp_path / name, "--check")
        assert result.exit_code == 2
        assert words in " ".join(result.stderr.replace("│", " ").split())
    assert not cache.exists()


def test_photos_none_of_which_can_be_read_are_explained(demo, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "a.jpg").write_bytes(b"junk")
    result = demo("--photos", tmp_path / "broken", "--check")
    assert result.exit_code == 1
    assert "has no photos that a search could find" in result.stderr


@pytest.mark.parametrize(
    ("end", "code", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), 1, "No space left on device. Make room there"),
        (KeyboardInterrupt(), 130, "Stopped."),
    ],
)
def test_a_full_disk_and_ctrl_c_end_without_a_traceback(demo, monkeypatch, end, code, words):
    def fail(*_):
        raise end

    monkeypatch.setattr("sketchhash.demo.choose_photos", fail)
    result = demo("--check")
    assert (result.exit_code, words in result.stderr) == (code, True), result.output
    assert "Traceback" not in result.output


def test_bash_completes_its_options():
    asked = {"_SKETCHHASH_COMPLETE": "complete_bash", "COMP_WORDS": "sketchhash demo --ph", "COMP_CWORD": "2"}
    program = Path(sys.executable).with_name("sketchhash")
    answer = subprocess.run([program], env={**os.environ, **asked}, capture_output=True, text=True, timeout=300)
    assert answer.stdout.split() == ["--photos"]
