"""DCMH's loss, gradients and turns."""

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from torch.nn import functional

from sketchhash.baselines.deep.dcmh import ViewState, Weights, batch_loss, imbalance, signs, similar_share


def side(count, seed, bits=4):
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(count, bits, generator=generator, dtype=torch.float64)
    labels = torch.randint(0, 3, (count,), generator=generator)
    return ViewState(torch.nn.Identity(), None, torch.arange(count), labels, values, signs(values))


def pair_weights(photos, sketches):
    """Make similar pairs weigh half of everything, and the others the other half; their mean is 1 / 2 each."""
    similar = (photos.labels[:, None] == sketches.labels[None, :]).double()
    return similar * similar.numel() / (2 * similar.sum()) + (1 - similar) * similar.numel() / (2 * (1 - similar).sum())


def whole_loss(photos, sketches, values):
    """Sum what the objective has of the photos, number by number."""
    total, weights = 0.0, pair_weights(photos, sketches)
    for i, f in enumerate(values.tolist()):
        for j, g in enumerate(sketches.values.tolist()):
            theta = sum(a * b for a, b in zip(f, g, strict=True)) / 2
            is_similar = (photos.labels[i] == sketches.labels[j]).item()
            total += weights[i, j].item() * (math.log(1 + math.exp(theta)) - is_similar * theta)
        total += 2.0 * sum((b - a) ** 2 for a, b in zip(f, photos.codes[i].tolist(), strict=True))
    return total + 0.5 * sum(sum(column) ** 2 for column in zip(*values.tolist(), strict=True))


def test_the_loss_of_everything_at_once_is_the_objective():
    photos, sketches = side(6, 0), side(5, 1)
    fresh = torch.randn(6, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    expected = whole_loss(photos, sketches, fresh)
    found = batch_loss(fresh, torch.arange(6), photos, sketches, Weights(quantisation=2.0, balance=0.5))
    assert found.item() == pytest.approx(expected / 30)
    torch.testing.assert_close(photos.values, fresh)


def test_gradients_are_the_differences_of_the_objective():
    step, weights = 1e-6, Weights(quantisation=2.0, balance=0.5)
    fresh = side(6, 0).values.clone().requires_grad_()
    batch_loss(fresh, torch.arange(6), side(6, 0), side(5, 1), weights).backward()
    numeric = torch.zeros(6, 4, dtype=torch.float64)
    for place in np.ndindex(6, 4):
        ends = []
        for sign in (1, -1):
            values = side(6, 0).values.clone()
            values[place] += sign * step
            ends.append(whole_loss(side(6, 0), side(5, 1), values))
        numeric[place] = (ends[0] - ends[1]) / (2 * step)
    torch.testing.assert_close(fresh.grad * 30, numeric, rtol=1e-5, atol=1e-6)


def test_batches_together_have_the_gradient_of_everything_at_once():
    def gradient(batches):
        values, learner, other = side(6, 0).values.clone().requires_grad_(), side(6, 0), side(5, 1)
        for places in batches:
            (batch_loss(values[places], places, learner, other, Weights(2.0, 0.0)) * len(places) / 6).backward()
        return values.grad

    parts = torch.tensor([4, 1]), torch.tensor([0, 2, 3, 5])
    torch.testing.assert_close(gradient(parts), gradient([torch.arange(6)]))


def test_batches_tell_the_balance_of_their_view_on_average():
    values = side(6, 0).values
    whole = (values.sum(dim=0) ** 2).sum()
    estimates = [imbalance(values[list(rows)], 6) for rows in combinations(range(6), 3)]
    torch.testing.assert_close(torch.stack(estimates).mean(), whole)
    torch.testing.assert_close(imbalance(values, 6), whole)


def test_the_spread_of_a_balanced_view_is_hardly_punished():
    generator = torch.Generator().manual_seed(0)
    values = torch.randn(10_000, 8, generator=generator)
    values -= values.mean(dim=0)
    estimates = [imbalance(some, len(values)) / len(values) ** 2 for some in values.split(100)]
    assert abs(torch.stack(estimates).mean()) < 0.01  # the squared mean of a batch would be 8 / 100


def test_similar_pairs_are_counted_over_both_views():
    assert similar_share(torch.tensor([0, 0, 2]), torch.tensor([0, 1])) == pytest.approx(2 / 6)


def test_the_likelihoods_gradient_is_the_published_one_times_each_pairs_weight():
    photos, sketches = side(6, 0), side(5, 1)
    fresh = photos.values.clone().requires_grad_()
    batch_loss(fresh, torch.arange(6), photos, sketches, Weights(0.0, 0.0)).backward()
    theta = fresh.detach() @ sketches.values.T / 2
    similar = (photos.labels[:, None] == sketches.labels[None, :]).double()
    published = pair_weights(photos, sketches) * (theta.sigmoid() - similar)
    torch.testing.assert_close(fresh.grad * 30, published @ sketches.values / 2)


def test_large_values_do_not_overflow():
    photos, sketches = side(3, 0), side(3, 1)
    sketches.values *= 1e6
    assert torch.isfinite(batch_loss(photos.values.clone(), torch.arange(3), photos, sketches, Weights()))


def test_values_and_codes_in_turn_lower_the_loss():
    photos, sketches = side(12, 0), side(9, 1)
    losses = []
    for _ in range(60):
        for learner, other in ((photos, sketches), (sketches, photos)):
            fresh = learner.values.clone().requires_grad_()
            value = batch_loss(fresh, torch.arange(len(fresh)), learner, other, Weights(1.0, 0.1))
            value.backward()
            learner.values = (fresh - 5 * fresh.grad).detach()
            losses.append(value.item())
        for one in (photos, sketches):
            one.codes = signs(one.values)
    assert losses[-1] < 0.7 * losses[1]
    agreement = functional.normalize(photos.values) @ functional.normalize(sketches.values).T
    same = photos.labels[:, None] == sketches.labels[None, :]
    assert agreement[same].mean() > agreement[~same].mean() + 0.5


def test_the_sign_of_nothing_is_plus():
    np.testing.assert_array_equal(signs(torch.tensor([-0.1, 0.0, 3.0])), [-1, 1, 1])
