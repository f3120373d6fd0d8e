import numpy as np
import pytest

from sketchhash.errors import BadArgument, IncompatibleModel
from sketchhash.tokens import kernel, sketch_tokens, thin, token_map
from sketchhash.tokens.channels import RADIUS, channels
from sketchhash.tokens.features import FEATURES, PATCH, lookup_planes
from sketchhash.tokens.forest import LEAF, Forest
from sketchhash.tokens.sketch_tokens import SketchTokens

MIDDLE_OF_MEDIUM_MAGNITUDE = 8 * PATCH * PATCH + RADIUS * PATCH + RADIUS


def staircase(feature, steps):
    """A detector that adds a step to the score for each threshold that one feature reaches."""
    thresholds = np.linspace(0.1, 1, steps)
    trees = len(thresholds)
    return SketchTokens(
        Forest(
            roots=3 * np.arange(trees, dtype=np.int32),
            feature=np.full(3 * trees, feature, dtype=np.int32),
            threshold=np.repeat(thresholds, 3).astype(np.float32),
            left=(np.tile([1, LEAF - 3 * trees, LEAF - 3 * trees], trees) + np.repeat(3 * np.arange(trees), 3))
            .clip(LEAF)
            .astype(np.int32),
            contour=np.tile([0, 0, 1], trees).astype(np.float32),
        )
    )


def bushy(trees=6, depth=7, seed=0):
    """A detector with complete trees of random features."""
    rng = np.random.default_rng(seed)
    nodes = 2 ** (depth + 1) - 1
    place = np.arange(nodes)
    left = np.where(2 * place + 2 < nodes, 2 * place + 1, LEAF)
    starts = nodes * np.arange(trees)[:, None]
    return SketchTokens(
        Forest(
            roots=starts[:, 0].astype(np.int32),
            feature=rng.integers(0, FEATURES, trees * nodes, dtype=np.int32),
            threshold=rng.normal(0.1, 0.2, trees * nodes).astype(np.float32),
            left=np.where(left == LEAF, LEAF, left + starts).astype(np.int32).ravel(),
            contour=rng.random(trees * nodes, dtype=np.float32),
        )
    )


EDGES = staircase(MIDDLE_OF_MEDIUM_MAGNITUDE, 20)
BUSHY = bushy()


def noise(height, width, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def square():
    photo = np.full((90, 120, 3), 60, dtype=np.uint8)
    photo[25:65, 30:90] = 190
    return photo


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (50, 1), (2, 2), (37, 53), (64, 64)])
@pytest.mark.parametrize("detector", [EDGES, BUSHY], ids=["edges", "bushy"])
def test_scores_fit_the_photo_and_lie_between_0_and_1(shape, detector):
    scores = detector.detect(noise(*shape))
    assert scores.shape == shape
    assert scores.dtype == np.float32
    assert scores.min() >= 0
    assert scores.max() <= 1


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (20, 31), (48, 64)])
def test_the_compiled_kernel_gives_the_same_bits(shape, monkeypatch):
    if kernel.native() is None:
        pytest.skip("the kernel is not built")
    compiled = BUSHY.detect(noise(*shape))
    monkeypatch.setattr(kernel, "native", lambda: None)
    np.testing.assert_array_equal(compiled, BUSHY.detect(noise(*shape)))


def test_every_second_pixel_is_asked_and_those_between_are_averaged():
    photo = noise(9, 12)
    planes = lookup_planes(channels(photo))
    rows, columns = np.mgrid[:9, :12]
    asked = BUSHY.forest.contour_share(planes, (rows * planes.shape[2] + columns).ravel()).reshape(9, 12)
    scores = BUSHY.detect(photo)
    np.testing.assert_array_equal(scores[::2, ::2], asked[::2, ::2])
    np.testing.assert_allclose(scores[1::2, ::2], (asked[:-2:2, ::2] + asked[2::2, ::2]) / 2, rtol=1e-6)
    np.testing.assert_allclose(scores[::2, 1:-1:2], (asked[::2, :-2:2] + asked[::2, 2::2]) / 2, rtol=1e-6)
    np.testing.assert_array_equal(scores[:, -1], scores[:, -2])
    assert len(np.unique(scores)) > 20


def test_a_detector_of_edges_finds_the_edges_where_they_are():
    scores = EDGES.detect(square())
    assert set(scores[40:50, :60].argmax(axis=1)) <= {28, 29, 30, 31}
    assert set(scores[:45, 50:70].argmax(axis=0)) <= {23, 24, 25, 26}
    assert scores[45, 60] == 0
    ridges = thin(scores)[10:-10, 10:-10]
    assert 0 < np.count_nonzero(ridges) < 0.1 * ridges.size


def test_a_flat_photo_has_no_edges_and_gives_blank_paper():
    flat = np.full((40, 50, 3), 77, dtype=np.uint8)
    np.testing.assert_array_equal(EDGES.detect(flat), 0)
    assert (token_map(flat, EDGES, 64) == 255).all()


def test_the_same_photo_scores_the_same_and_is_left_alone():
    photo = noise(30, 40)
    before = photo.copy()
    np.testing.assert_array_equal(BUSHY.detect(photo), BUSHY.detect(photo))
    np.testing.assert_array_equal(photo, before)


@pytest.mark.parametrize("shape", [(1, 1), (3, 20_000), (20_000, 3), (40, 50)])
def test_any_photo_can_be_drawn_in_grey_or_colour(shape):
    grey = np.random.default_rng(1).integers(0, 256, shape, dtype=np.uint8)
    sheet = token_map(grey, BUSHY, 48)
    assert sheet.shape == (48, 48)
    np.testing.assert_array_equal(sheet, token_map(np.repeat(grey[:, :, None], 3, axis=2), BUSHY, 48))


def test_an_enormous_photo_is_refused_before_anything_is_computed():
    enormous = np.broadcast_to(np.zeros(3, dtype=np.uint8), (10_000, 10_000, 3))
    with pytest.raises(BadArgument, match="at most 50,000,000 pixels"):
        BUSHY.detect(enormous)


def test_the_fingerprint_tells_forests_apart_and_is_the_same_every_time():
    assert BUSHY.name == "sketch-tokens"
    assert bushy(seed=0).fingerprint == BUSHY.fingerprint
    assert bushy(seed=1).fingerprint != BUSHY.fingerprint
    assert BUSHY.fingerprint != BUSHY.forest.fingerprint


def test_the_shipped_forest_is_read_from_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(sketch_tokens, "SHIPPED_FOREST", tmp_path / "forest.npz")
    with pytest.raises(IncompatibleModel, match="is not there"):
        SketchTokens.shipped()
    BUSHY.forest.save(tmp_path / "forest.npz")
    assert SketchTokens.shipped().fingerprint == BUSHY.fingerprint
