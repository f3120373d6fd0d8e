import numpy as np
import pytest
import torch

from sketchhash.datasets import draw_split, synthetic
from sketchhash.dsh.export import Weights, export_model
from sketchhash.dsh.networks import build_network, network_spec
from sketchhash.dsh.recipe import load_recipe
from sketchhash.dsh.runs import Job
from sketchhash.dsh.warm_start import start_from
from sketchhash.errors import IncompatibleModel
from sketchhash.model import CardFacts

WORLD = synthetic.load(3, 3, categories=["apple", "cat", "key", "umbrella"], size=96)
SPEC = network_spec("tiny", 16)


@pytest.fixture(scope="module")
def sketches():
    return torch.from_numpy(np.random.default_rng(0).integers(0, 256, (24, 1, 48, 48), dtype=np.uint8))


@pytest.fixture(scope="module")
def teacher(sketches):
    """Return a network whose normalisations have seen data."""
    network = build_network(SPEC, seed=1)
    network.c2.train()
    for _ in range(20):
        network.c2.pool3(sketches)
    return network.eval()


@pytest.fixture(scope="module", params=list(Weights))
def graph(teacher, tmp_path_factory, request):
    folder = tmp_path_factory.mktemp("model") / "model"
    job = Job(WORLD, draw_split(WORLD, queries=1), load_recipe("tiny"), 16)
    facts = CardFacts(summary="A test.", data=(), protocol="None.")
    export_model(teacher, job, folder, facts, {}, request.param)
    return folder / "sketch.onnx"


@pytest.mark.slow
def test_the_trunk_computes_what_that_of_the_model_computes(teacher, graph, sketches):
    learner = build_network(SPEC, seed=2)
    start_from(learner.c2, graph, sketches)
    with torch.inference_mode():
        wanted = teacher.c2.pool3(sketches)
        torch.testing.assert_close(learner.c2.pool3(sketches), wanted, rtol=1e-2, atol=1e-2)


@pytest.mark.slow
def test_a_trunk_that_does_not_learn_on_computes_the_same(teacher, graph, sketches):
    learner = build_network(SPEC, seed=2)
    start_from(learner.c2, graph, None)
    learner.eval()
    with torch.inference_mode():
        wanted = teacher.c2.pool3(sketches)
        torch.testing.assert_close(learner.c2.pool3(sketches), wanted, rtol=1e-2, atol=1e-2)


@pytest.mark.slow
def test_layers_behind_the_trunk_begin_anew(graph, sketches):
    fresh, learner = build_network(SPEC, seed=2), build_network(SPEC, seed=2)
    start_from(learner.c2, graph, sketches)
    for layer in ("fc_a", "fc_b"):
        torch.testing.assert_close(getattr(learner.c2, layer).weight, getattr(fresh.c2, layer).weight)


@pytest.mark.slow
def test_normalisation_by_batch_starts_where_the_model_stopped(graph, sketches):
    learner = build_network(SPEC, seed=2)
    start_from(learner.c2, graph, sketches)
    with torch.inference_mode():
        before = learner.c2.pool3(sketches)
        learner.c2.train()
        torch.testing.assert_close(learner.c2.pool3(sketches), before, rtol=1e-2, atol=1e-2)


@pytest.mark.slow
def test_filters_keep_the_length_they_would_have_started_with(graph, sketches):
    fresh, learner = build_network(SPEC, seed=2), build_network(SPEC, seed=2)
    start_from(learner.c2, graph, sketches)
    lengths = [net.c2.trunk.conv1.weight.flatten(1).norm(dim=1) for net in (fresh, learner)]
    torch.testing.assert_close(lengths[1], lengths[0])


@pytest.mark.slow
def test_a_network_of_another_size_is_refused(graph, sketches):
    with pytest.raises(IncompatibleModel, match="must be the model of a network of the same size"):
        start_from(build_network(network_spec("compact", 16), 0, pretrained=False).c2, graph, sketches)


def test_a_file_that_is_no_graph_is_refused(tmp_path, sketches):
    (tmp_path / "sketch.onnx").write_bytes(b"not a graph")
    with pytest.raises(IncompatibleModel, match="cannot be read as an ONNX graph"):
        start_from(build_network(SPEC, 0).c2, tmp_path / "sketch.onnx", sketches)
