import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sketchhash.baselines import Distance
from sketchhash.benchmark.comparison.costs import distances_from, gallery_bytes, nearest, time_queries
from sketchhash.benchmark.encoded import rank_encodings
from sketchhash.evaluation.ranking import rank_distances

REAL = [distance for distance in Distance if distance is not Distance.HAMMING]


def test_codes_take_a_bit_a_column_and_vectors_four_bytes():
    gallery = np.ones((10, 64))
    assert gallery_bytes(Distance.HAMMING, gallery) == 80
    assert gallery_bytes(Distance.COSINE, gallery) == 2560


@pytest.mark.parametrize("distance", REAL)
def test_what_is_timed_ranks_as_the_scores_do(distance):
    rng = np.random.default_rng(0)
    queries, gallery = rng.random((6, 5)), rng.random((40, 5))
    gallery[3] = 0
    labels = rng.integers(0, 3, 6), rng.integers(0, 3, 40)
    timed = np.stack(
        [distances_from(distance, gallery.astype(np.float32))(query) for query in queries.astype(np.float32)]
    )
    expected = rank_encodings(distance, queries, gallery, *labels)
    found = rank_distances([timed], *labels)
    np.testing.assert_array_equal(found.sizes, expected.sizes)
    np.testing.assert_array_equal(found.relevant, expected.relevant)


@given(arrays(np.float32, st.integers(1, 30), elements=st.floats(-5, 5, width=16)), st.integers(1, 30))
def test_the_nearest_are_the_smallest_in_order(distances, depth):
    rows = nearest(distances, min(depth, len(distances)))
    np.testing.assert_array_equal(distances[rows], np.sort(distances)[:depth])
    assert len(set(rows.tolist())) == len(rows)


@pytest.mark.parametrize("distance", Distance)
def test_a_query_takes_some_time(distance):
    rng = np.random.default_rng(0)
    timing = time_queries(distance, rng.normal(size=(3, 16)), rng.normal(size=(50, 16)))
    assert 0 < timing.best <= timing.p50
    assert timing.calls >= 5
