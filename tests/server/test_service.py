"""The listening socket, and ``sketchhash serve`` from its start to Ctrl-C."""

import errno
import http.client
import json
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest
import typer
from typer.testing import CliRunner

from sketchhash.cli.serve import serve
from sketchhash.errors import BadArgument
from sketchhash.gallery import Searcher
from sketchhash.server import Access, create_app, create_server, listen, searcher_service


def test_answers_do_not_wait_for_acknowledgements(service):
    with listen("127.0.0.1", 0) as listener:
        running = create_server(create_app(service, Access()))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [listener]})
        thread.start()
        connection = http.client.HTTPConnection(*listener.getsockname(), timeout=10)
        connection.request("GET", "/health")
        assert connection.getresponse().read()
        (open_one,) = running.server_state.connections
        accepted = open_one.transport.get_extra_info("socket")
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        connection.close()
        running.should_exit = True
        thread.join(20)


def test_a_gallery_that_is_open_already_can_be_served_and_stays_open(gallery, model, client_for, strokes):
    with searcher_service(Searcher(model, gallery)) as service:
        client = client_for(service)
        assert len(client.post("/api/search", json={"strokes": strokes}).json()["hits"]) == 6
        assert client.get("/api/gallery").json()["model"]["card"] == "# tiny\n"
    assert len(Searcher(model, gallery).search(strokes)) == 6


def test_a_gallery_that_is_deleted_or_damaged_meanwhile_is_explained(service, gallery_file, client_for, strokes):
    client = client_for(service)
    with sqlite3.connect(gallery_file) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute("DELETE FROM photos WHERE id > 1")
    connection.close()
    answers = [client.post("/api/search", json={"strokes": strokes}), client.get("/api/photos/2")]
    assert {answer.status_code for answer in answers} <= {200, 404, 503}
    gallery_file.unlink()
    answer = client.get("/api/gallery")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (503, "unwritable_state")
    assert "Stop what has it open" in answer.json()["error"]["message"]


def test_a_broken_form_leaves_no_line_in_the_log(service, running, caplog):
    with running(create_app(service, Access())) as (host, port):
        connection = http.client.HTTPConnection(host, port, timeout=60)
        connection.request("POST", "/api/search", b"garbage", {"Content-Type": "multipart/form-data; boundary=x"})
        assert connection.getresponse().status == 400
        connection.close()
    assert caplog.records == []


def test_two_services_cannot_have_one_port():
    with listen("127.0.0.1", 0) as listener, pytest.raises(BadArgument, match="in use"):
        listen("127.0.0.1", listener.getsockname()[1])


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")
def test_addresses_of_the_newer_kind_can_be_listened_on():
    with listen("::1", 0) as listener:
        assert listener.getsockname()[0] == "::1"


def test_the_server_tells_nothing_about_itself(service, running):
    with running(create_app(service, Access())) as address:
        connection = http.client.HTTPConnection(*address, timeout=10)
        connection.request("GET", "/health")
        answer = connection.getresponse()
        assert answer.read() and answer.getheader("server") is None
        connection.close()


# No proxy of the environment stands between this machine and itself.
OPENER = urllib.request.build_opener(urllib.request.ProxyHandler({}))


@pytest.fixture
def serving(gallery_file, model_folder):
    """Return a function that runs the verb in a process, until the block ends, and yields the address it prints."""

    @contextmanager
    def start(*arguments, **environment):
        process = subprocess.Popen(
            [
                *(sys.executable, "-c", "import typer; from sketchhash.cli.serve import serve; typer.run(serve)"),
                *("--gallery", str(gallery_file), "--model", str(model_folder), "--port", "0", *arguments),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **environment},
        )
        try:
            yield process.stdout.readline().strip()
            process.send_signal(signal.SIGINT)
            _, talk = process.communicate(timeout=120)
            assert (process.returncode, "Stopped." in talk, "Traceback" in talk) == (0, True, False), talk
        finally:
            process.kill()
            process.communicate()

    return start


def fetch(address, **headers):
    with OPENER.open(urllib.request.Request(address, headers=headers), timeout=10) as answer:
        return json.load(answer)


def test_it_serves_this_machine_until_ctrl_c(serving):
    with serving() as address:
        assert address.startswith("http://127.0.0.1:")
        assert fetch(f"{address}health") == {"status": "ok", "photos": 6}
        assert fetch(f"{address}api/gallery")["photos"] == 6


def test_others_need_the_token_that_it_prints(serving):
    with serving("--host", "0.0.0.0", SKETCHHASH_TOKEN="") as printed:
        address, _, token = printed.partition("#token=")
        assert len(token) >= 32
        local = f"http://127.0.0.1:{address.rpartition(':')[2]}api/gallery"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            fetch(local)
        assert fetch(local, Authorization=f"Bearer {token}")["photos"] == 6


def test_a_token_of_the_environment_holds_here_too(serving):
    with serving(SKETCHHASH_TOKEN="a-token-of-my-own") as printed:
        address, _, token = printed.partition("#token=")
        assert token == "a-token-of-my-own"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            fetch(f"{address}api/gallery")


@pytest.fixture
def run(gallery_file, model_folder):
    """Return a function that runs the verb in this process, for errors that keep it from starting."""
    app = typer.Typer()
    app.command()(serve)

    def invoke(*arguments):
        given = ["--gallery", gallery_file, "--model", model_folder, *arguments]
        return CliRunner().invoke(app, [str(each) for each in given])

    return invoke


def test_a_port_in_use_is_explained(run):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        error = run("--port", port).exception
    assert isinstance(error, BadArgument)
    assert str(error).startswith(f"Port {port} is in use.")


def test_an_address_of_another_machine_is_explained(run, monkeypatch):
    def refuse(*_, **__):
        raise OSError(errno.EADDRNOTAVAIL, "Cannot assign requested address")

    monkeypatch.setattr(socket, "create_server", refuse)
    error = run("--host", "192.0.2.1").exception
    assert isinstance(error, BadArgument)
    assert "192.0.2.1" in str(error) and "--host" in str(error)


def test_a_token_too_short_to_protect_is_refused(run, monkeypatch):
    monkeypatch.setenv("SKETCHHASH_TOKEN", "short")
    assert isinstance(run("--port", 0).exception, BadArgument)


def test_settings_come_from_the_environment_unless_given(run, monkeypatch):
    def refuse(host, port):
        raise BadArgument(f"{host} {port}")

    monkeypatch.setattr("sketchhash.server.listen", refuse)
    monkeypatch.setenv("SKETCHHASH_HOST", "192.0.2.1")
    monkeypatch.setenv("SKETCHHASH_PORT", "7")
    assert str(run().exception) == "192.0.2.1 7"
    assert str(run("--host", "192.0.2.2", "--port", 8).exception) == "192.0.2.2 8"
