"""What every method of the catalogue promises, whatever it is given."""

from functools import cache

import numpy as np
import pytest

from sketchhash.baselines import CATALOGUE, Distance, Fitted, Input, card_of, load_fitted
from sketchhash.baselines.deep.network_method import NetworkMethod
from sketchhash.errors import BadArgument, MissingExtra, NotFitted
from sketchhash.evaluation import mean_average_precision, rank_distances
from sketchhash.paper.methods import rank_encodings

SEED = 5
SMALL = 16
NEEDS_MORE_PICTURES = {"gn-triplet"}  # two dozen steps do not bring two networks together
NETWORKS = {card.name for card in CATALOGUE if issubclass(card.method, NetworkMethod)}
EVERY_METHOD = pytest.mark.parametrize(
    "name", [pytest.param(card.name, marks=[pytest.mark.slow] * (card.name in NETWORKS)) for card in CATALOGUE]
)


@pytest.fixture
def world(name, worlds):
    return worlds[card_of(name).sees]


@pytest.fixture
def method(name, world):
    return fitted(name, world, long=False)


@EVERY_METHOD
def test_nothing_is_encoded_before_fitting(name, world):
    method = build(card_of(name)).method
    with pytest.raises(NotFitted, match="Call fit first"):
        method.encode_photos(world.unseen.photos)
    with pytest.raises(NotFitted, match="Call fit first"):
        method.encode_sketches(world.unseen.sketches)
    with pytest.raises(NotFitted, match="Call fit first"):
        method.state()


@EVERY_METHOD
def test_what_was_never_seen_gets_encodings_that_can_be_compared(name, world, method):
    photos, sketches = method.encode_photos(world.unseen.photos), method.encode_sketches(world.unseen.sketches)
    assert photos.dtype == sketches.dtype == np.float64
    assert len(photos) == len(world.unseen.photos) and len(sketches) == len(world.unseen.sketches)
    assert photos.shape[1] == sketches.shape[1]
    assert np.isfinite(photos).all() and np.isfinite(sketches).all()
    if card_of(name).distance is Distance.INTERSECTION:
        assert photos.min() >= 0 and sketches.min() >= 0


@EVERY_METHOD
def test_unseen_sketches_find_unseen_photos_far_better_than_chance(name, world):
    if name in NEEDS_MORE_PICTURES:
        pytest.skip("needs more pictures than a test can show")
    method, unseen = fitted(name, world, long=name in NETWORKS), world.unseen
    labels = unseen.sketch_labels, unseen.photo_labels
    encodings = method.encode_sketches(unseen.sketches), method.encode_photos(unseen.photos)
    found = mean_average_precision(rank_encodings(card_of(name).distance, *encodings, *labels)).value
    chance = mean_average_precision(rank_distances([np.zeros(tuple(map(len, labels)))], *labels)).value
    assert found > chance + 0.15


@EVERY_METHOD
def test_a_seed_decides_everything_and_inputs_stay(name, world, method):
    training = world.training
    before = [np.copy(picture) for picture in (*training.photos, *training.sketches)]
    again = build(card_of(name)).method.fit(training)
    for kept, now in zip(before, (*training.photos, *training.sketches), strict=True):
        np.testing.assert_array_equal(kept, now)
    np.testing.assert_array_equal(again.encode_photos(training.photos), method.encode_photos(training.photos))
    np.testing.assert_array_equal(again.encode_sketches(training.sketches), method.encode_sketches(training.sketches))


@EVERY_METHOD
def test_an_encoding_does_not_depend_on_what_is_encoded_beside_it(name, world, method):
    together = method.encode_photos(world.unseen.photos)[:3]
    alone = np.concatenate([method.encode_photos(world.unseen.photos[row : row + 1]) for row in range(3)])
    np.testing.assert_allclose(alone, together, rtol=1e-4, atol=1e-5)


@EVERY_METHOD
def test_what_was_learned_survives_being_saved(name, world, method, tmp_path):
    built = build(card_of(name))
    Fitted(built.card, built.size, SEED, method).save(tmp_path / "fitted.npz")
    loaded = load_fitted(tmp_path / "fitted.npz").method
    unseen = world.unseen
    np.testing.assert_array_equal(loaded.encode_photos(unseen.photos), method.encode_photos(unseen.photos))
    np.testing.assert_array_equal(loaded.encode_sketches(unseen.sketches), method.encode_sketches(unseen.sketches))


@pytest.mark.parametrize("name", [card.name for card in CATALOGUE if card.sees is Input.FEATURES])
def test_features_of_another_width_and_pictures_are_refused(name, world, worlds, method):
    with pytest.raises(BadArgument, match="wide"):
        method.encode_photos(world.unseen.photos[:, 1:])
    with pytest.raises(BadArgument, match="features"):
        method.encode_sketches(worlds[Input.PICTURES].unseen.sketches)


def build(card, long=False):
    """Build a method as small as it can be; networks learn for one epoch, unless they have to learn something."""
    for size in (SMALL, *card.sizes):
        try:
            built = Fitted(card, size, SEED, card.build(size, SEED))
        except BadArgument:  # it has one size only
            continue
        for epochs in () if long else ("epochs", "naming_epochs"):
            if hasattr(built.method, epochs):
                setattr(built.method, epochs, 1)
        return built
    pytest.fail(f"{card.name} cannot be built at {SMALL} or {card.sizes}.")


@cache
def fitted(name, world, long):
    try:
        return build(card_of(name), long).method.fit(world.training)
    except MissingExtra as missing:
        pytest.skip(str(missing))
