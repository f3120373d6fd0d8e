import numpy as np
import pytest

from sketchhash.benchmark.contours import Evaluation, Sweep, count
from sketchhash.tokens import detector
from sketchhash.tokens.training.bsds import TracedPhoto

SWEEP = Sweep(5, tolerance=0.03)  # the photos are small: two pixels


class Counting:
    """The gradient detector, which remembers how often it was asked."""

    def __init__(self):
        self.gradient = detector("gradient")
        self.name = "counting"
        self.fingerprint = self.gradient.fingerprint
        self.calls = 0

    def detect(self, photo):
        self.calls += 1
        return self.gradient.detect(photo)


@pytest.fixture(scope="module")
def photos():
    made = []
    for number in range(6):  # more than wait in line for two processes
        photo = np.full((48, 64, 3), 40, dtype=np.uint8)
        photo[:, 20 + 4 * number :] = 200
        contours = np.zeros((2, 48, 64), dtype=bool)
        contours[:, :, 20 + 4 * number] = True
        made.append(TracedPhoto(f"{number}", photo, contours))
    return made


def test_counts_come_in_order_are_kept_and_are_not_made_again(photos, tmp_path):
    judged = Counting()
    evaluation = Evaluation(judged, tmp_path / "kept", SWEEP)
    first = list(evaluation.run(photos))
    assert judged.calls == len(photos)
    for photo, counts in zip(photos, first, strict=True):
        alone = count(judged.gradient.detect(photo.photo), photo.contours, SWEEP)
        np.testing.assert_array_equal(counts.found, alone.found)
        np.testing.assert_array_equal(counts.right, alone.right)
    assert sum(counts.found.sum() for counts in first) > 0

    damaged = next((tmp_path / "kept").glob("3-*.npy"))
    damaged.write_bytes(b"\x93NUMPY")
    calls = judged.calls
    again = list(evaluation.run(photos))
    assert judged.calls == calls + 1
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.detected, other.detected)
        np.testing.assert_array_equal(one.traced, other.traced)


def test_counts_are_kept_apart_by_detector_sweep_photo_and_tracings(photos, tmp_path):
    judged, other = Counting(), Counting()
    other.fingerprint = "other"
    photo = photos[0]
    less = TracedPhoto(photo.id, photo.photo, photo.contours[:1])
    darker = TracedPhoto(photo.id, photo.photo // 2, photo.contours)
    paths = {
        Evaluation(judged, tmp_path)._path(photo),
        Evaluation(judged, tmp_path)._path(less),
        Evaluation(judged, tmp_path)._path(darker),
        Evaluation(judged, tmp_path, Sweep(5))._path(photo),
        Evaluation(other, tmp_path)._path(photo),
    }
    assert len(paths) == 5
