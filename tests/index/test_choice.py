import numpy as np
import pytest

from sketchhash.errors import BadArgument
from sketchhash.index import build_index, choice
from sketchhash.index.kernel import hamming_kernel
from sketchhash.index.pruned import PrunedIndex
from sketchhash.index.scan import ScanIndex

SIZE = 6000


@pytest.fixture(autouse=True)
def small_is_large(monkeypatch):
    monkeypatch.setattr(choice, "FEWEST_TO_PRUNE", SIZE)


def built(codes):
    index = build_index(np.arange(len(codes)), codes)
    assert len(index) == len(codes)
    return type(index)


@pytest.mark.skipif(hamming_kernel() is None, reason="the kernel was not built")
def test_codes_that_cluster_are_pruned(clustered):
    assert built(clustered(SIZE, 64, centres=20)) is PrunedIndex


def test_codes_that_do_not_cluster_are_scanned():
    assert built(np.random.default_rng(0).integers(0, 256, (SIZE, 8), dtype=np.uint8)) is ScanIndex


def test_few_codes_are_scanned(clustered):
    assert built(clustered(SIZE - 1, 64, centres=20)) is ScanIndex


def test_without_a_kernel_codes_are_scanned(clustered, monkeypatch):
    monkeypatch.setattr(choice, "levels", tuple)
    assert built(clustered(SIZE, 64, centres=20)) is ScanIndex


def test_what_is_no_row_of_codes_is_refused():
    with pytest.raises(BadArgument, match="rows of bytes"):
        build_index(np.arange(8), np.zeros(8, dtype=np.uint8))
