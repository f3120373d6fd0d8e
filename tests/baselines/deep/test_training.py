"""The loop descends, the seed decides, and names are a good start."""

from itertools import pairwise

import pytest
import torch
from torch import nn
from torch.nn import functional

from sketchhash.baselines.deep.batches import CategoryBatches
from sketchhash.baselines.deep.naming import learn_names
from sketchhash.baselines.deep.network_method import Branches, UnitLength
from sketchhash.baselines.deep.training import Descent, Kept, Lesson, seeded


@pytest.fixture
def lesson():
    """Give four categories as clouds of features, elsewhere in either view."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(4).repeat_interleave(6)
    rows = [torch.arange(first, first + 6) for first in range(0, 24, 6)]
    views = [
        torch.randn(4, 10, generator=generator)[labels] + 0.3 * torch.randn(2, 24, 10, generator=generator)
        for _ in range(2)
    ]
    return Lesson(Kept(views[0]), Kept(views[1]), CategoryBatches(rows, rows), generator)


def test_descent_finds_the_least_squares_and_reports_every_step():
    x = torch.randn(50, 3, generator=torch.Generator().manual_seed(0))
    y = x @ torch.tensor([1.0, -2.0, 0.5])
    net = nn.Linear(3, 1)
    losses = Descent(epochs=40, learning_rate=0.2, weight_decay=0.0).run(
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

    Descent(epochs=1, learning_rate=1.0, weight_decay=0.0).run(module, 100, loss)
    steps = [before - after for before, after in pairwise(places)]
    assert steps[0] < 0.1 and steps[-1] < 0.01
    assert max(steps) == pytest.approx(1, abs=0.05)


def test_nothing_is_trained_in_no_epochs():
    net = nn.Linear(2, 1)
    before = net.weight.clone()
    assert Descent(epochs=0).run(net, 10, lambda: pytest.fail("a step was taken")) == []
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
    kept = Kept(torch.arange(12, dtype=torch.float16).reshape(2, 6, 1))
    drawn = kept.draw(torch.full((40,), 4), torch.Generator().manual_seed(0))
    assert drawn.dtype == torch.float32
    assert set(drawn.flatten().tolist()) == {4, 10}


def test_names_bring_categories_together_across_the_views(lesson):
    with seeded(0):
        network = Branches(*(nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 8)) for _ in range(2)))
        learn_names(network, lesson, 8, epochs=150)
    labels = torch.arange(4).repeat_interleave(6)
    photos, sketches = map(functional.normalize, network(lesson.photos.features[0], lesson.sketches.features[0]))
    assert (labels[(sketches @ photos.T).argmax(dim=1)] == labels).float().mean() > 0.9


def test_unit_length_keeps_directions():
    values = torch.tensor([[3.0, 4.0], [0.0, -2.0]])
    torch.testing.assert_close(UnitLength()(values), torch.tensor([[0.6, 0.8], [0.0, -1.0]]))
