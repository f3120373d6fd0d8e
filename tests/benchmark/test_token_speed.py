import time
from threading import Lock, get_ident

import numpy as np
import pytest

from sketchhash.benchmark.token_speed import measure, pace
from sketchhash.datasets import synthetic
from sketchhash.errors import BadArgument
from sketchhash.tokens import detector


def test_photos_a_second_are_counted_over_all_threads():
    photos = [np.zeros((1, 1, 3), np.uint8)] * 3
    seen, lock = set(), Lock()

    def nap(photo):
        with lock:
            seen.add(get_ident())
        time.sleep(0.02)

    alone = pace(nap, photos, threads=1, seconds=0.3).photos_per_second
    assert len(seen) == 1
    together = pace(nap, photos, threads=4, seconds=0.3).photos_per_second
    assert 1 < alone <= 50
    assert 1.5 * alone < together <= 200


def test_waiting_takes_no_processor_time():
    waiting = pace(lambda photo: time.sleep(0.05), [np.zeros((1, 1, 3), np.uint8)], threads=1, seconds=0.2)
    assert waiting.cpu_milliseconds < 25


def test_every_thread_works_at_least_once_however_short_the_time():
    done = []
    pace(done.append, [np.zeros((1, 1, 3), np.uint8)], threads=2, seconds=0)
    assert len(done) == 2


def test_a_detector_is_timed_at_both_sizes():
    sizes = set()

    class Spy:
        name, fingerprint = "spy", ""

        def detect(self, photo):
            sizes.add(photo.shape)
            return detector("gradient").detect(photo)

    world = synthetic.load(sketches_per_category=1, photos_per_category=1, seed=0)
    speed = measure(Spy(), world.photos[:1], threads=1, seconds=0)
    assert sizes == {(256, 256, 3), (320, 480, 3)}
    assert speed.detector == "spy"
    for each in (speed.scored, speed.drawn, speed.scored_large):
        assert each.photos_per_second > 0
        assert each.cpu_milliseconds > 0


def test_no_photos_no_speed():
    with pytest.raises(BadArgument, match="no photo"):
        measure(detector("gradient"), [], threads=1, seconds=0)
