import dataclasses
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.errors import BadArgument
from sketchhash.evaluation import (
    TieGroups,
    best_case,
    by_chance,
    category_scores,
    map_at,
    mean_average_precision,
    precision_at,
    rank_curve,
    worst_case,
)

ties = st.integers(0, 4).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size)))
layouts = st.lists(ties, min_size=1, max_size=4).filter(lambda query: any(relevant for _, relevant in query))


def fields(groups):
    return {name: np.asarray(value).tolist() for name, value in vars(groups).items()}


def padded(*queries):
    """Give all queries a gallery of the same size, as they would have."""
    largest = max(sum(size for size, _ in query) for query in queries)
    return [[*query, (largest - sum(size for size, _ in query), 0)] for query in queries]


@pytest.mark.parametrize("bits", [None, 1])
def test_loading_gives_back_what_was_saved(tie_groups, tmp_path, bits):
    groups = tie_groups([(3, 1), (2, 2)], [(0, 0), (5, 0)], labels=[4, 7], bits=bits)
    groups.save(tmp_path / "run.npz")
    assert fields(TieGroups.load(tmp_path / "run.npz")) == fields(groups)
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]


def test_a_failed_save_leaves_the_old_file_alone(tie_groups, tmp_path, monkeypatch):
    path = tmp_path / "run.npz"
    groups = tie_groups([(3, 1)])
    groups.save(path)

    def fail(file, **arrays):
        file.write(b"half")
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez_compressed", fail)
    with pytest.raises(OSError, match="disk full"):
        tie_groups([(9, 9)]).save(path)
    assert fields(TieGroups.load(path)) == fields(groups)


def test_a_file_of_something_else_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    np.savez(path, sizes=np.ones(3))
    whole = path.read_bytes()
    np.save(tmp_path / "other.npy", np.ones(3))
    for content in (whole, whole[:50], b"", b"nonsense", (tmp_path / "other.npy").read_bytes()):
        path.write_bytes(content)
        with pytest.raises(BadArgument, match="does not hold tie groups"):
            TieGroups.load(path)


def test_a_file_with_pickled_objects_is_refused(tmp_path):
    arrays = {name: np.array([{}], dtype=object) for name in ("sizes", "relevant", "starts", "labels", "bits")}
    np.savez(tmp_path / "run.npz", **arrays)
    with pytest.raises(BadArgument, match="does not hold tie groups"):
        TieGroups.load(tmp_path / "run.npz")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"relevant": np.array([1, 3])}, "more relevant photos"),
        ({"relevant": np.array([-1, 1])}, "more relevant photos"),
        ({"relevant": np.array([1])}, "at least one group"),
        ({"starts": np.array([0, 1])}, "at least one group"),
        ({"starts": np.array([0, 2, 2]), "labels": np.array([0, 0])}, "at least one group"),
        ({"starts": np.array([0, 1, 2]), "labels": np.array([0, 0])}, "the same gallery"),
        ({"sizes": np.array([0, 0]), "relevant": np.array([0, 0])}, "from 0 to 0 photos"),
        ({"bits": 8}, "at least one group"),
    ],
)
def test_counts_that_no_ranking_can_have_are_refused(tie_groups, change, message):
    with pytest.raises(BadArgument, match=message):
        dataclasses.replace(tie_groups([(3, 1), (2, 2)]), **change)


def test_merging_joins_equally_relevant_neighbours_within_one_query(tie_groups):
    merged = tie_groups(
        [(1, 0), (2, 0), (1, 1), (0, 0), (2, 2), (3, 1), (2, 1)],
        [(4, 0), (0, 0), (5, 0), (2, 2)],
    ).merged()
    assert merged.sizes.tolist() == [3, 3, 3, 2, 9, 2]
    assert merged.relevant.tolist() == [0, 3, 1, 1, 0, 2]
    assert merged.starts.tolist() == [0, 4, 6]


@given(st.lists(layouts, min_size=1, max_size=3), st.integers(1, 20))
def test_merged_groups_score_the_same(tie_groups, queries, depth):
    groups = tie_groups(*padded(*queries))
    merged = groups.merged()
    assert mean_average_precision(merged).value == pytest.approx(mean_average_precision(groups).value, abs=1e-12)
    assert map_at(merged, depth).value == pytest.approx(map_at(groups, depth).value, abs=1e-12)
    assert precision_at(merged, depth).value == pytest.approx(precision_at(groups, depth).value, abs=1e-12)
    assert rank_curve(merged).precision == pytest.approx(rank_curve(groups).precision, abs=1e-12)


def test_labels_that_never_meet_are_an_error(tie_groups):
    with pytest.raises(BadArgument, match="same categories"):
        tie_groups([(3, 0)]).answerable()


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
