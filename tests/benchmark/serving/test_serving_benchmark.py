"""Drawers, their galleries and their figures; one short run of all together."""

import json
import socket
from time import perf_counter

import numpy as np
import pytest
import typer
from onnx import TensorProto, helper, numpy_helper
from typer.testing import CliRunner

from sketchhash.benchmark.serving import Figures, Pace, figures_table, fill_with_random_codes, measure
from sketchhash.benchmark.serving.drawers import Reply, draw_until, grow
from sketchhash.benchmark.serving.figures import Memory
from sketchhash.cli import bench_serve
from sketchhash.gallery import Gallery, Searcher
from sketchhash.imaging import Drawing
from sketchhash.model import InkInput, MadeWith, Manifest, Model, PhotoInput, write_model

BITS, SIZE = 32, 8


def network(name, shape):
    """Serialise values = flatten(input) · weights."""
    weights = np.random.default_rng(0).standard_normal((np.prod(shape), BITS)).astype(np.float32)
    nodes = [
        helper.make_node("Cast", [name], ["float"], to=TensorProto.FLOAT),
        helper.make_node("Flatten", ["float"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["values"]),
    ]
    inputs = [helper.make_tensor_value_info(name, TensorProto.UINT8, ["n", *shape])]
    outputs = [helper.make_tensor_value_info("values", TensorProto.FLOAT, ["n", BITS])]
    graph = helper.make_graph(nodes, "linear", inputs, outputs, [numpy_helper.from_array(weights, "weights")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9).SerializeToString()


@pytest.fixture
def model_folder(tmp_path):
    folder = tmp_path / "tiny"
    manifest = Manifest(
        name="tiny",
        bits=BITS,
        categories=("cat",),
        photos=PhotoInput(SIZE, (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
        ink=InkInput(SIZE, offset=0.0, scale=1.0, line_width=0.1, margin=0.05),
        tokens=None,
        made_with=MadeWith("0.1.0", "toy", "ab" * 32, 3, "cd" * 32, {}),
        scores={},
    )
    image, sketch = network("photos", (SIZE, SIZE, 3)), network("sketches", (SIZE, SIZE))
    write_model(folder, manifest, image_onnx=image, sketch_onnx=sketch, card="# tiny\n")
    return folder


@pytest.fixture
def gallery_file(tmp_path, model_folder):
    path = tmp_path / "random.gallery"
    with Gallery.create(path, Model.load(model_folder)) as gallery:
        fill_with_random_codes(gallery, 500)
    return path


def test_a_drawing_grows_by_so_many_points_until_it_is_whole():
    drawing = Drawing.from_json([[[0, 0], [1, 1], [2, 2]], [[5, 5], [6, 6]]])
    grown = list(grow(drawing, 2))
    assert [sum(map(len, strokes)) for strokes in grown] == [2, 4, 5]
    assert grown[1] == [[[0, 0], [1, 1], [2, 2]], [[5, 5]]]
    assert grown[-1] == drawing.to_json()


def test_random_codes_make_a_gallery_like_any_other(gallery_file):
    with Gallery.open(gallery_file) as gallery:
        assert gallery.info().photos == 500
        assert len({gallery.code(photo.id) for photo in gallery.photos()}) > 490
        hits = Searcher(gallery).search(np.ones(BITS), 500)
        assert 12 < np.mean([hit.distance for hit in hits]) < 20


def test_a_server_that_is_not_there_counts_as_no_answer():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    replies = draw_until(perf_counter() + 0.3, port, Pace(0.05, 12), np.random.default_rng(0))
    assert 1 <= len(replies) <= 7
    assert {reply.status for reply in replies} == {0}


def test_figures_count_errors_apart_from_times():
    replies = [Reply(0, seconds / 1000, 200) for seconds in range(1, 101)] + [Reply(0, 9, 503), Reply(0, 9, 0)]
    figures = Figures.of(replies, drawers=2, seconds=10, photos=7, memory=Memory(1_000_000, 3_000_000))
    assert (figures.requests, figures.per_second, figures.errors) == (102, 10.2, {503: 1, 0: 1})
    assert (figures.p50_seconds, figures.worst_seconds) == (pytest.approx(0.0505), pytest.approx(0.1))
    table = figures_table(figures)
    assert "| errors | 1 × no answer, 1 × 503 |" in table
    assert "+2.0 MB since warm" in table


def test_people_draw_against_a_server_of_this_machine(gallery_file, model_folder, monkeypatch):
    monkeypatch.setattr("sketchhash.benchmark.serving.measuring._WARMING_SECONDS", 0.3)
    figures = measure(gallery_file, model_folder, drawers=2, seconds=1)
    assert (figures.photos, figures.errors) == (500, {})
    assert 2 <= figures.requests <= 20
    assert 0 < figures.p50_seconds <= figures.p99_seconds <= figures.worst_seconds


def test_the_verb_prints_figures(model_folder, monkeypatch):
    monkeypatch.setattr("sketchhash.benchmark.serving.measuring._WARMING_SECONDS", 0.1)
    app = typer.Typer()
    app.command()(bench_serve.serve)
    asked = ["--model", str(model_folder), "--photos", "50", "--seconds", "1", "--drawers", "1", "--json"]
    result = CliRunner().invoke(app, asked)
    assert result.exit_code == 0, result.output
    figures = json.loads(result.stdout)
    assert (figures["photos"], figures["drawers"]) == (50, 1)
