"""Pictures are decoded in processes that end with a picture that takes too much, and with whoever asked."""

import io
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path

import decoder_tasks
import hostile_pictures
import numpy as np
import pytest
from PIL import Image, ImageDraw

from sketchhash.errors import UnreadableImage
from sketchhash.imaging import DecoderPool, Limits, read_photo, read_sketch, read_small_photo
from sketchhash.imaging.decode import MAX_MEMORY
from sketchhash.imaging.details import parse_details, read_details, read_with_details

linux = pytest.mark.skipif(sys.platform != "linux", reason="asks /proc")


@pytest.fixture(autouse=True)
def importable(monkeypatch):
    places = [str(Path(decoder_tasks.__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(places))


@pytest.fixture
def pool():
    pool = DecoderPool(1, seconds=1.0, patience=30)
    yield pool
    pool.close()


def memory(pid):
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def photo(form="PNG"):
    picture = Image.new("RGB", (300, 200), "white")
    ImageDraw.Draw(picture).ellipse((50, 40, 250, 150), outline="black", width=5)
    file = io.BytesIO()
    picture.save(file, form)
    return file.getvalue()


def test_another_process_gives_the_same_pixels(pool):
    content = photo()
    for function, arguments in ((read_photo, ()), (read_small_photo, (100,)), (read_sketch, (64,)), (read_details, ())):
        result = pool.run(function, content, *arguments)
        expected = function(content, *arguments)
        np.testing.assert_array_equal(result, expected)
        assert result.dtype == expected.dtype
    assert len(pool.pids) == 1


def test_another_process_gives_pixels_and_details_at_once(pool):
    content, beside = photo(), {"xmp": None, "takeout": b'{"description": "a ring"}'}
    pixels, details = pool.run(read_with_details, read_small_photo, content, 100, **beside)
    np.testing.assert_array_equal(pixels, read_small_photo(content, 100))
    assert parse_details(details) == parse_details(read_details(content, **beside))
    assert parse_details(details).description == "a ring"


def test_arrays_of_every_shape_come_back_as_they_are_and_can_be_written_to(pool):
    results, expected = pool.run(decoder_tasks.numbers, b""), decoder_tasks.numbers(b"")
    for result, array in zip(results, expected, strict=True):
        np.testing.assert_array_equal(result, array)
        assert (result.shape, result.dtype) == (array.shape, array.dtype)
        assert result.flags.writeable


def test_only_numbers_come_back(pool):
    with pytest.raises(RuntimeError, match="<U7 is no type of numbers"):
        pool.run(decoder_tasks.words, b"")
    assert pool.run(read_photo, photo()).shape == (200, 300, 3)


@pytest.mark.parametrize(
    "text",
    [
        b"no JSON",
        b"7",
        b"[]",
        b'[["|O", [1]]]',
        b'[["|u1", [-1]]]',
        b'[["|u1", [1.5]]]',
        b'[["|u1", "a"]]',
        b'[["no type", [1]]]',
        f'[["|u1", [{MAX_MEMORY}]], ["|u1", [1]]]'.encode(),
        b"[" * 100_000,
    ],
    ids=lambda text: text[:30].decode(),
)
def test_an_answer_that_is_none_costs_its_picture_only(monkeypatch, text):
    made_up = struct.pack("<cI", b"a", len(text)) + text + bytes(64)
    pool = DecoderPool(1)
    with monkeypatch.context() as patch:
        program = f"import os; os.read(0, 9999); os.write(1, b'\\n'); os.read(0, 9999); os.write(1, {made_up!r})"
        waiting = "import time; time.sleep(1000)"
        patch.setattr("sketchhash.imaging.decoders._COMMAND", (sys.executable, "-c", f"{program}; {waiting}"))
        with pytest.raises(UnreadableImage, match="the process that decoded it died"):
            pool.run(read_photo, photo())
    assert pool.pids == []
    pool.close()


def test_another_process_gives_the_same_refusal(pool):
    with pytest.raises(UnreadableImage, match="Cannot read these bytes: its content is none of"):
        pool.run(read_photo, b"no picture")
    with pytest.raises(UnreadableImage, match="300 × 200 pixels are more than 100"):
        pool.run(read_photo, photo(), Limits(pixels=100))
    before = pool.pids
    pool.run(read_photo, photo())
    assert pool.pids == before


def test_what_takes_too_long_is_refused_and_the_next_is_decoded(pool):
    start = time.monotonic()
    with pytest.raises(UnreadableImage, match="decoding it takes longer than 1 seconds"):
        pool.run(decoder_tasks.spin, b"")
    assert time.monotonic() - start < 50
    assert pool.run(read_photo, photo()).shape == (200, 300, 3)


def test_the_clock_ends_what_uses_no_processor_time():
    pool = DecoderPool(1, seconds=0.5, patience=4)
    with pytest.raises(UnreadableImage, match=r"longer than 0\.5 seconds"):
        pool.run(time.sleep, 1000)
    pool.close()


@linux
def test_what_takes_too_much_memory_is_refused_and_the_next_is_decoded(pool):
    with pytest.raises(UnreadableImage, match="takes more memory than it may have"):
        pool.run(decoder_tasks.allocate, b"", MAX_MEMORY)
    assert len(pool.run(decoder_tasks.allocate, b"", MAX_MEMORY // 4)) == 10
    assert pool.run(read_photo, photo()).shape == (200, 300, 3)


@linux
@pytest.mark.parametrize("name", hostile_pictures.LARGE)
def test_no_picture_takes_more_than_it_may(name):
    content = hostile_pictures.LARGE[name](3e7)
    pool = DecoderPool(1, patience=100)
    pool.run(read_details, photo())
    (pid,) = pool.pids
    before, most, done = memory(pid), [0], threading.Event()

    def look():
        while not done.wait(0.01):
            try:
                most[0] = max(most[0], memory(pid))
            except (OSError, IndexError):
                return

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        assert max(pool.run(read_small_photo, content, 256).shape) == 256
    except UnreadableImage as refusal:
        assert "takes more" in str(refusal) or "could not create decoder" in str(refusal)
    finally:
        done.set()
        watcher.join()
        pool.close()
    assert most[0] - before <= MAX_MEMORY


def test_starting_a_process_takes_no_time_of_its_first_picture(monkeypatch):
    slow = "import time; time.sleep(3); from sketchhash.imaging.decoders import work; work()"
    monkeypatch.setattr("sketchhash.imaging.decoders._COMMAND", (sys.executable, "-c", slow))
    pool = DecoderPool(1, patience=0.4)
    assert parse_details(pool.run(read_details, photo())).width == 300
    pool.close()


@linux
def test_memory_comes_back():
    pool = DecoderPool(1, patience=100)
    pool.run(read_details, photo())
    before = memory(pool.pids[0])
    for _ in range(2):
        pool.run(read_small_photo, hostile_pictures.deep_png(1e7), 256)
        pool.run(read_details, photo())
        assert memory(pool.pids[0]) < before + 100_000_000
    pool.close()


def test_a_process_that_dies_costs_its_picture_only(pool):
    with pytest.raises(UnreadableImage, match="the process that decoded it died"):
        pool.run(decoder_tasks.die, b"")
    assert pool.run(read_photo, photo()).shape == (200, 300, 3)


def test_a_defect_is_not_taken_for_a_bad_picture(pool):
    with pytest.raises(RuntimeError, match="a defect"):
        pool.run(decoder_tasks.fail, b"")
    assert pool.run(read_photo, photo()).shape == (200, 300, 3)


def test_nothing_that_libraries_print_is_heard(pool, capfd):
    pool.run(decoder_tasks.speak, b"")
    damaged = bytearray(hostile_pictures.tiff(10_000))
    damaged[8:60] = b"x" * 52
    with pytest.raises(UnreadableImage):
        pool.run(read_photo, bytes(damaged))
    assert capfd.readouterr() == ("", "")


def test_a_process_that_was_idle_for_long_ends_and_another_takes_its_place(monkeypatch):
    hasty = "from sketchhash.imaging import decoders; decoders._IDLE_SECONDS = 1; decoders.work()"
    monkeypatch.setattr("sketchhash.imaging.decoders._COMMAND", (sys.executable, "-c", hasty))
    pool = DecoderPool(1)
    pool.run(read_details, photo())
    process = pool._idle[0].process
    assert process.wait(60) == 75
    assert parse_details(pool.run(read_details, photo())).width == 300
    assert pool.pids != [process.pid]
    pool.close()


def test_no_more_processes_than_asked_for_work_at_once(pool):
    results = []
    threads = [threading.Thread(target=lambda: results.append(pool.run(read_photo, photo()).shape)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [(200, 300, 3)] * 6
    assert len(pool.pids) == 1


def test_a_closed_pool_ends_what_it_does_and_refuses_more(pool):
    problems = []

    def wait():
        try:
            pool.run(time.sleep, 1000)
        except UnreadableImage as problem:
            problems.append(str(problem))

    thread = threading.Thread(target=wait)
    thread.start()
    while not pool.pids:
        time.sleep(0.01)
    pool.close()
    thread.join(30)
    assert "closed" in problems[0]
    with pytest.raises(UnreadableImage, match="closed"):
        pool.run(read_photo, photo())


def test_avif_is_decoded_on_one_thread(pool):
    assert pool.run(decoder_tasks.threads_of_avif, b"").tolist() == [1]


PARENT = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # a test that runs under nohup ignores it
import time
from sketchhash.imaging import DecoderPool
pool = DecoderPool(1)
import threading
threading.Thread(target=pool.run, args=(time.sleep, 1000), daemon=True).start()
while not pool.pids:
    time.sleep(0.01)
print(*pool.pids, flush=True)
time.sleep(1000)
"""


@linux
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_processes_end_quietly_with_the_one_that_asked(ending):
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as parent:
        pid = int(parent.stdout.readline())
        time.sleep(2)  # until it is at work
        parent.send_signal(ending)
        _, said = parent.communicate(timeout=60)
    deadline = time.monotonic() + 30
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_alive(pid)
    assert said == b""


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
