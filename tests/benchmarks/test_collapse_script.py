"""The bound on the published objective holds for any codes, and the search of small problems is whole."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import collapse as script
from sketchhash.dsh.objective import paper_similarity


def cost(photos, sketches):
    """Return Eq. 1 of one photo and one sketch a category, in units of m²."""
    return ((paper_similarity(len(photos)) - photos @ sketches.T / photos.shape[1]) ** 2).sum()


@given(st.integers(2, 9), st.integers(1, 12), st.integers(0, 2**32 - 1), st.booleans())
def test_no_codes_cost_less_than_the_bound(categories, bits, seed, are_opposite):
    rng = np.random.default_rng(seed)
    photos = rng.choice([-1, 1], (categories, bits))
    sketches = -photos[0] * np.ones((categories, 1)) if are_opposite else rng.choice([-1, 1], (categories, bits))
    assert cost(photos, sketches) >= script.lower_bound(categories) - 1e-9


@pytest.mark.parametrize("categories", [3, 4, 6, 80])
def test_the_bounds_own_products_cost_what_it_says(categories):
    within, across = script.best_products(categories)
    paid = categories * (1 - within) ** 2 + categories * (categories - 1) * (1 + across) ** 2
    assert paid == pytest.approx(script.lower_bound(categories))


def test_the_smallest_cost_is_that_of_trying_all_photos_and_all_sketches():
    all_codes = [np.array(bits).reshape(3, 2) for bits in itertools.product((-1, 1), repeat=6)]
    brute_force = min(cost(photos, sketches) for photos in all_codes for sketches in all_codes)
    assert script.smallest(3, 2).cost == pytest.approx(brute_force)


def test_code_steps_collapse_with_the_published_similarity_alone():
    published, feasible = script.descend(script.PAPER, 80, 0), script.descend(script.FEASIBLE, 80, 0)
    assert published.distinct_photo_codes < 20 and published.within < -0.8
    assert feasible.distinct_photo_codes == 80 and feasible.within == pytest.approx(1)
    assert published.cost >= script.lower_bound(80)
