import numpy as np

from sketchhash.index.kernel import BLOCK
from sketchhash.index.scan import ScanIndex


def test_room_doubles_so_that_many_small_additions_stay_cheap():
    index = ScanIndex(8)
    rooms = set()
    for number in range(20 * BLOCK):
        index.add(np.array([number]), np.array([[number % 256]], dtype=np.uint8))
        rooms.add(len(index._rows.blocks))
    assert sorted(rooms) == [1, 2, 4, 8, 16, 32]


def test_one_large_addition_takes_no_more_room_than_it_needs():
    index = ScanIndex(64)
    index.add(np.arange(1000), np.zeros((1000, 8), dtype=np.uint8))
    assert index._rows.blocks.nbytes == 16 * BLOCK * 8


def test_ids_at_both_ends_of_int64_are_kept_in_order():
    smallest, largest = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    index = ScanIndex(8)
    index.add(np.array([largest, smallest, 0]), np.zeros((3, 1), dtype=np.uint8))
    (hits,) = index.search(np.zeros((1, 1), dtype=np.uint8), k=3)
    assert hits.ids.tolist() == [smallest, 0, largest]
