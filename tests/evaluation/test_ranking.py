import numpy as np
import pytest

from sketchhash.codes import hamming
from sketchhash.errors import BadArgument
from sketchhash.evaluation import (
    mean_average_precision,
    rank_codes,
    rank_cosine,
    rank_distances,
    rank_euclidean,
    ranking,
)


@pytest.fixture
def codes():
    """Queries, gallery and their labels: clustered codes of 16 bits, full of ties."""
    rng = np.random.default_rng(0)
    query_labels, gallery_labels = rng.integers(0, 6, 11), rng.integers(0, 5, 300)
    centres = rng.integers(0, 256, (6, 2), dtype=np.uint8)

    def scatter(labels):
        return centres[labels] ^ np.packbits(rng.random((len(labels), 16)) < 0.2, axis=1)

    return scatter(query_labels), scatter(gallery_labels), query_labels, gallery_labels


@pytest.fixture
def vectors():
    """Queries, gallery and their labels: every photo is in the gallery twice, far apart."""
    rng = np.random.default_rng(1)
    once, labels = rng.standard_normal((150, 37)).astype(np.float32), rng.integers(0, 4, 150)
    queries = rng.standard_normal((13, 37)).astype(np.float32)
    return (
        queries,
        np.concatenate([once, once]),
        rng.integers(0, 4, 13),
        np.concatenate([labels, (labels + 1) % 4]),
    )


def assert_same(groups, others):
    for field in ("sizes", "relevant", "starts", "labels"):
        np.testing.assert_array_equal(getattr(groups, field), getattr(others, field))


def test_a_group_of_codes_holds_the_photos_at_its_distance(codes):
    queries, gallery, query_labels, gallery_labels = codes
    groups = rank_codes(*codes)
    distances = hamming(queries, gallery)
    is_relevant = query_labels[:, None] == gallery_labels[None]
    assert groups.bits == 16
    assert groups.gallery == 300
    for distance in range(17):
        at = distances == distance
        np.testing.assert_array_equal(groups.sizes.reshape(11, 17)[:, distance], at.sum(axis=1))
        np.testing.assert_array_equal(groups.relevant.reshape(11, 17)[:, distance], (at & is_relevant).sum(axis=1))


def test_codes_and_their_distances_rank_alike(codes):
    queries, gallery, query_labels, gallery_labels = codes
    by_distance = rank_distances([hamming(queries, gallery)], query_labels, gallery_labels)
    assert_same(rank_codes(*codes).merged(), by_distance)


@pytest.mark.parametrize("at_once", [1, 3, 11, 500])
def test_the_block_size_never_changes_the_result(codes, vectors, monkeypatch, at_once):
    usual = rank_codes(*codes), rank_cosine(*vectors), rank_euclidean(*vectors)
    for constant in ("CODES_AT_ONCE", "VECTORS_AT_ONCE", "PHOTOS_AT_ONCE"):
        monkeypatch.setattr(ranking, constant, at_once)
    for groups, others in zip(
        usual, (rank_codes(*codes), rank_cosine(*vectors), rank_euclidean(*vectors)), strict=True
    ):
        assert_same(groups, others)


def test_distances_may_come_in_any_blocks(codes):
    queries, gallery, *labels = codes
    distances = hamming(queries, gallery)
    pieces = (distances[rows] for rows in (slice(0, 1), slice(1, 8), slice(8, 8), slice(8, 11)))
    assert_same(rank_distances(pieces, *labels), rank_distances([distances], *labels))


@pytest.mark.parametrize("rank", [rank_cosine, rank_euclidean])
def test_a_duplicated_photo_ties_with_itself(vectors, rank):
    queries, gallery, query_labels, gallery_labels = vectors
    order = np.random.default_rng(2).permutation(len(gallery))
    groups = rank(queries, gallery[order], query_labels, gallery_labels[order])
    # Each photo and its twin of another label: a tie is half relevant or not at all.
    is_mixed = groups.relevant > 0
    assert (groups.sizes[is_mixed] == 2).all()
    assert (groups.relevant[is_mixed] == 1).all()
    assert_same(groups, rank(*vectors))


def test_cosine_ranks_by_angle_whatever_the_lengths(vectors):
    queries, gallery, *labels = vectors
    unit = (rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (queries, gallery))
    angles = np.arccos(np.clip(np.einsum("qd,gd->qg", *unit), -1, 1))
    lengths = np.exp2(np.arange(len(gallery)) % 5).astype(np.float32)[:, None]
    expected = mean_average_precision(rank_distances([np.round(angles, 6)], *labels)).value
    assert mean_average_precision(rank_cosine(queries * 8, gallery * lengths, *labels)).value == pytest.approx(expected)


def test_a_zero_vector_lies_between_like_and_unlike():
    groups = rank_cosine(
        np.array([[1.0, 0.0]]),
        np.array([[-1.0, 0.1], [0.0, 0.0], [1.0, 0.1]]),
        np.array([1]),
        np.array([0, 1, 0]),
    )
    assert groups.sizes.tolist() == [1, 1, 1]
    assert groups.relevant.tolist() == [0, 1, 0]


def test_euclid_ranks_by_distance(vectors):
    queries, gallery, *labels = vectors
    distances = np.linalg.norm(queries[:, None] - gallery[None], axis=2)
    expected = mean_average_precision(rank_distances([np.round(distances, 5)], *labels)).value
    assert mean_average_precision(rank_euclidean(*vectors)).value == pytest.approx(expected)


def test_a_distance_that_is_not_a_number_is_refused():
    with pytest.raises(BadArgument, match="NaN"):
        rank_distances([np.array([[0.1, np.nan, 0.3]])], np.array([0]), np.array([0, 0, 1]))


@pytest.mark.parametrize(
    "blocks",
    [[], [np.zeros((1, 3))], [np.zeros((2, 3)), np.zeros((1, 3))], [np.zeros((2, 4))], [np.zeros(3)]],
    ids=["none", "too few", "too many", "wide", "flat"],
)
def test_distances_must_fit_the_labels(blocks):
    with pytest.raises(BadArgument, match="give one row"):
        rank_distances(blocks, np.array([0, 1]), np.array([0, 1, 1]))


def test_an_empty_gallery_is_refused(codes):
    queries, gallery, query_labels, gallery_labels = codes
    with pytest.raises(BadArgument, match="one label each"):
        rank_codes(queries, gallery[:0], query_labels, gallery_labels[:0])
    with pytest.raises(BadArgument, match="0 photos"):
        rank_distances([np.zeros((11, 0))], query_labels, gallery_labels[:0])


def test_codes_need_one_label_each_and_one_width(codes):
    queries, gallery, query_labels, gallery_labels = codes
    with pytest.raises(BadArgument, match="queries have shape"):
        rank_codes(queries, gallery, query_labels[:-1], gallery_labels)
    with pytest.raises(BadArgument, match="photos have shape"):
        rank_codes(queries, gallery, query_labels, gallery_labels[:-1])
    with pytest.raises(BadArgument, match="width 2 and photos 1"):
        rank_codes(queries, gallery[:, :1], query_labels, gallery_labels)
