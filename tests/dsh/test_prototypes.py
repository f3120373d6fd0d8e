"""Virtual photos lie where photos of their category would."""

import numpy as np
import pytest
import torch

from sketchhash.datasets.names import meaning
from sketchhash.dsh.prototypes import category_weights, guessed_means, imagenet_classes, virtual_photos
from sketchhash.dsh.sources import Features

WIDTH, CLASSES = 24, 40


@pytest.fixture
def world():
    """Photos of 40 categories around means that follow from their weights; the last one has three photos."""
    rng = np.random.default_rng(0)
    weights = rng.normal(size=(CLASSES, WIDTH)).astype(np.float32)
    means = (20 + weights @ rng.normal(size=(WIDTH, WIDTH)) / 3).astype(np.float32)
    labels = np.repeat(np.arange(CLASSES), [30] * (CLASSES - 1) + [3])
    noise = rng.normal(size=(2, len(labels), WIDTH)).astype(np.float32)
    return weights, means, labels, Features(torch.from_numpy(means[labels] + noise))


def test_a_thin_category_is_filled_up_and_no_other(world):
    weights, _, labels, photos = world
    virtual, made = virtual_photos(photos, labels, weights, 25, np.random.default_rng(0))
    assert made.tolist() == [CLASSES - 1] * 22
    assert virtual.views.shape == (2, 22, WIDTH)
    assert (virtual.views >= 0).all()


def test_virtual_photos_lie_nearer_to_the_mean_of_their_category_than_a_mean_of_three_photos_does(world):
    weights, means, labels, photos = world
    virtual, _ = virtual_photos(photos, labels, weights, 4000, np.random.default_rng(0))
    own = virtual.views[0, -3997:].numpy().mean(axis=0)
    three = photos.views[0, -3:].numpy().mean(axis=0)
    assert np.linalg.norm(own - means[-1]) < np.linalg.norm(three - means[-1])


def test_virtual_photos_differ_as_real_ones_do(world):
    weights, _, labels, photos = world
    virtual, made = virtual_photos(photos, labels, weights, 4000, np.random.default_rng(0))
    of_last = virtual.views[0, made == CLASSES - 1].numpy()
    assert of_last.std(axis=0).mean() == pytest.approx(1, abs=0.1)


def test_a_category_that_imagenet_does_not_know_gets_none(world):
    weights, _, labels, photos = world
    weights[-1] = 0
    assert len(virtual_photos(photos, labels, weights, 25, np.random.default_rng(0))[1]) == 0


def test_means_are_guessed_for_categories_that_were_not_learned_from(world):
    weights, means, _, _ = world
    is_rich = np.arange(CLASSES) < CLASSES - 5
    guesses = guessed_means(weights, means, is_rich)
    missed = np.square(guesses - means)[~is_rich].sum() / np.square(means - means.mean(axis=0))[~is_rich].sum()
    assert missed < 0.1


def test_weights_of_a_category_are_the_mean_of_its_classes():
    weights = np.eye(1000, dtype=np.float32)
    airplane, unknown = category_weights(["airplane", "a thing without a name"], weights)
    assert set(np.flatnonzero(airplane)) == set(imagenet_classes()[meaning("airplane")])
    assert airplane.sum() == pytest.approx(1)
    assert not unknown.any()
