"""Heads on given features learn to bring both views together."""

import numpy as np
import pytest

from sketchhash.baselines.deep.triplet_alexnet import TripletHeads
from sketchhash.baselines.method import Views


@pytest.fixture(scope="module")
def clouds():
    """Four categories as clouds around centres of their own in each view."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(4), 20)
    photos, sketches = (
        (rng.normal(size=(4, width))[labels] + 0.3 * rng.normal(size=(80, width))).astype(np.float32)
        for width in (12, 9)
    )
    return Views(photos, labels, sketches, labels)


def test_sketches_come_nearest_to_photos_of_their_category(clouds):
    method = TripletHeads(8, photo_features=12, sketch_features=9, hidden=32, epochs=150).fit(clouds)
    photos, sketches = method.encode_photos(clouds.photos), method.encode_sketches(clouds.sketches)
    np.testing.assert_allclose(np.linalg.norm(photos, axis=1), 1, atol=1e-6)
    nearest = clouds.photo_labels[(sketches @ photos.T).argmax(axis=1)]
    assert np.mean(nearest == clouds.sketch_labels) > 0.9


def test_before_learning_they_do_not(clouds):
    method = TripletHeads(8, photo_features=12, sketch_features=9, hidden=32, epochs=0).fit(clouds)
    photos, sketches = method.encode_photos(clouds.photos), method.encode_sketches(clouds.sketches)
    nearest = clouds.photo_labels[(sketches @ photos.T).argmax(axis=1)]
    assert np.mean(nearest == clouds.sketch_labels) < 0.6
