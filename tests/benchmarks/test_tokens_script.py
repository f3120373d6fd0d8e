import pytest

import tokens
from sketchhash.datasets import synthetic
from sketchhash.errors import BadArgument
from sketchhash.tokens import detector
from tokens import measure


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
        assert each.per_second > 0
        assert each.cpu_milliseconds > 0


def test_no_photos_no_speed():
    with pytest.raises(BadArgument, match="no photo"):
        measure(detector("gradient"), [], threads=1, seconds=0)


def test_detectors_are_set_beside_canny(run, monkeypatch):
    pytest.importorskip("cv2")
    monkeypatch.setenv("OPENCV_FOR_THREADS_NUM", "1")  # restored afterwards
    told = ("--detector", "gradient", "--detector", "canny", "--count", 1, "--seconds", 0)
    rows = [line.split(" | ") for line in run(tokens, *told).stdout.splitlines() if line.startswith("| ")][2:]
    assert [(row[0], row[1]) for row in rows] == [
        ("| gradient", "1"),
        ("| gradient", "2"),
        ("| canny", "1"),
        ("| canny", "2"),
    ]
    assert rows[2][-1] == "1.0 |"
