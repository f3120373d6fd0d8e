import dataclasses
import json

import numpy as np
import pytest

from sketchhash.benchmark import (
    by_chance,
    mean_average_precision,
    pooled_radius_curve,
    precision_within,
    score,
)


@pytest.fixture
def groups(tie_groups):
    return tie_groups([(0, 0), (2, 1), (3, 2)], [(1, 1), (4, 1), (0, 0)], [(5, 0), (0, 0), (0, 0)], bits=2)


def test_one_call_gives_every_metric_of_codes(groups):
    scores = score(groups, seed=3)
    assert scores.mean_average_precision == mean_average_precision(groups)
    assert scores.seeded == mean_average_precision(by_chance(groups, np.random.default_rng(3)))
    assert scores.pessimistic.value < scores.mean_average_precision.value < scores.optimistic.value
    assert scores.precision_at_200.is_short
    assert scores.precision_at_200.value == pytest.approx((3 + 2) / 2 / 200)
    assert scores.radius.precision_within_2 == precision_within(groups, 2)
    assert scores.radius.pooled_curve == pooled_radius_curve(groups)


def test_rankings_of_vectors_have_no_radius(groups):
    assert score(groups.merged()).radius is None


def test_json_holds_every_number_under_its_name(groups):
    scores = score(groups)
    stored = json.loads(scores.to_json())
    assert stored.keys() == {field.name for field in dataclasses.fields(scores)}
    assert stored["mean_average_precision"] == dataclasses.asdict(scores.mean_average_precision)
    assert stored["mean_average_precision"]["skipped"] == 1
    assert tuple(stored["radius"]["pooled_curve"]["precision"]) == scores.radius.pooled_curve.precision
    assert [category["label"] for category in stored["categories"]] == [0]
