"""``sketchhash serve``: which addresses it prints."""

import os
import subprocess
import sys

import pytest

from sketchhash.server import access, app

TOKEN = "0123456789abcdef"


@pytest.fixture
def serve(run, gallery, model_folder, monkeypatch):
    """Return a function that starts the service, which ends at once, on a machine with an address of its own."""
    monkeypatch.setattr(app, "create_server", lambda _: type("Server", (), {"run": lambda self, sockets: None})())
    monkeypatch.setattr(access, "own_addresses", lambda: ["192.168.1.5", "10.0.0.7"])
    monkeypatch.setenv("SKETCHHASH_TOKEN", TOKEN)
    return lambda *options: run("serve", "--gallery", gallery, "--model", model_folder, "--port", 0, *options)


def test_on_all_addresses_it_prints_those_that_a_phone_can_open(serve):
    result = serve("--host", "0.0.0.0")
    first, second = result.stdout.splitlines()
    assert first.startswith("http://192.168.1.5:") and first.endswith(f"/#token={TOKEN}")
    assert second.startswith("http://10.0.0.7:")
    assert "▀" not in result.stderr


def test_on_this_machine_it_prints_the_one_address(serve):
    (only,) = serve().stdout.splitlines()
    assert only.startswith("http://127.0.0.1:")


def test_a_terminal_shows_a_code_to_scan(monkeypatch, capsys):
    from sketchhash.cli.serve import _show_code

    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    _show_code("http://192.168.1.5:8765/")
    shown = capsys.readouterr().err
    assert "▀" in shown
    assert "\x1b[30m\x1b[107m" in shown  # obeyed by the terminal, and not written out
    assert "\\x1b" not in shown


def test_products_within_a_search_take_one_thread_unless_the_user_says_so(monkeypatch):
    from sketchhash.cli.serve import keep_products_on_one_thread

    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    keep_products_on_one_thread()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "1"
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    keep_products_on_one_thread()
    assert os.environ["OPENBLAS_NUM_THREADS"] == "3"


def test_numpy_reads_the_number_of_threads_after_the_verb_has_chosen_it():
    code = "import sys, sketchhash.cli; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0
