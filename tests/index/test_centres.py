import numpy as np

from sketchhash.codes import hamming
from sketchhash.index.centres import MOST_CENTRES, centres_for, choose_centres, evenly


def test_every_cluster_gets_its_middle(clustered):
    middles = clustered(12, 128, centres=12, flipped=0.0, seed=3)
    middles = np.unique(middles, axis=0)
    noise = np.random.default_rng(0).random((12_000, 128)) < 0.08
    codes = middles[np.arange(12_000) % len(middles)] ^ np.packbits(noise, axis=1)
    centres = choose_centres(codes, len(middles))
    assert hamming(middles, centres).min(axis=1).tolist() == [0] * len(middles)


def test_repeated_codes_give_no_more_centres_than_codes():
    codes = np.repeat(np.arange(3, dtype=np.uint8)[:, None], 50, axis=0)
    assert sorted(choose_centres(codes, 10).ravel().tolist()) == [0, 1, 2]


def test_centres_that_move_to_the_same_place_are_one(clustered):
    centres = choose_centres(clustered(3000, 64, centres=4), 50)
    assert 4 <= len(centres) < 50
    assert len(np.unique(centres, axis=0)) == len(centres)


def test_a_sample_is_evenly_spaced_and_no_larger_than_what_there_is():
    codes = np.arange(101, dtype=np.uint8)[:, None]
    assert evenly(codes, 5).ravel().tolist() == [0, 25, 50, 75, 100]
    assert len(evenly(codes, 500)) == 101


def test_centres_grow_with_the_square_root_up_to_a_limit():
    assert [centres_for(size) for size in (1, 99, 100, 10**9)] == [1, 9, 10, MOST_CENTRES]
