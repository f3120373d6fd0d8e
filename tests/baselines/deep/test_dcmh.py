"""DCMH's loss, gradients and turns."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional

from sketchhash.baselines.deep.dcmh import Side, Weights, batch_loss, signs


def side(count, seed, bits=4):
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(count, bits, generator=generator, dtype=torch.float64)
    labels = torch.randint(0, 3, (count,), generator=generator)
    return Side(torch.nn.Identity(), None, torch.arange(count), labels, values, signs(values))


def whole_loss(photos, sketches, values):
    """Sum what the published objective has of the photos, number by number."""
    total = 0.0
    for i, f in enumerate(values.tolist()):
        for j, g in enumerate(sketches.values.tolist()):
            theta = sum(a * b for a, b in zip(f, g, strict=True)) / 2
            total += math.log(1 + math.exp(theta)) - (photos.labels[i] == sketches.labels[j]).item() * theta
        total += 2.0 * sum((b - a) ** 2 for a, b in zip(f, photos.codes[i].tolist(), strict=True))
    return total + 0.5 * sum(sum(column) ** 2 for column in zip(*values.tolist(), strict=True))


def test_the_loss_of_everything_at_once_is_the_published_one():
    photos, sketches = side(6, 0), side(5, 1)
    fresh = torch.randn(6, 4, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    expected = whole_loss(photos, sketches, fresh)
    found = batch_loss(fresh, torch.arange(6), photos, sketches, Weights(quantisation=2.0, balance=0.5))
    assert found.item() == pytest.approx(expected / 30)
    torch.testing.assert_close(photos.values, fresh)


def test_gradients_are_the_differences_of_the_published_loss():
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


def test_the_balance_of_a_batch_stands_for_that_of_its_view():
    photos, sketches = side(6, 0), side(5, 1)
    photos.values[:] = 0.5  # each batch is as unbalanced as the whole
    some, all_of_it = (
        batch_loss(photos.values[places], places, photos, sketches, Weights(0.0, 1.0))
        - batch_loss(photos.values[places], places, photos, sketches, Weights(0.0, 0.0))
        for places in (torch.tensor([2, 3]), torch.arange(6))
    )
    assert some.item() == pytest.approx(all_of_it.item())
    assert all_of_it.item() == pytest.approx(4 * (6 * 0.5) ** 2 / 30)


def test_the_likelihoods_gradient_is_the_published_one():
    photos, sketches = side(6, 0), side(5, 1)
    fresh = photos.values.clone().requires_grad_()
    batch_loss(fresh, torch.arange(6), photos, sketches, Weights(0.0, 0.0)).backward()
    theta = fresh.detach() @ sketches.values.T / 2
    similar = (photos.labels[:, None] == sketches.labels[None, :]).double()
    torch.testing.assert_close(fresh.grad * 30, (theta.sigmoid() - similar) @ sketches.values / 2)


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
