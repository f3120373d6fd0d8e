from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest

from sketchhash.baselines import CATALOGUE, Distance, Kind, Views
from sketchhash.errors import BadArgument, NotFitted
from sketchhash.evaluation import mean_average_precision
from sketchhash.paper.methods import rank_encodings

from .conftest import draw_sketch, paint_photo

CARDS = [card for card in CATALOGUE if card.kind is Kind.HANDCRAFTED]
CARD_OF = {card.name: card for card in CARDS}
EVERY_METHOD = pytest.mark.parametrize("name", CARD_OF)
SMALL = {"hog": 1296, "gf-hog": 60, "shelo": 1296, "lks": 9 * 20}


class Decoded(Sequence):
    """Pictures that count how often each was asked for."""

    def __init__(self, pictures):
        self.pictures, self.asked = pictures, Counter()

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, place):
        self.asked[place] += 1
        return self.pictures[place]


@pytest.fixture(scope="module")
def fitted(shapes):
    return {name: CARD_OF[name].build(size, seed=1).fit(shapes) for name, size in SMALL.items()}


def test_the_dimensions_are_the_papers():
    assert {card.name: card.sizes for card in CARDS} == {
        "hog": (1296,),
        "gf-hog": (3500,),
        "shelo": (1296,),
        "lks": (1350,),
    }
    for card in CARDS:
        card.build(card.sizes[0], seed=0)


@EVERY_METHOD
def test_drawn_outlines_find_photos_of_their_shape(name, fitted):
    labels = np.repeat(np.arange(4), 6)
    photos = [paint_photo(shape, 100 + seed) for seed, shape in enumerate(labels)]
    sketches = [draw_sketch(shape, 100 + seed) for seed, shape in enumerate(labels)]
    encodings = fitted[name].encode_sketches(sketches), fitted[name].encode_photos(photos)
    groups = rank_encodings(CARD_OF[name].distance, *encodings, labels, labels)
    assert mean_average_precision(groups).value > 0.7  # chance is 0.3


@EVERY_METHOD
def test_encodings_have_their_size_and_lengths(name, fitted, shapes):
    method = fitted[name]
    for encoded in (method.encode_photos(shapes.photos[:3]), method.encode_sketches(shapes.sketches[:3])):
        assert encoded.shape == (3, SMALL[name]) and encoded.dtype == np.float64
        assert (encoded >= 0).all()
        if name == "gf-hog":
            np.testing.assert_allclose(encoded.sum(axis=1), 1)
        if name == "lks":
            np.testing.assert_allclose(np.square(encoded).sum(axis=1), 1)


@EVERY_METHOD
def test_the_size_of_a_photo_and_its_colours_turned_around_hardly_matter(name, fitted):
    photo = paint_photo(3)
    large = np.repeat(np.repeat(photo, 3, axis=0), 3, axis=1)
    same, larger, negative, other = fitted[name].encode_photos([photo, large, 255 - photo, paint_photo(2)])
    assert cosine(same, larger) > max(0.85, cosine(same, other) + 0.1)
    assert cosine(same, negative) > max(0.85, cosine(same, other) + 0.1)


@EVERY_METHOD
def test_a_picture_without_lines_is_encoded_as_nothing(name, fitted):
    photo, sketch = np.full((30, 50, 3), 99, dtype=np.uint8), np.full((64, 64), 255, dtype=np.uint8)
    assert not fitted[name].encode_photos([photo]).any()
    assert not fitted[name].encode_sketches([sketch]).any()


@EVERY_METHOD
def test_each_picture_is_decoded_once(name, shapes):
    photos, sketches = Decoded(shapes.photos), Decoded(shapes.sketches)
    method = CARD_OF[name].build(SMALL[name], seed=0)
    method.fit(Views(photos, shapes.photo_labels, sketches, shapes.sketch_labels))
    assert max([*photos.asked.values(), *sketches.asked.values()], default=1) == 1
    photos.asked.clear()
    method.encode_photos(photos)
    assert photos.asked == Counter(range(len(photos)))


@EVERY_METHOD
def test_what_was_learned_can_be_given_to_another(name, fitted, shapes):
    heir = CARD_OF[name].build(SMALL[name], seed=1)
    with pytest.raises(NotFitted, match="Call fit first"):
        heir.encode_sketches(shapes.sketches)
    heir.restore(fitted[name].state())
    sketches = shapes.sketches[:4]
    np.testing.assert_array_equal(heir.encode_sketches(sketches), fitted[name].encode_sketches(sketches))


@pytest.mark.parametrize("name", ["hog", "shelo"])
def test_a_fixed_size_is_not_for_choice(name):
    with pytest.raises(BadArgument, match="1296 dimensions, not 64"):
        CARD_OF[name].build(64, seed=0)


@EVERY_METHOD
def test_features_are_refused(name, fitted):
    with pytest.raises(BadArgument, match="features"):
        fitted[name].encode_photos(np.zeros((2, 8)))


def test_histograms_are_compared_by_what_they_share():
    assert CARD_OF["gf-hog"].distance is Distance.INTERSECTION


def cosine(first, second):
    return first @ second / np.linalg.norm(first) / np.linalg.norm(second)
