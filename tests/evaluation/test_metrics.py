import dataclasses
import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from sketchhash.codes import pack, sign, unpack
from sketchhash.errors import BadArgument
from sketchhash.evaluation import (
    BallScore,
    Score,
    by_chance,
    category_scores,
    map_at,
    mean_average_precision,
    mean_radius_curve,
    pooled_radius_curve,
    precision_at,
    precision_within,
    rank_codes,
    rank_curve,
    rank_distances,
    score,
)

ties = st.integers(0, 4).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size)))
layouts = st.lists(ties, min_size=1, max_size=4).filter(lambda query: any(relevant for _, relevant in query))


def test_a_ranking_worked_out_by_hand(tie_groups):
    # Ranks 1 (relevant), then a tie over ranks 2 to 4 with two relevant photos, then rank 5 (irrelevant).
    # The tie's three orders put the hits at ranks (2, 3), (2, 4) and (3, 4).
    groups = tie_groups([(1, 1), (3, 2), (1, 0)])
    orders_of_the_tie = [2 / 2 + 3 / 3, 2 / 2 + 3 / 4, 2 / 3 + 3 / 4]
    expected = (1 + sum(orders_of_the_tie) / 3) / 3
    assert mean_average_precision(groups).value == pytest.approx(expected)
    assert precision_at(groups, 2).value == pytest.approx((1 + 2 / 3) / 2)
    assert map_at(groups, 2).value == pytest.approx((1 + 2 / 3 * (2 / 2)) / 2)


@given(layouts)
def test_the_expectation_is_the_mean_over_all_orders(tie_groups, orders, average_precision, query):
    values = [average_precision(order, len(order)) for order in orders(query)]
    assert mean_average_precision(tie_groups(query)).value == pytest.approx(np.mean(values))


@given(layouts, st.integers(1, 20))
def test_map_at_a_depth_is_the_mean_over_all_orders(tie_groups, orders, average_precision, query, depth):
    values = [average_precision(order, depth) for order in orders(query)]
    assert map_at(tie_groups(query), depth).value == pytest.approx(np.mean(values), abs=1e-12)


@given(layouts, st.integers(1, 20))
def test_precision_at_a_depth_is_the_mean_over_all_orders(tie_groups, orders, query, depth):
    values = [sum(order[:depth]) / depth for order in orders(query)]
    assert precision_at(tie_groups(query), depth).value == pytest.approx(np.mean(values))


@given(st.lists(st.booleans(), min_size=2, max_size=60).filter(any))
def test_without_ties_the_definition_meets_scikit_learn(tie_groups, order):
    groups = tie_groups([(1, int(is_relevant)) for is_relevant in order])
    reference = average_precision_score(order, -np.arange(len(order)))
    assert mean_average_precision(groups).value == pytest.approx(reference)


def test_constant_codes_score_by_chance_however_the_gallery_is_sorted():
    labels = np.repeat(np.arange(20), 50)
    constant = np.zeros((len(labels), 8), dtype=np.uint8)
    query_labels = np.arange(20)
    groups = rank_codes(constant[:20], constant, query_labels, labels)
    backwards = rank_codes(constant[:20], constant, query_labels, labels[::-1])

    in_index_order = np.mean([average_precision_score(labels == label, -np.arange(1000)) for label in range(20)])
    rng = np.random.default_rng(0)
    shuffled = [average_precision_score(rng.permutation(labels == 0), -np.arange(1000)) for _ in range(400)]
    value = mean_average_precision(groups).value
    assert value == mean_average_precision(backwards).value
    assert value == pytest.approx(np.mean(shuffled), abs=4 * np.std(shuffled) / 20)
    assert in_index_order > 2 * value
    assert precision_at(groups, 200).value == pytest.approx(1 / 20)


def test_long_rankings_keep_their_digits(tie_groups):
    sizes, relevant = [3, 100_000, 2, 90_000, 1, 10_000], [0, 400, 2, 900, 1, 5]
    exact, photos, hits = 0.0, 0, 0
    for size, count in zip(sizes, relevant, strict=True):
        slope = Fraction(count - 1, size - 1) if size > 1 else Fraction(0)
        places = np.arange(1, size + 1)
        exact += count / size * np.sum((hits + 1 + (places - 1) * float(slope)) / (photos + places))
        photos, hits = photos + size, hits + count
    groups = tie_groups(list(zip(sizes, relevant, strict=True)))
    assert mean_average_precision(groups).value == pytest.approx(exact / sum(relevant), rel=1e-10)


def test_a_tie_across_the_last_rank_counts_by_the_share_that_fits(tie_groups):
    assert precision_at(tie_groups([(150, 30), (100, 40), (50, 50)]), 200).value == (30 + 40 * 50 / 100) / 200


def test_a_gallery_smaller_than_the_depth_still_divides_by_the_depth_and_says_so(tie_groups):
    score = precision_at(tie_groups([(3, 3), (2, 1)]), 200)
    assert score.value == 4 / 200
    assert score.is_short
    assert not precision_at(tie_groups([(3, 3), (2, 1)]), 5).is_short


def test_map_at_a_depth_divides_by_what_could_be_found(tie_groups):
    few = tie_groups([(1, 1), (9, 0), (5, 3)])
    assert map_at(few, 10).value == 1 / 4
    assert map_at(few, 2).value == 1 / 2


def test_queries_without_relevant_photos_are_skipped_and_counted(tie_groups):
    answered = [(2, 1), (4, 2)]
    groups = tie_groups(answered, [(6, 0)], answered, labels=[0, 1, 0])
    alone = mean_average_precision(tie_groups(answered))
    assert mean_average_precision(groups) == Score(alone.value, depth=6, gallery=6, queries=2, skipped=1)
    assert precision_at(groups, 2).value == precision_at(tie_groups(answered), 2).value
    assert rank_curve(groups) == rank_curve(tie_groups(answered))
    assert [category.label for category in category_scores(groups)] == [0]


def test_each_category_is_the_mean_of_its_queries(tie_groups):
    queries = [[(1, 1), (3, 0)], [(3, 0), (1, 1)], [(2, 1), (2, 0)]]
    groups = tie_groups(*queries, labels=[7, 2, 7])
    low, high = category_scores(groups)
    assert (low.label, low.queries, low.value) == (2, 1, pytest.approx(1 / 4))
    assert (high.label, high.queries, high.value) == (7, 2, pytest.approx((1 + 3 / 4) / 2))


@given(st.lists(st.booleans(), min_size=2, max_size=40).filter(any))
def test_without_ties_the_curve_is_the_precision_at_the_rank_that_reaches_the_recall(tie_groups, order):
    hits = np.cumsum(order)
    recalls = (0.0, 0.15, 0.5, 1.0)
    precisions = []
    for recall in recalls:
        wanted = max(1, int(np.ceil(Fraction(str(recall)) * int(hits[-1]))))
        rank = int(np.searchsorted(hits, wanted)) + 1
        precisions.append(wanted / rank)
    curve = rank_curve(tie_groups([(1, int(is_relevant)) for is_relevant in order]), recalls)
    assert curve.recall == recalls
    assert curve.precision == pytest.approx(precisions)


def test_rounding_of_the_recall_asks_for_no_further_photo(tie_groups):
    assert 0.55 * 100 > 55
    assert rank_curve(tie_groups([(55, 55), (10, 0), (45, 45)]), (0.55,)).precision == (1.0,)


def test_inside_a_tie_the_curve_expects_hits_at_an_even_pace(tie_groups):
    # Four relevant photos among eight: hit t is expected at rank 2 + 2 t.
    curve = rank_curve(tie_groups([(2, 0), (8, 4), (3, 0)]), (0.25, 0.5, 1.0))
    assert curve.precision == pytest.approx([1 / 4, 2 / 6, 4 / 10])


def test_the_curve_of_many_queries_is_the_mean_of_theirs(tie_groups):
    queries = [[(2, 0), (8, 4), (3, 0)], [(1, 1), (6, 0), (6, 5)], [(13, 2)]]
    alone = [rank_curve(tie_groups(query)).precision for query in queries]
    assert rank_curve(tie_groups(*queries)).precision == pytest.approx(np.mean(alone, axis=0))


@pytest.mark.parametrize("metric", [map_at, precision_at])
def test_a_depth_below_one_is_refused(tie_groups, metric):
    with pytest.raises(BadArgument, match="at least one"):
        metric(tie_groups([(2, 1)]), 0)


def test_duplicated_photos_tie_for_real_distances_too():
    distances = np.array([[0.1, 0.5, 0.5, 0.5, 0.9]])
    groups = rank_distances([distances], np.array([1]), np.array([0, 1, 0, 0, 1]))
    assert mean_average_precision(groups).value == pytest.approx(((1 / 2 + 1 / 3 + 1 / 4) / 3 + 2 / 5) / 2)


# Distances 0 to 4; the second query's ball of radius 2 is empty, the third has nothing to find.
NEAR = [(0, 0), (2, 2), (2, 1), (4, 0), (2, 1)]
FAR = [(0, 0), (0, 0), (0, 0), (5, 1), (5, 1)]
HOPELESS = [(10, 0), (0, 0), (0, 0), (0, 0), (0, 0)]


@pytest.fixture
def groups(tie_groups):
    return tie_groups(NEAR, FAR, HOPELESS, bits=4)


def test_an_empty_ball_counts_as_zero_and_is_reported(groups):
    assert precision_within(groups, 2) == BallScore(radius=2, value=(3 / 4 + 0) / 2, empty=1 / 2, mean_size=2)


def test_the_pooled_curve_counts_pairs_and_leaves_out_radii_without_any(groups):
    curve = pooled_radius_curve(groups)
    assert curve.radii == (1, 2, 3, 4)
    assert curve.precision == (2 / 2, 3 / 4, 4 / 13, 6 / 20)
    assert curve.recall == (2 / 6, 3 / 6, 4 / 6, 1.0)


def test_the_mean_curve_averages_queries(groups):
    curve = mean_radius_curve(groups)
    assert curve.radii == (0, 1, 2, 3, 4)
    assert curve.precision == pytest.approx([0, 1 / 2, 3 / 8, (3 / 8 + 1 / 5) / 2, (4 / 10 + 2 / 10) / 2])
    assert curve.recall == pytest.approx([0, 1 / 4, 3 / 8, (3 / 4 + 1 / 2) / 2, 1])


def test_balls_of_real_codes_hold_what_a_plain_count_finds():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 80)
    gallery = pack(sign(rng.standard_normal((80, 8))))
    groups = rank_codes(gallery[:5], gallery, labels[:5], labels)

    distances = (unpack(gallery[:5])[:, None] != unpack(gallery)[None]).sum(axis=2)
    inside, is_relevant = distances <= 2, labels[:5, None] == labels[None]
    ball = precision_within(groups, 2)
    assert ball.value == pytest.approx(np.mean((inside & is_relevant).sum(axis=1) / inside.sum(axis=1)))
    assert ball.mean_size == inside.sum() / 5
    assert pooled_radius_curve(groups).recall[2] == (inside & is_relevant).sum() / is_relevant.sum()


@pytest.mark.parametrize("radius", [-1, 5])
def test_a_radius_beyond_the_code_is_refused(groups, radius):
    with pytest.raises(BadArgument, match="4 bits"):
        precision_within(groups, radius)


@pytest.mark.parametrize("metric", [pooled_radius_curve, mean_radius_curve, lambda groups: precision_within(groups, 2)])
def test_rankings_that_are_not_of_codes_have_no_radius(groups, metric):
    with pytest.raises(BadArgument, match="binary codes"):
        metric(groups.merged())


@pytest.fixture
def scored(tie_groups):
    return tie_groups([(0, 0), (2, 1), (3, 2)], [(1, 1), (4, 1), (0, 0)], [(5, 0), (0, 0), (0, 0)], bits=2)


def test_one_call_gives_every_metric_of_codes(scored):
    scores = score(scored, seed=3)
    assert scores.mean_average_precision == mean_average_precision(scored)
    assert scores.seeded == mean_average_precision(by_chance(scored, np.random.default_rng(3)))
    assert scores.pessimistic.value < scores.mean_average_precision.value < scores.optimistic.value
    assert scores.precision_at_200.is_short
    assert scores.precision_at_200.value == pytest.approx((3 + 2) / 2 / 200)
    assert scores.radius.precision_within_2 == precision_within(scored, 2)
    assert scores.radius.pooled_curve == pooled_radius_curve(scored)


def test_rankings_of_vectors_have_no_radius(scored):
    assert score(scored.merged()).radius is None


def test_json_holds_every_number_under_its_name(scored):
    scores = score(scored)
    stored = json.loads(scores.to_json())
    assert stored.keys() == {field.name for field in dataclasses.fields(scores)}
    assert stored["mean_average_precision"] == dataclasses.asdict(scores.mean_average_precision)
    assert stored["mean_average_precision"]["skipped"] == 1
    assert tuple(stored["radius"]["pooled_curve"]["precision"]) == scores.radius.pooled_curve.precision
    assert [category["label"] for category in stored["categories"]] == [0]
