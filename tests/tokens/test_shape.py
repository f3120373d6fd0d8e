"""The shape of a photo's contours: small, the same for equal contours, and nearest to a drawing of the same outline."""

import numpy as np
import pytest

from sketchhash.errors import BadArgument, IncompatibleModel
from sketchhash.imaging import Drawing, rasterise
from sketchhash.tokens.contours import find_ridges
from sketchhash.tokens.shape import (
    GRID,
    SHAPE_BYTES,
    SHIPPED_METRIC,
    ShapeMetric,
    ShapeQuery,
    describe_contours,
    ink_grid,
    photo_grids,
)

SQUARE = [[[0, 0], [9, 0], [9, 9], [0, 9], [0, 0]]]
TRIANGLE = [[[0, 9], [5, 0], [9, 9], [0, 9]]]
LEFT_FLAG = [[[5, 0], [5, 9]], [[5, 0], [0, 2], [5, 4]]]
RIGHT_FLAG = [[[5, 0], [5, 9]], [[5, 0], [9, 2], [5, 4]]]
DRAWINGS = {"square": SQUARE, "triangle": TRIANGLE, "left flag": LEFT_FLAG, "right flag": RIGHT_FLAG}


def ink_of(strokes, size=128):
    return rasterise(Drawing.from_json(strokes), size)


def scores_of(strokes, height=160, width=240):
    """Return contour scores of a photo that shows the drawing off its centre, a little faint."""
    scores = np.zeros((height, width), dtype=np.float32)
    scores[20:148, 70:198] = 0.7 - 0.7 * ink_of(strokes).astype(np.float32) / 255
    return scores


def test_a_shape_is_small_and_always_the_same():
    shape = describe_contours(scores_of(SQUARE))
    assert len(shape) == SHAPE_BYTES == 512
    assert shape == describe_contours(scores_of(SQUARE)) != describe_contours(scores_of(TRIANGLE))


def test_faint_and_strong_contours_have_the_same_shape():
    assert describe_contours(scores_of(SQUARE)) == describe_contours(scores_of(SQUARE) / 2)


@pytest.mark.parametrize("value", [0.0, 0.5])
def test_a_photo_without_contours_has_an_empty_shape(value):
    assert describe_contours(np.full((40, 60), value, dtype=np.float32)) == bytes(SHAPE_BYTES)


@pytest.mark.parametrize("drawn", DRAWINGS)
def test_a_drawing_fits_the_photo_of_its_outline_best(drawn):
    shapes = {number: describe_contours(scores_of(strokes)) for number, strokes in enumerate(DRAWINGS.values())}
    fits = ShapeQuery.of_ink(ink_of(DRAWINGS[drawn])).fits(shapes, list(shapes))
    assert list(DRAWINGS)[int(fits.argmax())] == drawn


def test_the_box_makes_up_for_where_the_thing_stands():
    ink, ridges = ink_grid(ink_of(LEFT_FLAG)), find_ridges(scores_of(LEFT_FLAG), 0.15)
    whole, box = photo_grids(ridges)
    assert box @ ink > 0.9
    assert whole @ ink < 0.8


def test_horizontal_and_vertical_lines_fall_into_other_orientations():
    lying, standing = (ink_grid(ink_of([[[0, 0], [x, y]]])).reshape(64, 8).sum(axis=0) for x, y in ((9, 0), (0, 9)))
    assert lying.argmax() == 4  # the normal of a horizontal line points down
    assert standing.argmax() == 0


def test_photos_without_a_shape_are_in_the_middle():
    query = ShapeQuery.of_ink(ink_of(SQUARE))
    shapes = {number: describe_contours(scores_of(strokes)) for number, strokes in enumerate(DRAWINGS.values())}
    fits = query.fits(shapes, [0, 1, 99, 2, 3])
    assert fits[2] == np.median(np.delete(fits, 2))
    assert query.fits({}, [1, 2]).tolist() == [0, 0]
    assert query.fits(shapes, []).shape == (0,)


def test_a_shape_of_another_length_is_refused():
    with pytest.raises(BadArgument, match="512 bytes"):
        ShapeQuery.of_ink(ink_of(SQUARE)).fits({1: b"short"}, [1])


def test_stored_values_are_near_those_that_were_stored():
    whole, box = photo_grids(find_ridges(scores_of(TRIANGLE), 0.15, fade=True))
    packed = np.frombuffer(describe_contours(scores_of(TRIANGLE)), dtype=np.uint8)[np.newaxis]
    wanted = np.random.default_rng(0).normal(0, 1, 2 * GRID).astype(np.float32)
    (stored,) = ShapeQuery(wanted).scores(packed)
    assert stored == pytest.approx(float(wanted @ np.concatenate([whole, box])), abs=0.2)


def test_a_metric_is_read_as_it_was_written(tmp_path):
    weights = np.random.default_rng(0).normal(0, 1, (GRID, 2 * GRID)).astype(np.float32)
    ShapeMetric(weights).save(tmp_path / "metric.npz")
    np.testing.assert_allclose(ShapeMetric.load(tmp_path / "metric.npz").weights, weights, atol=0.03)


def test_a_metric_that_cannot_be_used_is_told(tmp_path):
    (tmp_path / "damaged.npz").write_bytes(SHIPPED_METRIC.read_bytes()[:100])
    np.savez(tmp_path / "other.npz", version=0, weights=np.zeros((2, 2)), scale=1.0)
    for name, said in (("damaged", "cannot be read"), ("other", "other shapes"), ("missing", "cannot be read")):
        with pytest.raises(IncompatibleModel, match=said):
            ShapeMetric.load(tmp_path / f"{name}.npz")
