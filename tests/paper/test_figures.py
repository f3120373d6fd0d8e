import numpy as np
import pytest
from PIL import Image

from sketchhash.datasets import synthetic
from sketchhash.errors import DatasetProblem
from sketchhash.paper import Records
from sketchhash.paper.figures import draw_code_map, draw_curves, draw_examples, lay_out
from sketchhash.paper.records import Codes, CodeSample, choose_queries, examples, nearest_photos
from sketchhash.paper.tables import Runs

RED = (220, 20, 30)


NAMES = tuple("abcdefghijklmno")


def codes_of(query_labels, gallery_labels):
    rows = np.random.default_rng(0).integers(0, 256, (15, 4), dtype=np.uint8)
    return Codes(rows[list(query_labels)], rows[list(gallery_labels)])


def colours(path):
    with Image.open(path) as picture:
        assert picture.format == "PNG"
        return len(picture.convert("RGB").getcolors(1 << 24))


def test_curves_are_drawn_at_the_length_nearest_to_the_papers(finished, tmp_path):
    runs = Runs(Records(finished).runs())
    assert draw_curves(runs, tmp_path / "curves.png") == 16
    assert colours(tmp_path / "curves.png") > 20


def test_codes_of_one_category_lie_together_on_the_map(tmp_path):
    queries, gallery = np.repeat([0, 1, 2], 6), np.repeat([0, 1, 2], [8, 9, 7])
    rng = np.random.default_rng(0)
    codes = codes_of(queries, gallery)
    codes = Codes(codes.queries ^ (1 << rng.integers(0, 8, (18, 4))).astype(np.uint8), codes.gallery)
    laid_out = lay_out(CodeSample.draw(codes, queries, gallery), NAMES)
    assert laid_out.categories == ("a", "b", "c")
    assert laid_out.are_photos.sum() == 24
    centres = np.stack([laid_out.points[laid_out.labels == label].mean(axis=0) for label in range(3)])
    nearest = np.linalg.norm(laid_out.points[:, None] - centres, axis=2).argmin(axis=1)
    assert (nearest == laid_out.labels).mean() > 0.9
    draw_code_map(laid_out, tmp_path / "map.png")
    assert colours(tmp_path / "map.png") > 20


def test_the_sample_has_the_ten_categories_with_the_most_photos():
    counts = [2, 1, 3, 2, 2, 2, 2, 2, 2, 2, 2, 1]
    queries, gallery = np.arange(12), np.repeat(np.arange(12), counts)
    codes = codes_of(queries, gallery)
    sample = CodeSample.draw(codes, queries, gallery)
    assert "".join(NAMES[label] for label in sorted(set(sample.labels))) == "acdefghijk"
    assert (len(sample.labels), sample.photos, sample.bits) == (21 + 10, 21, 32)
    np.testing.assert_array_equal(sample.packed[:2], codes.gallery[:2])


def test_a_category_gives_at_most_a_hundred_photos_to_the_sample():
    gallery = np.repeat([0, 1], [250, 30])
    sample = CodeSample.draw(codes_of([0, 1], gallery), np.array([0, 1]), gallery)
    assert sample.photos == 130


def test_examples_are_the_first_queries_of_categories_spread_evenly():
    assert choose_queries(np.repeat(np.arange(15), 2), 8) == [0, 2, 6, 10, 14, 18, 22, 26]
    assert choose_queries(np.array([3, 3, 1]), 8) == [2, 0]


def test_tied_photos_come_in_no_order_of_storage():
    codes = Codes(
        np.zeros((2, 1), np.uint8), np.concatenate([np.zeros((40, 1)), np.full((5, 1), 255)]).astype(np.uint8)
    )
    found = nearest_photos(codes, 0)
    assert len(found) == 20
    assert max(found) < 40
    assert found != sorted(found)
    assert found == nearest_photos(codes, 0) != nearest_photos(codes, 1)


def test_false_photos_are_framed_red_and_right_ones_are_not():
    world = synthetic.load(2, 3, categories=("key", "umbrella"), size=32)
    queries, gallery = ([(item.id, item.label) for item in items] for items in (world.sketches, world.photos))
    code = np.array([[0, 0], [255, 255]], np.uint8)
    codes = Codes(code[[label for _, label in queries]], code[[label for _, label in gallery]])
    sheet = draw_examples(examples(codes, queries, gallery), world.categories, world)
    is_red = (sheet == RED).all(axis=2)
    top = np.flatnonzero(is_red.any(axis=1))
    frames = [np.flatnonzero(is_red[row]) for row in (top[0], top[-1])]
    # Six photos a row, the three of the other category last: three frames of 78 pixels in each of both rows.
    assert [len(frame) for frame in frames] == [3 * 78, 3 * 78]
    assert all(frame[0] > sheet.shape[1] / 2 for frame in frames)


def test_photos_of_another_dataset_are_not_shown():
    world = synthetic.load(2, 2, categories=("key", "umbrella"), size=32)
    found = examples(codes_of([0], [0, 1]), [("q0", 0)], [("p0", 0), ("p1", 1)])
    with pytest.raises(DatasetProblem, match="'q0'"):
        draw_examples(found, world.categories, world)
