import numpy as np
import pytest
from PIL import Image

from sketchhash.benchmark.comparison.examples import choose_queries, draw_examples, nearest_photos
from sketchhash.benchmark.comparison.figures import draw_curves, draw_plane
from sketchhash.benchmark.comparison.plane import lay_out
from sketchhash.benchmark.comparison.records import Codes, Records
from sketchhash.benchmark.comparison.tables import Run, Runs
from sketchhash.benchmark.comparison.task import Shown, Task
from sketchhash.datasets import synthetic
from sketchhash.errors import DatasetProblem

RED = (220, 20, 30)


def a_task(query_labels, gallery_labels):
    queries = Shown(tuple(f"q{n}" for n in range(len(query_labels))), tuple(query_labels))
    gallery = Shown(tuple(f"p{n}" for n in range(len(gallery_labels))), tuple(gallery_labels))
    return Task("toy", "seen", 0, "data", "split", tuple("abcdefghijklmno"), 0, 0, queries, gallery)


def codes_of(task):
    rows = np.random.default_rng(0).integers(0, 256, (15, 4), dtype=np.uint8)
    return Codes(rows[list(task.queries.labels)], rows[list(task.gallery.labels)])


def colours(path):
    with Image.open(path) as picture:
        assert picture.format == "PNG"
        return len(picture.convert("RGB").getcolors(1 << 24))


def test_curves_are_drawn_at_the_length_nearest_to_the_papers(finished, tmp_path):
    records = Records(finished)
    runs = Runs([Run(record, records.scores(record)) for record in map(records.read, records.slugs())])
    assert draw_curves(runs, tmp_path / "curves.png") == 16
    assert colours(tmp_path / "curves.png") > 20


def test_codes_of_one_category_lie_together_on_the_plane(tmp_path):
    task = a_task([0] * 6 + [1] * 6 + [2] * 6, [0] * 8 + [1] * 9 + [2] * 7)
    rng = np.random.default_rng(0)
    codes = codes_of(task)
    codes = Codes(codes.queries ^ (1 << rng.integers(0, 8, (18, 4))).astype(np.uint8), codes.gallery)
    plane = lay_out(task, codes)
    assert plane.categories == ("a", "b", "c")
    assert plane.are_photos.sum() == 24
    centres = np.stack([plane.places[plane.labels == label].mean(axis=0) for label in range(3)])
    nearest = np.linalg.norm(plane.places[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == plane.labels).mean() > 0.9
    draw_plane(plane, tmp_path / "plane.png")
    assert colours(tmp_path / "plane.png") > 20


def test_the_plane_shows_the_ten_categories_with_the_most_photos():
    counts = [2, 1, 3, 2, 2, 2, 2, 2, 2, 2, 2, 1]
    task = a_task(range(12), [label for label, count in enumerate(counts) for _ in range(count)])
    plane = lay_out(task, codes_of(task))
    assert plane.categories == tuple("acdefghijk")
    assert len(plane.places) == 21 + 10


def test_examples_are_the_first_queries_of_categories_spread_evenly():
    task = a_task([label for label in range(15) for _ in range(2)], range(15))
    assert choose_queries(task, 8) == [0, 2, 6, 10, 14, 18, 22, 26]
    assert choose_queries(a_task([3, 3, 1], [1]), 8) == [2, 0]


def test_tied_photos_come_in_no_order_of_storage():
    codes = Codes(
        np.zeros((2, 1), np.uint8), np.concatenate([np.zeros((40, 1)), np.full((5, 1), 255)]).astype(np.uint8)
    )
    found = nearest_photos(codes, 0)
    assert len(found) == 20
    assert found.max() < 40
    assert found.tolist() != sorted(found.tolist())
    assert found.tolist() == nearest_photos(codes, 0).tolist() != nearest_photos(codes, 1).tolist()


def test_false_photos_are_framed_red_and_right_ones_are_not():
    world = synthetic.load(2, 3, categories=("key", "umbrella"), size=32)
    queries, gallery = Shown.of(world.sketches), Shown.of(world.photos)
    task = Task("synthetic", "seen", 0, "d", "s", world.categories, 6, 4, queries, gallery)
    code = np.array([[0, 0], [255, 255]], np.uint8)
    sheet = draw_examples(task, Codes(code[list(queries.labels)], code[list(gallery.labels)]), world)
    is_red = (sheet == RED).all(axis=2)
    top = np.flatnonzero(is_red.any(axis=1))
    frames = [np.flatnonzero(is_red[row]) for row in (top[0], top[-1])]
    # Six photos a row, the three of the other category last: three frames of 78 pixels in each of both rows.
    assert [len(frame) for frame in frames] == [3 * 78, 3 * 78]
    assert all(frame[0] > sheet.shape[1] / 2 for frame in frames)


def test_photos_of_another_dataset_are_not_shown():
    world = synthetic.load(2, 2, categories=("key", "umbrella"), size=32)
    task = a_task([0], [0, 1])
    with pytest.raises(DatasetProblem, match="'q0'"):
        draw_examples(task, codes_of(task), world)
