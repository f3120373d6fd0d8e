import numpy as np
import pytest

from sketchhash.tokens.gradient import GradientDetector


def two_halves(left, right):
    photo = np.empty((60, 80, 3), dtype=np.uint8)
    photo[:, :40], photo[:, 40:] = left, right
    return photo


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 50, 3), (50, 1, 3), (2, 2, 3), (37, 53, 3)])
def test_scores_fit_the_photo_and_lie_between_0_and_1(shape):
    photo = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
    scores = GradientDetector().detect(photo)
    assert scores.shape == shape[:2]
    assert scores.dtype == np.float32
    assert scores.min() >= 0
    assert scores.max() < 1


def test_a_flat_photo_scores_nothing():
    np.testing.assert_allclose(GradientDetector().detect(np.full((40, 40, 3), 90, np.uint8)), 0, atol=1e-4)


RED, GREEN, BLUE, OLIVE = (200, 60, 60), (60, 140, 60), (60, 60, 200), (90, 90, 60)


@pytest.mark.parametrize(("left", "right"), [(0, 255), (RED, GREEN), (BLUE, OLIVE)])
def test_the_highest_score_is_on_the_edge_in_lightness_and_in_colour(left, right):
    scores = GradientDetector().detect(two_halves(left, right))
    assert set(scores.argmax(axis=1)) <= {39, 40}
    assert scores.max() > 0.5


def test_fainter_edges_score_less_and_hardly_visible_ones_almost_nothing():
    peaks = [GradientDetector().detect(two_halves(100, 100 + step)).max() for step in (3, 12, 48, 150)]
    assert peaks == sorted(peaks)
    assert peaks[0] < 0.1


def test_an_edge_in_a_busy_place_scores_less_than_the_same_edge_alone():
    alone = two_halves(60, 200)
    stripes = np.where(np.arange(80) // 4 % 2 == 0, 60, 200).astype(np.uint8)
    busy = np.broadcast_to(stripes[:, None], (60, 80, 3))
    detector = GradientDetector()
    assert detector.detect(busy)[30, 30:50].max() < 0.8 * detector.detect(alone).max()


def test_the_fingerprint_tells_parameters_apart_and_is_the_same_every_time():
    assert GradientDetector().fingerprint == GradientDetector().fingerprint
    assert GradientDetector().fingerprint != GradientDetector(surround=6.0).fingerprint
