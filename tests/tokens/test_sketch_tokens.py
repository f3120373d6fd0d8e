from contextlib import suppress
from dataclasses import asdict, replace

import numpy as np
import pytest

from sketchhash.errors import BadArgument, IncompatibleModel
from sketchhash.tokens import kernel, sketch_tokens, thin, token_map
from sketchhash.tokens.channels import FEATURES, PATCH, RADIUS, channels, lookup_planes, patch_features
from sketchhash.tokens.sketch_tokens import LEAF, Forest, SketchTokens

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


def grow(trees, inner, seed=0):
    """A forest of random shape: any leaf may be the next to split."""
    rng = np.random.default_rng(seed)
    roots, left = [], []
    for _ in range(trees):
        roots.append(len(left))
        leaves = [len(left)]
        left.append(LEAF)
        for _ in range(inner):
            node = leaves.pop(rng.integers(len(leaves)))
            left[node] = len(left)
            leaves += [len(left), len(left) + 1]
            left += [LEAF, LEAF]
    nodes = len(left)
    return Forest(
        roots=np.array(roots, dtype=np.int32),
        feature=rng.integers(0, FEATURES, nodes, dtype=np.int32),
        threshold=rng.normal(0.2, 0.2, nodes).astype(np.float32),
        left=np.array(left, dtype=np.int32),
        contour=rng.random(nodes, dtype=np.float32),
    )


STUMP = Forest(
    roots=np.array([0], dtype=np.int32),
    feature=np.array([7, 0, 0], dtype=np.int32),
    threshold=np.array([0.5, 0, 0], dtype=np.float32),
    left=np.array([1, LEAF, LEAF], dtype=np.int32),
    contour=np.array([0, 0.25, 0.75], dtype=np.float32),
)


@pytest.fixture(scope="module")
def planes():
    photo = np.random.default_rng(5).integers(0, 256, (40, 45, 3), dtype=np.uint8)
    return lookup_planes(channels(photo))


@pytest.fixture(scope="module")
def pixels():
    rng = np.random.default_rng(6)
    return rng.integers(0, 40, 1500), rng.integers(0, 45, 1500)


def corners_of(pixels, planes):
    rows, columns = pixels
    return rows * planes.shape[2] + columns


def walk(forest, features):
    """One patch at a time, one node at a time."""
    total = np.float32(0)
    for root in forest.roots:
        node = root
        while forest.left[node] != LEAF:
            goes_left = features[forest.feature[node]] < forest.threshold[node]
            node = forest.left[node] + (0 if goes_left else 1)
        total += forest.contour[node]
    return total / np.float32(len(forest.roots))


@pytest.mark.parametrize("is_compiled", [True, False], ids=["compiled", "numpy"])
def test_patches_end_in_the_leaves_that_their_features_lead_to(planes, pixels, is_compiled, monkeypatch):
    if not is_compiled:
        monkeypatch.setattr(kernel, "native", lambda: None)
    forest = grow(trees=5, inner=60)
    described = patch_features(planes[:14], *pixels)
    expected = [walk(forest, features) for features in described]
    share = forest.contour_share(planes, corners_of(pixels, planes))
    assert share.dtype == np.float32
    np.testing.assert_array_equal(share, np.array(expected, dtype=np.float32))
    assert len(np.unique(share)) > 50


def test_the_compiled_walk_gives_the_same_bits_for_every_number_of_patches(planes, pixels, monkeypatch):
    if kernel.native() is None:
        pytest.skip("the kernel is not built")
    forest = grow(trees=9, inner=300, seed=1)
    corners = corners_of(pixels, planes)
    compiled = {count: forest.contour_share(planes, corners[:count]) for count in (0, 1, 1023, 1024, 1025, 1500)}
    monkeypatch.setattr(kernel, "native", lambda: None)
    for count, share in compiled.items():
        np.testing.assert_array_equal(share, forest.contour_share(planes, corners[:count]))


def test_a_value_on_the_threshold_goes_right_and_one_below_goes_left(planes):
    corner = np.array([3], dtype=np.int64)
    value = planes[0, 0, 3 + 7]
    on = replace(STUMP, threshold=np.array([value, 0, 0], dtype=np.float32))
    above = replace(STUMP, threshold=np.array([np.nextafter(value, np.float32(9)), 0, 0], dtype=np.float32))
    assert on.contour_share(planes, corner).tolist() == [0.75]
    assert above.contour_share(planes, corner).tolist() == [0.25]


def test_a_tree_that_is_one_leaf_says_the_same_of_everything(planes):
    leaf = replace(STUMP, roots=np.array([1], dtype=np.int32))
    np.testing.assert_array_equal(leaf.contour_share(planes, np.arange(50)), 0.25)


def test_a_long_chain_is_walked_to_its_end(planes):
    length = 3000
    nodes = 2 * length + 1
    left = np.full(nodes, LEAF, dtype=np.int32)
    parents = np.concatenate([[0], np.arange(2, 2 * length, 2)])
    left[parents] = np.arange(1, nodes, 2)
    chain = Forest(
        roots=np.zeros(1, dtype=np.int32),
        feature=np.zeros(nodes, dtype=np.int32),
        threshold=np.full(nodes, -1, dtype=np.float32),
        left=left,
        contour=np.where(np.arange(nodes) == nodes - 1, 1, 0).astype(np.float32),
    )
    np.testing.assert_array_equal(chain.contour_share(planes, np.arange(3)), 1)


def test_a_saved_forest_comes_back_equal(tmp_path):
    forest = grow(trees=4, inner=50)
    forest.save(tmp_path / "forest.npz")
    back = Forest.load(tmp_path / "forest.npz")
    for name, array in asdict(forest).items():
        np.testing.assert_array_equal(getattr(back, name), array)
        assert getattr(back, name).dtype == array.dtype
    assert back.fingerprint == forest.fingerprint
    assert [path.name for path in tmp_path.iterdir()] == ["forest.npz"]


@pytest.mark.parametrize("name", ["feature", "threshold", "left", "contour"])
def test_any_change_changes_the_fingerprint(name):
    forest = grow(trees=2, inner=20)
    changed = getattr(forest, name).copy()
    place = 1 + int(np.flatnonzero(forest.left[1:] == LEAF)[0]) if name == "contour" else 0
    changed[place] = {"feature": 5, "threshold": 9, "left": 3, "contour": 0.125}[name]
    assert replace(forest, **{name: changed}).fingerprint != forest.fingerprint


NO_FORESTS = {
    "no trees": {"roots": np.array([], dtype=np.int32)},
    "a root that is no node": {"roots": np.array([3], dtype=np.int32)},
    "a root below zero": {"roots": np.array([-1], dtype=np.int32)},
    "a child that is its own parent": {"left": np.array([0, -1, -1], dtype=np.int32)},
    "a right child that is no node": {"left": np.array([2, -1, -1], dtype=np.int32)},
    "a child far away": {"left": np.array([2**31 - 1, -1, -1], dtype=np.int32)},
    "a child below zero that is no leaf": {"left": np.array([-7, -1, -1], dtype=np.int32)},
    "a feature too high": {"feature": np.array([FEATURES, 0, 0], dtype=np.int32)},
    "a feature below zero": {"feature": np.array([-1, 0, 0], dtype=np.int32)},
    "a share above one": {"contour": np.array([0, 1.5, 0], dtype=np.float32)},
    "a share that is no number": {"contour": np.array([0, np.nan, 0], dtype=np.float32)},
    "arrays of different lengths": {"threshold": np.zeros(2, dtype=np.float32)},
    "a matrix": {"left": np.full((3, 1), -1, dtype=np.int32)},
    "another type": {"threshold": np.zeros(3, dtype=np.float64)},
    "a lone number": {"left": np.array(-1, dtype=np.int32)},
}


@pytest.mark.parametrize("change", NO_FORESTS.values(), ids=NO_FORESTS)
def test_arrays_that_are_no_forest_are_refused_when_made_and_when_read(change, tmp_path):
    with pytest.raises(IncompatibleModel, match="not a forest of sketch tokens"):
        replace(STUMP, **change)
    path = tmp_path / "forest.npz"
    np.savez(path, version=1, **asdict(STUMP) | change)
    with pytest.raises(IncompatibleModel, match="not a forest of sketch tokens"):
        Forest.load(path)


def test_what_a_leaf_does_not_use_may_be_anything():
    features, shares = np.array([7, -2, 99_999], dtype=np.int32), np.array([np.nan, 0, 1], dtype=np.float32)
    assert replace(STUMP, feature=features, contour=shares).feature is features


def test_files_that_are_missing_foreign_or_of_another_version_are_refused(tmp_path):
    with pytest.raises(IncompatibleModel, match="cannot be read"):
        Forest.load(tmp_path / "nothing.npz")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(IncompatibleModel, match="cannot be read"):
        Forest.load(tmp_path / "text.npz")
    arrays = asdict(STUMP)
    np.savez(tmp_path / "newer.npz", version=2, **arrays)
    with pytest.raises(IncompatibleModel, match="version 2"):
        Forest.load(tmp_path / "newer.npz")
    np.savez(tmp_path / "some.npz", version=1, roots=STUMP.roots)
    with pytest.raises(IncompatibleModel, match="cannot be read"):
        Forest.load(tmp_path / "some.npz")
    np.savez(tmp_path / "objects.npz", version=1, **arrays | {"roots": np.array([{}], dtype=object)})
    with pytest.raises(IncompatibleModel, match="cannot be read"):
        Forest.load(tmp_path / "objects.npz")


def test_a_file_that_unpacks_to_far_too_much_is_not_unpacked(tmp_path, monkeypatch):
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, left=np.zeros(1 << 20, dtype=np.uint8))
    assert path.stat().st_size < 4096
    monkeypatch.setattr("sketchhash.tokens.sketch_tokens._LARGEST_FILE", 1 << 19)
    with pytest.raises(IncompatibleModel, match="unpacks to 1,048,704 bytes"):
        Forest.load(path)


def test_no_damage_to_a_file_gives_another_forest(tmp_path):
    path = tmp_path / "forest.npz"
    STUMP.save(path)
    data = path.read_bytes()
    refused = 0
    for place in range(0, len(data), 11):
        for damaged in (data[:place], data[:place] + bytes([data[place] ^ 0x41]) + data[place + 1 :]):
            path.write_bytes(damaged)
            with suppress(IncompatibleModel):
                assert Forest.load(path).fingerprint == STUMP.fingerprint
                continue
            refused += 1
    assert refused > len(data) / 11
