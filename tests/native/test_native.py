import logging
import os
import subprocess
import sys

import pytest

from sketchhash import native
from sketchhash.native import kernel_file, kernels

SEARCH = """
import numpy as np
from sketchhash.index import INDEXES
from sketchhash.native import kernels
for name, make in INDEXES.items():
    index = make(64)
    index.add(np.arange(300), np.random.default_rng(0).integers(0, 256, (300, 8), dtype=np.uint8))
    hits, = index.search(np.zeros((1, 8), dtype=np.uint8), k=5)
    print(name, hits.ids.tolist(), hits.distances.tolist())
print(kernels("hamming") is None)
"""


@pytest.fixture
def forgotten():
    """Let kernels be looked for anew, before the test and after it."""
    kernels.cache_clear()
    yield
    kernels.cache_clear()


def search_in_another_process(**environment):
    finished = subprocess.run(
        [sys.executable, "-c", SEARCH], env=os.environ | environment, capture_output=True, text=True, check=True
    )
    *searches, is_missing = finished.stdout.splitlines()
    return searches, is_missing


def test_kernels_can_be_switched_off_and_searches_find_the_same():
    searches, is_missing = search_in_another_process(SKETCHHASH_NATIVE="0")
    assert is_missing == "True"
    assert searches == search_in_another_process()[0]
    assert len({search.split(maxsplit=1)[1] for search in searches}) == 1


def test_a_missing_kernel_is_said_once(monkeypatch, caplog, tmp_path, forgotten):
    monkeypatch.delenv("SKETCHHASH_NATIVE", raising=False)
    monkeypatch.setattr(native, "kernel_file", lambda name: tmp_path / name)
    with caplog.at_level(logging.WARNING):
        assert kernels("hamming") is None
        assert kernels("hamming") is None
    assert len(caplog.records) == 1
    assert "'hamming' is missing" in caplog.text


@pytest.mark.skipif(not kernel_file("hamming").exists(), reason="the kernel was not built")
def test_a_built_kernel_is_found(monkeypatch, forgotten):
    monkeypatch.delenv("SKETCHHASH_NATIVE", raising=False)
    assert kernels("hamming") is not None
