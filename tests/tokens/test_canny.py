import numpy as np
import pytest

from sketchhash.tokens.canny import Canny

pytest.importorskip("cv2")


def two_halves(left, right):
    photo = np.empty((60, 80, 3), dtype=np.uint8)
    photo[:, :40], photo[:, 40:] = left, right
    return photo


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 50, 3), (50, 1, 3), (37, 53, 3)])
def test_scores_fit_the_photo_and_lie_between_0_and_1(shape):
    photo = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
    scores = Canny().detect(photo)
    assert (scores.shape, scores.dtype) == (shape[:2], np.float32)
    assert 0 <= scores.min() <= scores.max() <= 1


def test_an_edge_is_one_line_where_it_is_and_nothing_elsewhere():
    scores = Canny().detect(two_halves(50, 200))
    columns = set(np.nonzero(scores)[1])
    assert columns <= {39, 40}
    assert (np.count_nonzero(scores[5:-5], axis=1) == 1).all()


def test_steeper_edges_score_more():
    peaks = [Canny().detect(two_halves(100, 100 + step)).max() for step in (0, 4, 12, 48, 150)]
    assert peaks[0] == 0
    assert peaks == sorted(set(peaks))


def test_a_faint_stretch_of_a_strong_line_scores_as_the_line_does():
    # Hysteresis: at the faint place the slope is half as steep, and above the low threshold.
    photo = two_halves(50, 150)
    photo[28:32, 40:] = 105
    scores = Canny().detect(photo)
    assert scores[29:31].max() == scores[10].max()
    assert Canny(low=1.0).detect(photo)[29:31].max() < scores[10].max()


def test_the_fingerprint_tells_parameters_apart_and_is_the_same_every_time():
    assert Canny().fingerprint == Canny().fingerprint
    assert Canny().fingerprint != Canny(sigma=1.0).fingerprint
