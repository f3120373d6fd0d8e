import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from sketchhash.errors import BadArgument
from sketchhash.imaging.ink import Drawing, InkStyle, rasterise
from sketchhash.tokens import TokenStyle, detector, thin, token_map
from sketchhash.tokens.contours import components, draw, strong_contours, touching, without_specks
from sketchhash.tokens.filters import blur

GRADIENT = detector("gradient")


def grey(values):
    """A photo from lightness in [0, 1]."""
    return np.rint(40 + 170 * np.clip(values, 0, 1)).astype(np.uint8)


def from_line(angle, height=256, width=256):
    """Signed distance of every pixel centre to a line through the middle, whose normal has this angle."""
    y, x = np.mgrid[:height, :width] + 0.5
    radians = np.deg2rad(angle)
    return (x - width / 2) * np.cos(radians) + (y - height / 2) * np.sin(radians)


def disc(x, y, radius, side=256):
    rows, columns = np.mgrid[:side, :side] + 0.5
    return grey(radius + 0.5 - np.hypot(columns - x, rows - y))


def noise(seed, shape=(200, 256, 3)):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def contours_of(photo, **style):
    return strong_contours(GRADIENT.detect(np.repeat(photo[:, :, None], 3, axis=2)), TokenStyle(**style))


@pytest.mark.parametrize("angle", range(0, 180, 15))
def test_a_step_edge_gives_one_thin_line_in_its_place_and_direction(angle):
    distance = from_line(angle)
    mask = contours_of(grey(distance + 0.5))
    assert np.abs(distance[mask]).max() <= 1

    rows, columns = np.ptp(np.argwhere(mask), axis=0) + 1
    assert max(rows, columns) > 240  # all but the faded border
    across = mask.sum(axis=0 if columns >= rows else 1)
    assert across.max() <= 2
    assert mask.sum() <= 1.4 * max(rows, columns)

    normal = np.linalg.svd(np.argwhere(mask) - np.argwhere(mask).mean(axis=0))[2][1]
    direction = np.array([np.sin(np.deg2rad(angle)), np.cos(np.deg2rad(angle))])
    assert abs(normal @ direction) > np.cos(np.deg2rad(1))


@pytest.mark.parametrize("size", [64, 128, 224])
def test_an_edge_keeps_its_place_on_the_squeezed_sheet(size):
    photo = grey(np.broadcast_to((np.arange(480) >= 120), (300, 480)))
    ink = 255.0 - token_map(photo, GRADIENT, size).astype(np.float64)
    columns = ink.sum(axis=0)
    centre = (columns * (np.arange(size) + 0.5)).sum() / columns.sum()
    assert centre == pytest.approx(size / 4, abs=1)


def test_a_disc_gives_a_closed_circle():
    sheet = token_map(disc(128, 128, 70), GRADIENT, 256)
    is_paper = sheet > 128
    outside = np.zeros_like(is_paper)
    outside[0, 0] = True
    while True:
        grown = outside.copy()
        grown[1:] |= outside[:-1]
        grown[:-1] |= outside[1:]
        grown[:, 1:] |= outside[:, :-1]
        grown[:, :-1] |= outside[:, 1:]
        grown &= is_paper
        if (grown == outside).all():
            break
        outside = grown
    rows, columns = np.mgrid[:256, :256] + 0.5
    radius = np.hypot(columns - 128, rows - 128)
    assert not outside[radius < 65].any()
    assert outside[radius > 75].all()
    assert is_paper[radius < 65].all()


def test_ink_is_black_on_white_and_as_wide_as_the_style_says():
    photo = grey(from_line(0) + 0.5)
    for line_width in (1 / 80, 1 / 30):
        sheet = token_map(photo, GRADIENT, 224, TokenStyle(ink=InkStyle(line_width=line_width)))
        across = (255 - sheet[100:120].astype(np.float64)).sum(axis=1) / 255
        np.testing.assert_allclose(across, 224 * line_width, atol=1)
        assert sheet.max() == 255
        assert sheet.min() == 0


@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (300, 1), (7, 5), (50, 50, 3), (10, 20_000, 3), (900, 1200)])
@pytest.mark.parametrize("value", [0, 128, 255])
def test_a_constant_photo_of_any_shape_gives_blank_paper(shape, value):
    sheet = token_map(np.full(shape, value, dtype=np.uint8), GRADIENT, 64)
    assert sheet.shape == (64, 64)
    assert sheet.dtype == np.uint8
    assert (sheet == 255).all()


@pytest.mark.parametrize("shape", [(10, 20_000), (1, 300)])
def test_a_panorama_shows_what_crosses_it(shape):
    photo = grey(np.broadcast_to(np.arange(shape[1]) >= shape[1] // 2, shape))
    ink = token_map(photo, GRADIENT, 128) < 128
    rows, columns = np.nonzero(ink)
    assert np.abs(columns + 0.5 - 64).max() <= 2.5
    assert np.ptp(rows) > 90


def test_a_grey_photo_gives_the_map_of_its_colour_copy():
    photo = disc(120, 90, 50)
    np.testing.assert_array_equal(
        token_map(photo, GRADIENT, 100), token_map(np.repeat(photo[:, :, None], 3, axis=2), GRADIENT, 100)
    )


def test_hardly_visible_noise_gives_blank_paper():
    photo = (120 + noise(0) % 3).astype(np.uint8)
    assert (token_map(photo, GRADIENT, 100) == 255).all()


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.6])
def test_noise_stays_within_the_ink_it_may_spend(threshold):
    scores = GRADIENT.detect(noise(1))
    mask = strong_contours(scores, TokenStyle(threshold=threshold, fewest=1))
    assert 0 < mask.mean() <= 0.08


def test_specks_are_erased_and_larger_shapes_kept():
    photo = np.maximum(disc(60, 60, 2), disc(160, 160, 40))
    rows, columns = np.nonzero(contours_of(photo))
    assert len(rows) > 200
    assert np.hypot(columns + 0.5 - 160, rows + 0.5 - 160).max() < 45
    everything = contours_of(photo, fewest=1)
    assert everything[50:70, 50:70].any()


@pytest.mark.parametrize("right, down", [(20, 8), (-31, 5), (0, -40)])
def test_moving_what_the_photo_shows_moves_the_map(right, down):
    before = token_map(disc(120, 130, 45), GRADIENT, 256)
    after = token_map(disc(120 + right, 130 + down, 45), GRADIENT, 256)
    moved = np.roll(before, (down, right), axis=(0, 1))
    assert (before < 128).any()
    assert np.mean(moved != after) < 0.001


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 1000), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_only_takes_ink_away(seed, one, other):
    scores = GRADIENT.detect(noise(seed, (40, 40, 3)))
    low, high = sorted((one, other))
    more = strong_contours(scores, TokenStyle(threshold=low, fewest=5))
    less = strong_contours(scores, TokenStyle(threshold=high, fewest=5))
    assert not (less & ~more).any()


def test_thinning_keeps_some_scores_as_they_are_and_fades_the_border():
    scores = GRADIENT.detect(noise(3))
    thinned = thin(scores)
    inside = (slice(5, -5), slice(5, -5))
    kept = thinned[inside] > 0
    np.testing.assert_array_equal(thinned[inside][kept], scores[inside][kept])
    assert 0 < kept.mean() < 0.5
    assert not thinned[0].any() and not thinned[:, -1].any()
    assert (thinned <= scores).all()


def test_the_same_photo_gives_the_same_map_and_is_left_alone():
    photo = noise(4)
    before = photo.copy()
    np.testing.assert_array_equal(token_map(photo, GRADIENT, 90), token_map(photo, GRADIENT, 90))
    np.testing.assert_array_equal(photo, before)


@pytest.mark.parametrize(
    "photo",
    [
        np.zeros((4, 4, 4), dtype=np.uint8),
        np.zeros((0, 4), dtype=np.uint8),
        np.zeros(4, dtype=np.uint8),
        np.zeros((4, 4), dtype=np.float32),
    ],
)
def test_what_is_no_photo_is_refused(photo):
    with pytest.raises(BadArgument, match="A photo is uint8"):
        token_map(photo, GRADIENT, 32)


def test_sizes_and_shares_that_make_no_sense_are_refused():
    with pytest.raises(BadArgument, match="size=0"):
        token_map(np.zeros((4, 4), dtype=np.uint8), GRADIENT, 0)
    with pytest.raises(BadArgument, match=r"threshold is a share, from 0 to 1; got 60"):
        TokenStyle(threshold=60)


masks = arrays(np.bool_, array_shapes(min_dims=2, max_dims=2, max_side=14))


def flood_fill(mask):
    """The first pixel of each ink pixel's component, one pixel at a time."""
    label = np.full(mask.shape, -1)
    for number, start in enumerate(zip(*np.nonzero(mask), strict=True)):
        reached = [start]
        while reached:
            row, column = reached.pop()
            if label[row, column] >= 0:
                continue
            label[row, column] = number
            around = np.argwhere(mask[max(row - 1, 0) : row + 2, max(column - 1, 0) : column + 2])
            reached += [(max(row - 1, 0) + down, max(column - 1, 0) + right) for down, right in around]
    return label[mask]


@given(masks)
def test_labels_agree_with_a_flood_fill(mask):
    np.testing.assert_array_equal(components(mask), flood_fill(mask))


@given(masks, st.integers(0, 12))
def test_specks_go_and_large_components_stay(mask, fewest):
    label = flood_fill(mask)
    expected = [np.count_nonzero(label == own) >= fewest for own in label]
    kept = without_specks(mask, fewest)
    np.testing.assert_array_equal(kept[mask], expected)
    assert not kept[~mask].any()


@given(masks)
def test_pixels_touch_when_they_are_at_most_one_step_apart(mask):
    ink = np.argwhere(mask)
    steps = np.abs(ink[:, None] - ink[None]).max(axis=2)
    expected = {(a, b) for a, b in np.argwhere(steps == 1) if a < b}
    pairs = [tuple(sorted(pair)) for pair in touching(mask).T]
    assert len(pairs) == len(set(pairs))
    assert set(pairs) == expected


def test_a_line_that_winds_through_the_whole_picture_is_one_component():
    snake = np.zeros((99, 99), dtype=np.bool_)
    snake[::2] = True
    snake[1::4, -1] = True
    snake[3::4, 0] = True
    assert not components(snake).any()


def blank(height, width):
    return np.zeros((height, width), dtype=np.bool_)


def ink_of(sheet):
    return (255 - sheet.astype(np.float64)) / 255


def test_an_empty_mask_gives_blank_paper():
    sheet = draw(blank(10, 20), 16, 0.1)
    assert sheet.dtype == np.uint8
    assert sheet.shape == (16, 16)
    assert (sheet == 255).all()


@pytest.mark.parametrize("shape", [(64, 64), (32, 256), (256, 32)])
@pytest.mark.parametrize("size", [32, 128, 300])
def test_lines_are_as_wide_across_as_down_whatever_the_proportions(shape, size):
    height, width = shape
    mask = blank(height, width)
    mask[height // 2] = True
    level = ink_of(draw(mask, size, 1 / 40)).sum(axis=0)[size // 4 : -size // 4]
    mask = blank(height, width)
    mask[:, width // 2] = True
    upright = ink_of(draw(mask, size, 1 / 40)).sum(axis=1)[size // 4 : -size // 4]
    np.testing.assert_allclose(level, size / 40, atol=0.3)
    np.testing.assert_allclose(upright, size / 40, atol=0.3)


def test_a_line_lies_where_its_pixels_were():
    mask = blank(50, 100)
    mask[:, 25] = True
    ink = ink_of(draw(mask, 80, 1 / 40)).sum(axis=0)
    centre = (ink * (np.arange(80) + 0.5)).sum() / ink.sum()
    assert centre == pytest.approx(25.5 / 100 * 80, abs=0.05)


def test_touching_pixels_are_joined_when_the_sheet_is_larger():
    mask = np.eye(8, dtype=np.bool_)
    sheet = draw(mask, 200, 1 / 50)
    along = np.arange(15, 185)
    assert (sheet[along, along] < 64).all()


def test_a_pen_thinner_than_a_pixel_leaves_grey():
    mask = blank(20, 20)
    mask[10] = True
    ink = ink_of(draw(mask, 20, 1 / 80))
    assert ink[10, 5] == pytest.approx(0.25, abs=0.01)


def test_the_pen_is_the_pen_of_the_sketches():
    size, style = 120, InkStyle(line_width=1 / 40, margin=0.1)
    # A sketch of one diagonal: fitted to the margins, its ends are half a line inside them.
    line = Drawing((np.array([[0, 0], [1, 1]], dtype=np.float32),))
    start = round(size * style.margin + size * style.line_width / 2 - 0.5)
    mask = blank(size, size)
    inside = np.arange(start, size - start)
    mask[inside, inside] = True
    difference = np.abs(ink_of(draw(mask, size, style.line_width)) - ink_of(rasterise(line, size, style)))
    middle = slice(30, 90)
    assert difference[middle, middle].max() < 0.12


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "style",
    [
        TokenStyle(fewest=1),
        TokenStyle(threshold=0.1, most_ink=0.02, fewest=1),
        TokenStyle(threshold=0, floor=0, most_ink=0.3, fewest=1),
        TokenStyle(threshold=1, fewest=1),
        TokenStyle(threshold=0.3, most_ink=0, fewest=1),
    ],
)
def test_looking_for_strong_ridges_alone_finds_what_looking_for_all_finds(seed, style):
    rng = np.random.default_rng(seed)
    scores = blur(rng.random((50, 70), dtype=np.float32), 0.5 + seed / 2)
    scores[:, :3] += np.float32(seed == 3)  # the highest scores, at the border, are on no ridge
    ridges = thin(scores)
    crowded = np.quantile(ridges, 1 - style.most_ink, method="higher")
    expected = (ridges >= style.threshold * ridges.max()) & (ridges > crowded) & (ridges.max() >= style.floor)
    np.testing.assert_array_equal(strong_contours(scores, style), expected)
    np.testing.assert_array_equal(strong_contours(np.asfortranarray(scores), style), expected)
