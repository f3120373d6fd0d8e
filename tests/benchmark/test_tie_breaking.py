from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.benchmark import best_case, by_chance, category_scores, mean_average_precision, worst_case

ties = st.integers(0, 4).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size)))
layouts = st.lists(ties, min_size=1, max_size=4).filter(lambda query: any(relevant for _, relevant in query))


def order_of(groups):
    """Spell out a ranking without mixed groups."""
    assert set(groups.relevant[groups.relevant > 0] - groups.sizes[groups.relevant > 0]) <= {0}
    return np.repeat(groups.relevant > 0, groups.sizes).tolist()


@given(layouts)
def test_best_and_worst_case_are_the_extremes_of_all_orders(tie_groups, orders, average_precision, query):
    values = [average_precision(order, len(order)) for order in orders(query)]
    groups = tie_groups(query)
    assert mean_average_precision(best_case(groups)).value == pytest.approx(max(values))
    assert mean_average_precision(worst_case(groups)).value == pytest.approx(min(values))


@given(layouts, st.integers(0, 2**32 - 1))
def test_chance_draws_one_of_the_possible_orders(tie_groups, orders, query, seed):
    assert order_of(by_chance(tie_groups(query), np.random.default_rng(seed))) in orders(query)


@given(layouts, st.integers(0, 2**32 - 1))
def test_expectation_and_chance_lie_between_the_bounds(tie_groups, query, seed):
    groups = tie_groups(query)
    worst, best = (
        mean_average_precision(worst_case(groups)).value,
        mean_average_precision(best_case(groups)).value,
    )
    for order in (groups, by_chance(groups, np.random.default_rng(seed))):
        assert worst - 1e-12 <= mean_average_precision(order).value <= best + 1e-12


def test_every_order_is_equally_likely(tie_groups, orders):
    query = [(1, 0), (5, 2), (2, 1)]
    draws = 8000
    groups = by_chance(tie_groups(*[query] * draws), np.random.default_rng(0))
    drawn = np.repeat(groups.relevant > 0, groups.sizes).reshape(draws, 8)
    counts = Counter(map(tuple, drawn.tolist()))
    possible = {tuple(order) for order in orders(query)}
    assert counts.keys() == possible
    expected = draws / len(possible)
    # Chi-squared with 19 degrees of freedom: 43.8 is exceeded once in a thousand fair draws.
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < 43.8


def test_the_mean_over_draws_approaches_the_expectation(tie_groups):
    query, draws = [(40, 8), (25, 3), (60, 2)], 4000
    drawn = by_chance(tie_groups(*[query] * draws, labels=list(range(draws))), np.random.default_rng(0))
    values = [draw.value for draw in category_scores(drawn)]
    error = np.std(values) / np.sqrt(draws)
    assert 0 < error < 0.002
    assert np.mean(values) == pytest.approx(mean_average_precision(tie_groups(query)).value, abs=4 * error)


def test_the_same_seed_draws_the_same_order(tie_groups):
    groups = tie_groups([(40, 8), (25, 3)])
    first, again, other = (by_chance(groups, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert order_of(first) == order_of(again)
    assert order_of(first) != order_of(other)


def test_queries_keep_their_labels_and_galleries(tie_groups):
    groups = tie_groups([(4, 2), (2, 1)], [(1, 1), (5, 2)], labels=[3, 9])
    for broken in (best_case(groups), worst_case(groups), by_chance(groups, np.random.default_rng(0))):
        assert broken.labels.tolist() == [3, 9]
        assert broken.per_query(broken.sizes).tolist() == [6, 6]
        assert broken.relevant_per_query.tolist() == [3, 3]
