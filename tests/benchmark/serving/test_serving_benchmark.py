"""Drawers, their galleries and their figures; one short run of all together."""

import json
import socket
from time import perf_counter

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from sketchhash.benchmark.serving import Figures, Pace, figures_table, fill_with_random_codes, measure
from sketchhash.benchmark.serving.drawers import Reply, draw_until, grow
from sketchhash.benchmark.serving.figures import Memory
from sketchhash.cli import bench_serve
from sketchhash.gallery import GalleryFile
from sketchhash.imaging import Drawing
from sketchhash.model import Model


@pytest.fixture
def gallery_file(tmp_path, model_folder):
    path = tmp_path / "random.gallery"
    with GalleryFile.create(path, Model.load(model_folder)) as gallery:
        fill_with_random_codes(gallery, 500)
    return path


def test_a_drawing_grows_by_so_many_points_until_it_is_whole():
    drawing = Drawing.from_json([[[0, 0], [1, 1], [2, 2]], [[5, 5], [6, 6]]])
    grown = list(grow(drawing, 2))
    assert [sum(map(len, strokes)) for strokes in grown] == [2, 4, 5]
    assert grown[1] == [[[0, 0], [1, 1], [2, 2]], [[5, 5]]]
    assert grown[-1] == drawing.to_json()


def test_random_codes_make_a_gallery_like_any_other(gallery_file):
    with GalleryFile.open(gallery_file) as gallery:
        assert gallery.info().photos == 500
        assert len({gallery.code(photo.id) for photo in gallery.photos()}) > 490
        hits = gallery.search(np.ones(32), 500)
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
