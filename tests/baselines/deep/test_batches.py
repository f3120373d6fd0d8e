"""What is drawn together belongs together."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.baselines.deep.batches import CategoryBatches, triplets
from sketchhash.baselines.views import Views
from sketchhash.errors import BadArgument

some_labels = st.lists(st.integers(0, 30), min_size=1, max_size=60).map(np.array)


def views(photo_labels, sketch_labels):
    return Views([], np.asarray(photo_labels), [], np.asarray(sketch_labels))


@given(some_labels, some_labels, st.integers(0, 100))
def test_a_batch_shows_one_category_in_both_views_at_each_place(photo_labels, sketch_labels, seed):
    shared = np.intersect1d(photo_labels, sketch_labels)
    if len(shared) < 2:
        with pytest.raises(BadArgument, match="two categories"):
            CategoryBatches.of(views(photo_labels, sketch_labels))
        return
    batch = CategoryBatches.of(views(photo_labels, sketch_labels)).draw(torch.Generator().manual_seed(seed))
    expected = shared[batch.labels]
    np.testing.assert_array_equal(photo_labels[batch.photos], expected)
    np.testing.assert_array_equal(sketch_labels[batch.sketches], expected)
    assert len(set(expected)) == min(16, len(shared))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_triplets_are_all_those_with_a_positive_of_the_category_and_a_negative_of_another(labels):
    found = {tuple(row) for row in triplets(torch.tensor(labels)).tolist()}
    places = range(len(labels))
    assert found == {
        (s, p, n) for s in places for p in places for n in places if labels[s] == labels[p] and labels[s] != labels[n]
    }


def test_categories_are_drawn_evenly_however_large_they_are():
    batches = CategoryBatches.of(views([0] * 90 + [1] * 3 + list(range(2, 20)), range(20)))
    generator = torch.Generator().manual_seed(0)
    drawn = torch.cat([batches.draw(generator).labels for _ in range(200)]).bincount()
    assert drawn.max() < 1.3 * drawn.min()


def test_an_epoch_shows_as_many_pictures_as_the_larger_view_has():
    batches = CategoryBatches.of(views(np.arange(640) % 20, np.arange(128) % 20))
    assert batches.an_epoch == 10
