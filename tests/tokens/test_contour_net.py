from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from sketchhash.errors import IncompatibleModel
from sketchhash.tokens.contour_net import SHIPPED_NETWORK, ContourNet


@pytest.fixture(scope="module")
def shipped():
    return ContourNet.shipped()


def square(height=96, width=128):
    photo = np.full((height, width, 3), 60, dtype=np.uint8)
    photo[height // 4 : height * 3 // 4, width // 4 : width * 3 // 4] = (190, 170, 90)
    return photo


@pytest.mark.parametrize("shape", [(96, 128), (61, 47), (1, 1), (32, 256)])
def test_scores_fit_the_photo_and_lie_between_0_and_1(shipped, shape):
    photo = np.random.default_rng(1).integers(0, 256, (*shape, 3), dtype=np.uint8)
    scores = shipped.detect(photo)
    assert (scores.shape, scores.dtype) == (shape, np.float32)
    assert (scores >= 0).all()
    assert (scores <= 1).all()


def test_the_outline_of_a_square_scores_more_than_its_inside(shipped):
    scores = shipped.detect(square())
    assert scores[40:56, 28:37].max(axis=1).min() > 0.6
    assert scores[40:56, 52:76].max() < 0.3


def test_a_part_that_no_border_touches_scores_the_same_in_a_larger_photo(shipped):
    large = np.random.default_rng(2).integers(0, 256, (512, 512, 3), dtype=np.uint8)
    corner = np.ascontiguousarray(large[:384, :384])
    np.testing.assert_allclose(shipped.detect(large)[:128, :128], shipped.detect(corner)[:128, :128], atol=0.02)


def test_threads_may_share_a_network(shipped):
    photos = [square(96 + 32 * step, 128) for step in range(4)]
    alone = [shipped.detect(photo) for photo in photos]
    with ThreadPoolExecutor(4) as threads:
        for scores, together in zip(alone, threads.map(shipped.detect, photos), strict=True):
            np.testing.assert_array_equal(scores, together)


def test_a_saved_network_is_the_same(shipped, tmp_path):
    shipped.save(tmp_path / "net.npz")
    loaded = ContourNet.load(tmp_path / "net.npz")
    assert loaded.fingerprint == shipped.fingerprint
    np.testing.assert_array_equal(loaded.detect(square()), shipped.detect(square()))


def test_the_shipped_network_is_small():
    assert SHIPPED_NETWORK.stat().st_size < 300_000


def test_other_weights_have_another_fingerprint(shipped):
    assert ContourNet(shipped.graph + b" ").fingerprint != shipped.fingerprint


@pytest.mark.parametrize("content", [b"", b"no archive", SHIPPED_NETWORK.read_bytes()[:-500]])
def test_a_damaged_file_is_refused(tmp_path, content):
    (tmp_path / "net.npz").write_bytes(content)
    with pytest.raises(IncompatibleModel, match=r"net\.npz cannot be read as a contour network"):
        ContourNet.load(tmp_path / "net.npz")


def test_a_file_of_another_version_is_refused(shipped, tmp_path):
    np.savez(tmp_path / "net.npz", version=2, graph=np.frombuffer(shipped.graph, dtype=np.uint8))
    with pytest.raises(IncompatibleModel, match="of version 2; this sketchhash reads 1"):
        ContourNet.load(tmp_path / "net.npz")


def test_a_graph_that_cannot_be_run_is_refused():
    with pytest.raises(IncompatibleModel, match="cannot be run"):
        ContourNet(b"no graph").detect(square())
