"""Batches match both views, losses equal their formulas, and the loop descends."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional

from sketchhash.baselines.deep.networks import Branches, UnitLength
from sketchhash.baselines.deep.shape3d import Shape3D
from sketchhash.baselines.deep.training import (
    CachedFeatures,
    CategorySampler,
    Loader,
    TrainingLoop,
    contrastive,
    exponential,
    pretrain_on_categories,
    same_category,
    seeded,
    triplet_hinge,
    triplets,
)
from sketchhash.baselines.method import Views
from sketchhash.errors import BadArgument, TrainingDiverged


@pytest.fixture
def loader():
    """Four categories as clouds of features, at different places in each view."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(4).repeat_interleave(6)
    rows = [torch.arange(first, first + 6) for first in range(0, 24, 6)]
    views = [
        torch.randn(4, 10, generator=generator)[labels] + 0.3 * torch.randn(2, 24, 10, generator=generator)
        for _ in range(2)
    ]
    return Loader(CachedFeatures(views[0]), CachedFeatures(views[1]), CategorySampler(rows, rows), generator)


def test_descent_finds_the_least_squares_and_reports_every_step():
    x = torch.randn(50, 3, generator=torch.Generator().manual_seed(0))
    y = x @ torch.tensor([1.0, -2.0, 0.5])
    net = nn.Linear(3, 1)
    losses = TrainingLoop(epochs=40, learning_rate=0.2, weight_decay=0.0).run(
        net, 5, lambda: ((net(x)[:, 0] - y) ** 2).mean()
    )
    assert len(losses) == 200
    assert losses[-1] < 1e-3 < losses[0]
    assert not net.training


def test_steps_start_and_end_small():
    weight = nn.Parameter(torch.zeros(1))
    module, places = nn.ParameterList([weight]), []

    def loss():
        places.append(weight.item())
        return weight.sum()

    TrainingLoop(epochs=1, learning_rate=1.0, weight_decay=0.0).run(module, 100, loss)
    steps = [before - after for before, after in pairwise(places)]
    assert steps[0] < 0.1 and steps[-1] < 0.01
    assert max(steps) == pytest.approx(1, abs=0.05)


def test_a_loss_that_is_no_number_stops_before_it_reaches_the_weights():
    weight = nn.Parameter(torch.ones(1))
    values = iter([1.0, 1.0, 1.0, float("nan")])
    with pytest.raises(TrainingDiverged, match=r"became nan in epoch 2 of 3, step 2 of 2, .* at most 0\.1\."):
        TrainingLoop(epochs=3, learning_rate=0.1).run(
            nn.ParameterList([weight]), 2, lambda: weight.sum() * next(values)
        )
    assert weight.isfinite()


def test_nothing_is_trained_in_no_epochs():
    net = nn.Linear(2, 1)
    before = net.weight.clone()
    assert TrainingLoop(epochs=0).run(net, 10, lambda: pytest.fail("a step was taken")) == []
    assert torch.equal(net.weight, before)


def test_a_seed_governs_torch_and_leaves_it_as_it_was():
    before = torch.get_rng_state()
    drawn = []
    for _ in range(2):
        with seeded(3) as generator:
            drawn.append(torch.cat([torch.rand(2), torch.rand(2, generator=generator)]))
    assert torch.equal(*drawn)
    assert torch.equal(torch.get_rng_state(), before)


def test_kept_features_are_drawn_from_all_views_of_the_rows_asked_for():
    cached = CachedFeatures(torch.arange(12, dtype=torch.float16).reshape(2, 6, 1))
    drawn = cached.draw(torch.full((40,), 4), torch.Generator().manual_seed(0))
    assert drawn.dtype == torch.float32
    assert set(drawn.flatten().tolist()) == {4, 10}


def test_names_bring_categories_together_across_the_views(loader):
    with seeded(0):
        network = Branches(*(nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 8)) for _ in range(2)))
        pretrain_on_categories(network, loader, 8, epochs=150)
    labels = torch.arange(4).repeat_interleave(6)
    photos, sketches = map(functional.normalize, network(loader.photos.features[0], loader.sketches.features[0]))
    assert (labels[(sketches @ photos.T).argmax(dim=1)] == labels).float().mean() > 0.9


def test_unit_length_keeps_directions():
    values = torch.tensor([[3.0, 4.0], [0.0, -2.0]])
    torch.testing.assert_close(UnitLength()(values), torch.tensor([[0.6, 0.8], [0.0, -1.0]]))


some_labels = st.lists(st.integers(0, 30), min_size=1, max_size=60).map(np.array)


def views(photo_labels, sketch_labels):
    return Views([], np.asarray(photo_labels), [], np.asarray(sketch_labels))


@given(some_labels, some_labels, st.integers(0, 100))
def test_a_batch_shows_one_category_in_both_views_at_each_place(photo_labels, sketch_labels, seed):
    shared = np.intersect1d(photo_labels, sketch_labels)
    if len(shared) < 2:
        with pytest.raises(BadArgument, match="two categories"):
            CategorySampler.of(views(photo_labels, sketch_labels))
        return
    batch = CategorySampler.of(views(photo_labels, sketch_labels)).draw(torch.Generator().manual_seed(seed))
    expected = shared[batch.labels]
    np.testing.assert_array_equal(photo_labels[batch.photos], expected)
    np.testing.assert_array_equal(sketch_labels[batch.sketches], expected)
    assert len(set(expected)) == min(16, len(shared))


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_triplets_are_all_those_with_a_positive_of_the_category_and_a_negative_of_another(labels):
    found = {tuple(row) for row in triplets(torch.tensor(labels)).tolist()}
    places = range(len(labels))
    assert found == {
        (s, p, n) for s in places for p in places for n in places if labels[s] == labels[p] and labels[s] != labels[n]
    }


def test_categories_are_drawn_evenly_however_large_they_are():
    batches = CategorySampler.of(views([0] * 90 + [1] * 3 + list(range(2, 20)), range(20)))
    generator = torch.Generator().manual_seed(0)
    drawn = torch.cat([batches.draw(generator).labels for _ in range(200)]).bincount()
    assert drawn.max() < 1.3 * drawn.min()


def test_an_epoch_shows_as_many_pictures_as_the_larger_view_has():
    batches = CategorySampler.of(views(np.arange(640) % 20, np.arange(128) % 20))
    assert batches.batches_per_epoch == 10


LABELS = torch.tensor([0, 0, 1, 2, 2])


@pytest.fixture
def embeddings():
    """Photos and sketches, close enough for every branch of a hinge."""
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
