"""Losses equal their formulas, pair by pair."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.baselines.deep.batches import same_category
from sketchhash.baselines.deep.losses import contrastive, exponential, triplet_hinge
from sketchhash.baselines.deep.shape3d import Shape3D

LABELS = torch.tensor([0, 0, 1, 2, 2])


@pytest.fixture
def embeddings():
    """Give photos and sketches, near enough to one another for every branch of a hinge."""
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(5, 3, generator=generator, dtype=torch.float64) for _ in range(2)]


def halves(pairs, loss):
    """Average the means over same and different pairs, each (i, j)."""
    by_kind = {True: [], False: []}
    for i, j in pairs:
        same = bool(LABELS[i] == LABELS[j])
        by_kind[same].append(loss(i, j, same))
    return sum(sum(values) / len(values) for values in by_kind.values()) / 2


def test_contrastive_loss_is_its_formula_on_every_pair(embeddings):
    photos, sketches = embeddings

    def one(i, j, same):
        distance = math.dist(sketches[i], photos[j])
        return distance**2 if same else max(0.0, 2.0 - distance) ** 2

    expected = halves([(i, j) for i in range(5) for j in range(5)], one)
    found = contrastive(torch.cdist(sketches, photos), same_category(LABELS), margin=2.0)
    assert found.item() == pytest.approx(expected)


def test_exponential_loss_is_its_formula_on_every_pair(embeddings):
    photos, sketches = embeddings

    def one(i, j, same):
        distance = float((sketches[i] - photos[j]).abs().sum())
        return distance**2 / 0.2 if same else 10 * math.exp(-2.77 * distance / 10)

    expected = halves([(i, j) for i in range(5) for j in range(5)], one)
    found = exponential(torch.cdist(sketches, photos, p=1), same_category(LABELS), near=0.2, far=10.0)
    assert found.item() == pytest.approx(expected)


def test_3d_shape_sums_the_pairs_within_both_views_and_across(embeddings):
    photos, sketches = embeddings

    def between(first, second):
        def one(i, j, same):
            distance = float((first[i] - second[j]).abs().sum())
            return distance**2 / 0.2 if same else 10 * math.exp(-2.77 * distance / 10)

        return one

    once = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    expected = halves(once, between(sketches, sketches)) + halves(once, between(photos, photos))
    expected += halves([(i, j) for i in range(5) for j in range(5)], between(sketches, photos))
    assert Shape3D(64).loss(photos, sketches, LABELS).item() == pytest.approx(expected)


def test_triplet_loss_is_its_formula_on_every_triplet(embeddings):
    photos, sketches = embeddings
    values = [
        max(0.0, 0.5 + math.dist(sketches[s], photos[p]) ** 2 - math.dist(sketches[s], photos[n]) ** 2)
        for s in range(5)
        for p in range(5)
        for n in range(5)
        if LABELS[s] == LABELS[p] and LABELS[s] != LABELS[n]
    ]
    assert 0.0 in values
    found = triplet_hinge(sketches, photos, LABELS, margin=0.5)
    assert found.item() == pytest.approx(sum(values) / len(values))


@given(st.integers(0, 1000))
def test_gradients_stay_finite_where_pictures_coincide(seed):
    values = torch.randn(4, 3, generator=torch.Generator().manual_seed(seed)).repeat(2, 1).requires_grad_()
    labels = torch.tensor([0, 0, 1, 1, 0, 1, 1, 0])
    loss = contrastive(torch.cdist(values, values), same_category(labels), 1.0) + triplet_hinge(
        values, values, labels, 0.3
    )
    (loss + Shape3D(3).loss(values, values, labels)).backward()
    assert torch.isfinite(values.grad).all()
