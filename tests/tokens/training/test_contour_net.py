from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch

from sketchhash.errors import BadArgument, NotFitted
from sketchhash.tokens.contour_net import ContourNet
from sketchhash.tokens.peers import GradientDetector
from sketchhash.tokens.training import contour_net as module
from sketchhash.tokens.training.contour_layers import Plan, TrainedNetwork, build, fold
from sketchhash.tokens.training.contour_net import ContourNetTrainer, ink_shift

TINY = Plan(widths=(4, 4, 4, 4, 4), repeats=(0, 1, 0, 0, 1), merged=4, steps=6, batch=2, crop=32)


@pytest.fixture
def trainer(photos, tmp_path):
    untraced = [photos[0].photo[:, ::-1].copy()]
    return ContourNetTrainer(photos, untraced, GradientDetector(), TINY, seed=0, work=tmp_path / "work")


def labelled(trainer):
    assert list(trainer.label()) == list(range(trainer.labels))
    return trainer


def trained_network(seed=0):
    """A network whose normalisation does something."""
    torch.manual_seed(seed)
    network = TrainedNetwork(TINY)
    with torch.no_grad():
        for _ in range(3):
            network(torch.rand(2, 3, 64, 64) - 0.5)
    return network.eval()


def test_the_graph_scores_as_the_trained_network_does():
    network = trained_network()
    photo = np.random.default_rng(0).integers(0, 256, (64, 96, 3), dtype=np.uint8)
    with torch.no_grad():
        expected = torch.sigmoid(network(torch.from_numpy(photo).permute(2, 0, 1)[None] / 255 - 0.5) + 0.25)[0, 0]
    scores = ContourNet(build(fold(network), TINY, shift=0.25)).detect(photo)
    np.testing.assert_allclose(scores, expected, atol=2e-3)  # weights have 16 bits


def test_training_lowers_the_loss_and_ends_with_a_network(trainer, photos):
    longer = labelled(replace(trainer, plan=replace(TINY, steps=60)))
    losses = [loss for _, loss in longer.train()]
    assert len(losses) == 60
    assert np.mean(losses[-10:]) < np.mean(losses[:10])
    scores = longer.network().detect(photos[0].photo)
    assert scores.shape == photos[0].photo.shape[:2]


def test_a_stopped_training_continues_to_the_same_network(trainer, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_SAVED_EVERY", 2)
    whole = labelled(replace(trainer, work=tmp_path / "whole"))
    list(whole.train())
    steps = labelled(trainer).train()
    for _ in range(3):
        next(steps)
    steps.close()
    assert [step for step, _ in trainer.train()] == [3, 4, 5, 6]
    assert trainer.network().fingerprint == whole.network().fingerprint


def test_labels_are_made_once(trainer, monkeypatch):
    labelled(trainer)
    monkeypatch.setattr(GradientDetector, "detect", None)
    labelled(trainer)


def test_nothing_is_returned_before_its_time(trainer):
    with pytest.raises(NotFitted, match="5 of 5 photos have no label yet"):
        next(trainer.train())
    with pytest.raises(NotFitted, match="0 of 6 steps are done"):
        trainer.network()


def test_trainers_that_differ_do_not_share_files(trainer):
    others = [replace(trainer, seed=1), replace(trainer, plan=replace(TINY, steps=7)), replace(trainer, untraced=[])]
    assert len({each.folder for each in [trainer, *others]}) == 4


@dataclass(frozen=True)
class Shifted:
    """The gradient detector with its logits moved."""

    shift: float
    name: str = "shifted"
    fingerprint: str = "shifted"

    def detect(self, photo):
        scores = GradientDetector().detect(photo).astype(np.float64).clip(1e-6, 1 - 1e-6)
        return (1 / (1 + np.exp(-np.log(scores / (1 - scores)) - self.shift))).astype(np.float32)


def test_the_shift_makes_up_for_scores_that_are_too_high_or_too_low(photos):
    shift = ink_shift(GradientDetector(), photos)
    for too_high in (-0.5, 0.5):
        assert ink_shift(Shifted(too_high), photos) == pytest.approx(shift - too_high, abs=0.05)


@pytest.mark.parametrize("wrong", [{"widths": (4, 4)}, {"steps": 0}, {"crop": 48}, {"batch": 0}])
def test_a_plan_that_cannot_be_followed_is_refused(wrong):
    with pytest.raises(BadArgument):
        replace(TINY, **wrong)
