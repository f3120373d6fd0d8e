"""Scores against rankings written out with loops."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.codes import hamming, pack
from sketchhash.evaluation import mean_average_precision, precision_at, rank_codes, rank_cosine
from sketchhash.evaluation.encodings import Encodings, Medium
from sketchhash.evaluation.quality import rank_one_sided, rank_shares, score_setting
from sketchhash.evaluation.settings import EvaluationData


@pytest.fixture(scope="module")
def encodings(model, berlin, quick, elsewhere, split, tmp_path_factory):
    encodings = Encodings(model, tmp_path_factory.mktemp("cache"), threads=1)
    for setting in EvaluationData([berlin, quick], split).settings([elsewhere]):
        encodings.encode(Medium.SKETCH, encodings.missing(Medium.SKETCH, setting.queries))
        encodings.encode(Medium.PHOTO, encodings.missing(Medium.PHOTO, setting.gallery))
    return encodings


@pytest.fixture
def material(berlin, quick, split):
    return EvaluationData([berlin, quick], split)


def follow(scores, relevant):
    """Average the precision at each relevant photo of one ranking, best score first; scores must differ."""
    order = np.argsort(-scores, kind="stable")
    hits, total = 0, 0.0
    for rank, row in enumerate(order, start=1):
        if relevant[row]:
            hits += 1
            total += hits / rank
    return total / relevant.sum()


def random_side(rng, count, bits=16):
    return rng.standard_normal((count, bits)).astype(np.float32), np.arange(count) % 3


@given(st.integers(0, 10_000))
def test_one_sided_ranks_by_the_product_of_values_and_signs(seed):
    rng = np.random.default_rng(seed)
    (sketches, asked), (photos, shown) = random_side(rng, 4), random_side(rng, 12)
    signs = np.where(photos >= 0, 1.0, -1.0)
    expected = np.mean([follow(signs @ sketch, shown == label) for sketch, label in zip(sketches, asked, strict=True)])
    found = mean_average_precision(rank_one_sided(sketches, photos, asked, shown))
    assert found.value == pytest.approx(expected)


@given(st.integers(0, 10_000))
def test_cosine_ranks_by_the_angle_between_values(seed):
    rng = np.random.default_rng(seed)
    (sketches, asked), (photos, shown) = random_side(rng, 4), random_side(rng, 12)
    photos *= rng.uniform(0.1, 10, (12, 1)).astype(np.float32)
    cosines = [
        [float(s @ p / np.linalg.norm(s) / np.linalg.norm(p)) for p in photos.astype(float)]
        for s in sketches.astype(float)
    ]
    expected = np.mean([follow(np.array(row), shown == label) for row, label in zip(cosines, asked, strict=True)])
    assert mean_average_precision(rank_cosine(sketches, photos, asked, shown)).value == pytest.approx(expected)


@given(st.integers(0, 10_000))
def test_places_are_shared_by_tied_photos(seed):
    rng = np.random.default_rng(seed)
    (sketches, asked), (photos, shown) = random_side(rng, 4, bits=8), random_side(rng, 9, bits=8)
    codes, gallery = pack(sketches), pack(photos)
    taken = rank_shares(codes, gallery, asked, shown, depth=4)

    expected = np.zeros((3, 3))
    for code, label in zip(codes, asked, strict=True):
        distances = hamming(code[None], gallery)[0]
        for row in range(9):
            nearer, tied = (distances < distances[row]).sum(), (distances == distances[row]).sum()
            expected[label, shown[row]] += min(max(4 - nearer, 0), tied) / tied / 4
    np.testing.assert_allclose(taken, expected / np.bincount(asked)[:, None])
    np.testing.assert_allclose(taken.sum(axis=1), 1)
    groups = rank_codes(codes, gallery, asked, shown)
    assert precision_at(groups, 4).value == pytest.approx(taken[asked, asked].mean())


def test_a_setting_holds_the_numbers_of_its_setting(material, encodings, berlin):
    seen = material.settings()[0]
    quality = score_setting(seen, encodings, material.categories)
    assert (quality.queries, quality.gallery, quality.categories, quality.gallery_categories) == (6, 9, 3, 3)
    sides = [
        (encodings.values(medium, items)[1], np.array([item.label for item in items]))
        for medium, items in ((Medium.SKETCH, seen.queries), (Medium.PHOTO, seen.gallery))
    ]
    (sketches, asked), (photos, shown) = sides
    groups = rank_codes(pack(sketches), pack(photos), asked, shown)
    assert quality.codes.mean_average_precision == mean_average_precision(groups)
    assert quality.precision_at_10 == precision_at(groups, 10)
    assert quality.one_sided == mean_average_precision(rank_one_sided(sketches, photos, asked, shown))
    assert quality.cosine == mean_average_precision(rank_cosine(sketches, photos, asked, shown))
    assert quality.relevant_share == pytest.approx(1 / 3)
    assert quality.unlearnt == 2  # the tiny model says that it learnt cats and dogs


def test_chance_is_what_random_rankings_reach(material, encodings):
    quality = score_setting(material.settings()[0], encodings, material.categories)
    rng = np.random.default_rng(0)
    relevant = np.arange(9) < 3
    simulated = np.mean([follow(rng.random(9), relevant) for _ in range(4000)])
    assert quality.chance == pytest.approx(simulated, abs=0.01)
    assert quality.chance > quality.relevant_share


def test_categories_go_from_best_to_worst_with_what_is_found_instead(material, encodings):
    quality = score_setting(material.settings()[0], encodings, material.categories)
    values = [each.mean_average_precision for each in quality.by_category]
    assert values == sorted(values, reverse=True)
    assert {each.category for each in quality.by_category} == {"cat", "key", "snowman"}
    for each in quality.by_category:
        assert (each.queries, each.photos) == (2, 3)
        assert each.category not in {mistake.category for mistake in each.mistakes}
        shares = [mistake.share for mistake in each.mistakes]
        assert shares == sorted(shares, reverse=True)
        assert each.precision_at_10 + sum(shares) == pytest.approx(0.9)  # 9 photos for 10 places
    assert np.mean(values) == pytest.approx(quality.codes.mean_average_precision.value)


def test_unreadable_items_are_left_out(model, material, tmp_path):
    seen = material.settings()[0]
    encodings = Encodings(model, tmp_path, threads=1)
    assert score_setting(seen, encodings, material.categories) is None
    cats = [photo for photo in seen.gallery if photo.label == seen.gallery[0].label]
    encodings.encode(Medium.SKETCH, seen.queries)
    encodings.encode(Medium.PHOTO, cats)
    quality = score_setting(seen, encodings, material.categories)
    assert (quality.queries, quality.gallery, quality.chance) == (2, 3, 1)
