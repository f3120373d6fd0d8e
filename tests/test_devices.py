"""The device is chosen once, and everything that learns goes there.

The tests have no card: torch's device without content stands in for one, which refuses values of the processor.
"""

import pytest
import torch
from torch import nn

from sketchhash import devices
from sketchhash.baselines.deep.networks import Colour
from sketchhash.baselines.deep.pictures import augment
from sketchhash.baselines.deep.training import AugmentedPixels, CachedFeatures, CategorySampler, Loader, TrainingLoop
from sketchhash.devices import available, device, on_device, using
from sketchhash.dsh.augment import augment_ink, augment_photos
from sketchhash.errors import BadArgument


@pytest.fixture
def card(monkeypatch):
    monkeypatch.setattr(devices, "available", lambda: ("cpu", "meta"))
    with using("meta") as chosen:
        yield chosen


@pytest.fixture
def two_cuda_cards(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


def generator():
    return torch.Generator().manual_seed(0)


def test_a_device_is_used_inside_and_forgotten_outside(card):
    with using("cpu"):
        assert device() == torch.device("cpu")
        with using(None):
            assert device() == torch.device("cpu")
    assert device() == card


def test_a_device_that_is_not_there_is_answered_with_those_that_are(two_cuda_cards):
    with pytest.raises(BadArgument, match=r"no device named 'cuda:2' here. This machine has: cpu, cuda:0, cuda:1\."):
        using("cuda:2").__enter__()
    with pytest.raises(BadArgument, match="no device named 'gpu'"):
        using("gpu").__enter__()


def test_a_machine_without_cards_has_no_cuda(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert device() == torch.device("cpu")
    assert not [name for name in available() if name.startswith("cuda")]
    with pytest.raises(BadArgument, match=r"no device named 'cuda' here. This machine has: cpu"):
        using("cuda").__enter__()


def test_each_process_of_torchrun_has_a_card_of_its_own(two_cuda_cards, monkeypatch):
    assert device() == torch.device("cuda", 0)
    with using("cuda:1") as chosen:
        assert chosen == torch.device("cuda", 1)
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert device() == torch.device("cuda", 1)
    with using("cuda") as chosen:
        assert chosen == torch.device("cuda", 1)
    with pytest.raises(BadArgument, match="Type: --device cuda"):
        using("cuda:0").__enter__()


def test_pictures_are_augmented_where_they_are(card):
    ink, photos = (torch.zeros(4, channels, 40, 40, dtype=torch.uint8) for channels in (1, 3))
    for change in (augment_ink, augment):
        assert change(on_device(ink), generator()).device == card
    for change in (augment_photos, augment):
        assert change(on_device(photos), generator()).device == card
    assert Colour()(on_device(photos)).device == card


def test_batches_of_compared_methods_go_to_the_device(card):
    rows = [torch.arange(3), torch.arange(3, 6)]
    pixels, features = AugmentedPixels(torch.zeros(6, 1, 8, 8, dtype=torch.uint8)), CachedFeatures(torch.zeros(2, 6, 5))
    drawn = Loader(pixels, features, CategorySampler(rows, rows), generator()).draw()
    assert [each.device for each in drawn] == [card] * 3


def test_what_learns_goes_to_the_device(card):
    layer = nn.Linear(2, 1)
    TrainingLoop(epochs=0).run(layer, 1, lambda: layer.weight.sum())
    assert layer.weight.device == card
