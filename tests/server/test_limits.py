"""The bounded pool of threads, and clients that dribble, stall or send too much."""

import asyncio
import http.client
import logging
import socket
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from sketchhash.gallery import index_events
from sketchhash.server import Access, RequestLimits, create_app, open_service
from sketchhash.server import service as service_module
from sketchhash.server.errors import TooBusy
from sketchhash.server.limits import WorkPool


@pytest.fixture
def pool():
    pool = WorkPool("test", threads=1, queue=1)
    yield pool
    pool.close()


@pytest.fixture
def gate():
    gate = threading.Event()
    yield gate
    gate.set()


async def begin(pool, work):
    task = asyncio.ensure_future(pool.run(work))
    await asyncio.sleep(0)
    return task


def test_work_is_done_on_another_thread(pool):
    assert asyncio.run(pool.run(threading.current_thread)) is not threading.current_thread()


def test_an_error_of_the_work_reaches_who_asked_for_it(pool):
    with pytest.raises(ZeroDivisionError):
        asyncio.run(pool.run(lambda: 1 / 0))
    assert pool.pending == 0


def test_a_full_queue_refuses_and_later_takes_work_again(pool, gate):
    async def fill():
        under_way = [await begin(pool, gate.wait) for _ in range(2)]
        with pytest.raises(TooBusy):
            await pool.run(gate.wait)
        gate.set()
        await asyncio.gather(*under_way)
        return await pool.run(lambda: "done")

    assert asyncio.run(fill()) == "done"


def test_work_whose_client_went_away_counts_until_it_ends(pool, gate):
    async def leave():
        started = threading.Event()
        task = await begin(pool, lambda: started.set() or gate.wait())
        await asyncio.to_thread(started.wait)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert pool.pending == 1
        gate.set()
        while pool.pending:
            await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(leave(), 10))


def test_a_full_queue_is_answered_with_503_and_when_to_come_back(service, client_for, strokes):
    full = WorkPool("full", threads=1, queue=-1)
    client = client_for(replace(service, inference=full))
    answer = client.post("/api/search", json={"strokes": strokes})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (503, "too_busy")
    assert int(answer.headers["retry-after"]) >= 1
    assert client.get("/health").status_code == 200
    full.close()


LIMITS = RequestLimits(drawing_bytes=1000, picture_bytes=5000, receive_seconds=0.5, send_seconds=0.5)
ENOUGH = 8.0  # seconds until a test gives up on a server that should have closed long before

HEAD = b"POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.fixture
def address(service, running, monkeypatch):
    monkeypatch.setattr(service_module, "HEADER_SECONDS", 0.5)
    with running(create_app(service, Access(), LIMITS)) as address:
        yield address


def dribble(address, beginning, drop):
    """Send a beginning, then a drop every so often; give what came back, and after how many seconds it ended."""
    start = time.monotonic()
    received = b""
    with socket.create_connection(address, timeout=0.05) as client:
        client.sendall(beginning)
        while time.monotonic() < start + ENOUGH:
            try:
                client.sendall(drop)
                got = client.recv(65536)
            except TimeoutError:
                continue
            except ConnectionError:
                break
            if not got:
                break
            received += got
    return received, time.monotonic() - start


def is_well(address):
    connection = http.client.HTTPConnection(*address, timeout=5)
    connection.request("GET", "/health")
    is_ok = connection.getresponse().status == 200
    connection.close()
    return is_ok


def test_a_head_that_dribbles_is_cut_off(address):
    received, seconds = dribble(address, b"GET /health HTTP/1.1\r\nHost: localhost\r\n", b"X-Slow: 1\r\n")
    assert received == b""
    assert seconds < ENOUGH / 2
    assert is_well(address)


def test_a_second_head_that_dribbles_is_cut_off_too(address):
    first = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
    received, seconds = dribble(address, first, b"GET /health HTTP/1.1\r\nX-Slow: 1"[:1])
    assert received.count(b"HTTP/1.1 200") == 1
    assert seconds < ENOUGH / 2


def test_a_client_that_says_nothing_is_cut_off(address):
    received, seconds = dribble(address, b"", b"")
    assert (received, seconds < ENOUGH / 2) == (b"", True)


def test_a_body_that_dribbles_is_told_and_cut_off(address):
    received, seconds = dribble(address, HEAD + b"Content-Length: 900\r\n\r\n", b" ")
    assert b" 408 " in received.partition(b"\r\n")[0]
    assert b'"too_slow"' in received
    assert seconds < ENOUGH / 2
    assert is_well(address)


@pytest.mark.parametrize("length", [b"Content-Length: 999999999\r\n\r\n", b"Transfer-Encoding: chunked\r\n\r\n"])
def test_a_body_without_end_is_told_and_cut_off(address, length):
    drop = b"1f4\r\n" + b" " * 500 + b"\r\n"
    received, seconds = dribble(address, HEAD + length, drop)
    assert b" 413 " in received.partition(b"\r\n")[0]
    assert b'"too_large"' in received
    assert seconds < ENOUGH / 2


def test_a_head_without_end_is_cut_off(address):
    received, seconds = dribble(address, b"GET / HTTP/1.1\r\n", b"X: " + b"x" * 5000 + b"\r\n")
    assert b" 200 " not in received.partition(b"\r\n")[0]
    assert seconds < ENOUGH / 2


@pytest.mark.parametrize("kind", ["multipart/form-data", "Multipart/Form-Data", "MULTIPART/FORM-DATA"])
def test_a_form_may_be_as_large_as_a_picture_however_its_type_is_written(service, kind):
    content = b"x" * (LIMITS.drawing_bytes + 1000)
    body = b'--x\r\nContent-Disposition: form-data; name="picture"; filename="a"\r\n\r\n' + content + b"\r\n--x--\r\n"
    client = TestClient(create_app(service, Access(), LIMITS), base_url="http://localhost")
    answer = client.post("/api/search", content=body, headers={"Content-Type": f"{kind}; boundary=x"})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (422, "unreadable_image")


@pytest.mark.parametrize(
    "head",
    [
        b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 20_000,
        b"GET /health?" + b"x" * 20_000 + b" HTTP/1.1\r\nHost: localhost",
        b"GET /health HTTP/1.1\r\nHost: localhost" + b"\r\nX-Many: 12345678" * 1000,
    ],
)
def test_a_head_that_is_too_long_is_refused_even_if_it_comes_at_once(address, head):
    received, seconds = dribble(address, head + b"\r\n\r\n", b"")
    assert received.partition(b"\r\n")[0].split()[1] in (b"400", b"431")
    assert seconds < ENOUGH / 2
    assert is_well(address)


def test_a_head_of_16_kilobytes_is_read(address):
    request = b"GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nX-Long: " + b"x" * 16_000
    received, _ = dribble(address, request + b"\r\n\r\n", b"")
    assert b" 200 " in received.partition(b"\r\n")[0]


def test_a_client_that_does_not_read_is_cut_off(gallery, photos, model, model_folder, gallery_file, running):
    noise = np.random.default_rng(0).integers(0, 256, (2000, 2000, 3), dtype=np.uint8)
    Image.fromarray(noise).save(photos / "large.png", compress_level=0)
    list(index_events(gallery, model, [photos]))
    photo = gallery.at(photos / "large.png").id
    with (
        open_service(gallery_file, model_folder) as service,
        running(create_app(service, Access(), LIMITS)) as address,
    ):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(address)
        client.settimeout(ENOUGH)
        client.sendall(f"GET /api/photos/{photo} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        time.sleep(1.5)
        received = 0
        while got := client.recv(1 << 20):
            received += len(got)
        client.close()
        assert 0 < received < (photos / "large.png").stat().st_size
        assert is_well(address)


def test_a_client_that_goes_away_leaves_no_trace_in_the_log(address, caplog):
    uvicorn_log = logging.getLogger("uvicorn")  # which passes nothing on to the root
    uvicorn_log.addHandler(caplog.handler)
    for _ in range(3):
        with socket.create_connection(address) as client:
            client.sendall(HEAD + b"Content-Length: 900\r\n\r\n{")
            time.sleep(0.1)
    assert is_well(address)
    uvicorn_log.removeHandler(caplog.handler)
    assert not caplog.records
