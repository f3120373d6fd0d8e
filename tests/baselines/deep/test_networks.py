"""Layers have the shapes of the papers."""

import pytest
import torch
from torch import nn

from sketchhash.baselines.deep.networks import alexnet_trunk, google_net, shape_net, sketch_a_net
from sketchhash.baselines.deep.siamese_alexnet import SiameseAlexNet


def shapes(net, pixels):
    """Return the shape after each named layer, without the batch."""
    found = {}
    with torch.no_grad():
        for name, layer in net.eval().named_children():
            pixels = layer(pixels)
            found[name] = tuple(pixels.shape[1:])
    return found


@pytest.mark.parametrize("side, conv1, pool5", [(225, 71, 7), (129, 39, 3)])
def test_sketch_a_net_reaches_512_features_through_the_published_maps(side, conv1, pool5):
    found = shapes(sketch_a_net(512, side), torch.zeros(1, 1, side, side))
    assert found["conv1"] == (64, conv1, conv1)
    assert found["pool5"] == (256, pool5, pool5)
    assert found["fc6"] == found["fc7"] == (512,)


def test_sketch_a_net_has_the_published_maps_in_between():
    found = shapes(sketch_a_net(512, 225), torch.zeros(1, 1, 225, 225))
    assert [found[name] for name in ("pool1", "conv2", "pool2", "conv5")] == [
        (64, 35, 35),
        (128, 31, 31),
        (128, 15, 15),
        (256, 15, 15),
    ]


def test_3d_shape_has_the_published_maps():
    found = shapes(shape_net(64), torch.zeros(1, 1, 100, 100))
    assert [found[name] for name in ("pool1", "pool2", "pool3", "flatten", "fc")] == [
        (32, 22, 22),
        (64, 8, 8),
        (256, 3, 3),
        (2304,),
        (64,),
    ]


def test_alexnet_pools_to_6_by_6_and_the_method_knows_it():
    found = shapes(alexnet_trunk(), torch.zeros(1, 1, 224, 224))
    assert found["conv1"] == (64, 55, 55)
    assert found["pool5"] == (256, 6, 6)
    assert found["flatten"] == (SiameseAlexNet(4096).pool5,)


@pytest.mark.parametrize("side", [96, 100, 130, 227])
def test_alexnet_knows_its_features_at_any_side(side):
    found = shapes(alexnet_trunk(), torch.zeros(1, 3, side, side))
    assert found["flatten"] == (SiameseAlexNet(4096, side=side).pool5,)


@pytest.mark.parametrize("size", [1024, 100, 37])
@pytest.mark.parametrize("width", [1.0, 0.2])
def test_googlenet_gives_the_features_asked_for_at_any_width(size, width):
    with torch.no_grad():
        assert google_net(1, size, width).eval()(torch.zeros(2, 1, 64, 64)).shape == (2, size)


def test_googlenet_at_full_width_is_the_published_one():
    net = google_net(3, 1024, 1.0)
    convolved = sum(layer.weight.numel() for layer in net.modules() if isinstance(layer, nn.Conv2d))
    assert convolved == 5_966_272  # counted from the published table, without biases


def test_weights_and_pictures_share_the_fast_layout():
    net = sketch_a_net(512, 129)
    ink = net[0](torch.zeros(2, 1, 129, 129))
    assert ink.is_contiguous(memory_format=torch.channels_last)
