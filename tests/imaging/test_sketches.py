import io

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFilter

from sketchhash.datasets.synthetic.photos import render_photo
from sketchhash.errors import UnreadableImage
from sketchhash.imaging.ink import Drawing, InkStyle, rasterise
from sketchhash.imaging.pages import find_sheet
from sketchhash.imaging.sketches import centrelines, ink_on, is_sketch, normalise_ink, read_sketch, skeletonise

SIZE = 128
# Mean differences, in grey levels, between a drawing and its picture. Lines half a pixel off stay below the
# first; a drawing two pixels off, a wrong margin, width or polarity are above the second.
CLOSE = 6.0
WRONG = 10.0


def fish():
    turn = np.linspace(0, 2 * np.pi, 60)
    body = np.stack([50 * np.cos(turn), 25 * np.sin(turn)], axis=1)
    tail = [[48, 5], [85, 30], [80, 0], [85, -30], [48, -5]]
    fin = [[-10, -24], [10, -45], [20, -22]]
    eye = np.stack([-30 + 5 * np.cos(turn), -5 + 5 * np.sin(turn)], axis=1)
    return Drawing(tuple(np.array(stroke, dtype=np.float32) for stroke in (body, tail, fin, eye)))


def picture_of(drawing, side=400, width=6.0, scale=1.5, centre=(180, 230)):
    """Draw ink on a page with Pillow, four times as large first: coverage from 0 to 1, ``(side, side)``."""
    page = Image.new("L", (4 * side, 4 * side))
    pen = ImageDraw.Draw(page)
    for stroke in drawing.strokes:
        points = [tuple(4 * (point * scale + centre)) for point in stroke.astype(float)]
        pen.line(points, fill=255, width=round(4 * width), joint="curve")
        for x, y in points:
            pen.circle((x, y), 2 * width, fill=255)
    return np.asarray(page.resize((side, side), Image.Resampling.BOX)) / 255


def on_page(coverage, ink, paper):
    ink, paper = np.array(ink, dtype=float), np.array(paper, dtype=float)
    return np.rint(paper + coverage.reshape(*coverage.shape, *[1] * ink.ndim) * (ink - paper)).astype(np.uint8)


def encoded(pixels, file_format, **options):
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, file_format, **options)
    return file.getvalue()


def photographed(coverage, ink=0.4, paper=0.9, seed=0):
    """Light a page from one side, drop a shadow over it, add grain, and save it as a JPEG."""
    rng = np.random.default_rng(seed)
    down, right = np.mgrid[0 : 1 : coverage.shape[0] * 1j, 0 : 1 : coverage.shape[1] * 1j]
    light = (0.5 + 0.5 * right) * np.where(down > 0.5 + 0.2 * right, 0.6, 1.0)
    light = np.asarray(Image.fromarray((255 * light).astype(np.uint8)).filter(ImageFilter.GaussianBlur(4)))
    grey = light * (paper + coverage * (ink - paper)) + rng.normal(0, 3, coverage.shape)
    tinted = grey[:, :, None] * [1, 0.97, 0.9]
    return encoded(np.clip(tinted, 0, 255).astype(np.uint8), "JPEG", quality=75)


def mean_difference(one, other):
    return np.abs(one.astype(float) - other).mean()


COVERAGE = picture_of(fish())
EXPECTED = rasterise(fish(), SIZE)
ALPHA = np.rint(255 * COVERAGE).astype(np.uint8)


def transparent(colour):
    return np.dstack([np.broadcast_to(np.uint8(colour), (*ALPHA.shape, 3)), ALPHA])


SAME_DRAWING = {
    "black on white": on_page(COVERAGE, 0, 255),
    "white on black": on_page(COVERAGE, 255, 0),
    "grey on pale grey": on_page(COVERAGE, 150, 200),
    "barely visible": on_page(COVERAGE, 225, 255),
    "blue on white": on_page(COVERAGE, (30, 60, 200), (255, 255, 255)),
    "yellow on white": on_page(COVERAGE, (255, 240, 0), (255, 255, 255)),
    "orange on green": on_page(COVERAGE, (240, 150, 20), (30, 120, 60)),
    "black on nothing": transparent((0, 0, 0)),
    "white on nothing": transparent((255, 255, 255)),
    "pink on nothing": transparent((255, 150, 180)),
    "one bit": np.where(COVERAGE > 0.5, 0, 255).astype(np.uint8),
    "thin": on_page(picture_of(fish(), width=1.5), 0, 255),
    "thick": on_page(picture_of(fish(), width=13), 0, 255),
    "large": on_page(picture_of(fish(), side=1000, width=9, scale=5, centre=(400, 500)), 0, 255),
    "small": on_page(picture_of(fish(), side=100, width=1.5, scale=0.5, centre=(45, 50)), 0, 255),
    "at the edge": on_page(picture_of(fish(), centre=(80, 70)), 0, 255),
}


@pytest.mark.parametrize("kind", SAME_DRAWING)
def test_a_picture_of_a_drawing_comes_out_as_the_drawing(kind):
    page = normalise_ink(SAME_DRAWING[kind], SIZE)
    assert page.shape == (SIZE, SIZE)
    assert page.dtype == np.uint8
    assert mean_difference(page, EXPECTED) < CLOSE


def test_what_counts_as_close_would_notice_a_mistake():
    assert mean_difference(255 - EXPECTED, EXPECTED) > WRONG
    assert mean_difference(rasterise(fish(), SIZE, InkStyle(margin=0.1)), EXPECTED) > WRONG
    assert mean_difference(rasterise(fish(), SIZE, InkStyle(line_width=0.03)), EXPECTED) > WRONG
    assert mean_difference(np.roll(EXPECTED, 2, axis=(0, 1)), EXPECTED) > WRONG


@pytest.mark.parametrize("style", [InkStyle(0.03, 0.15), InkStyle(0.02, 0.0)])
@pytest.mark.parametrize("size", [64, 224])
def test_the_style_and_size_asked_for_are_given(style, size):
    page = normalise_ink(on_page(COVERAGE, 0, 255), size, style)
    assert mean_difference(page, rasterise(fish(), size, style)) < CLOSE


@pytest.mark.parametrize("seed", range(3))
def test_a_photographed_page_is_read(seed):
    large = picture_of(fish(), side=800, width=7, scale=3.5, centre=(350, 420))
    assert mean_difference(read_sketch(photographed(large, seed=seed), SIZE), EXPECTED) < CLOSE


def test_chalk_on_a_board_is_read():
    large = picture_of(fish(), side=800, width=9, scale=3.5, centre=(350, 420))
    assert mean_difference(read_sketch(photographed(large, ink=0.9, paper=0.25), SIZE), EXPECTED) < CLOSE


def test_the_artefacts_of_jpeg_are_not_ink():
    content = encoded(on_page(COVERAGE, 0, 255), "JPEG", quality=12)
    assert mean_difference(read_sketch(content, SIZE), EXPECTED) < CLOSE


def test_a_few_specks_do_not_move_the_drawing():
    page = on_page(COVERAGE, 0, 255)
    for row, column in ((3, 3), (390, 396), (20, 380), (385, 8)):
        page[row : row + 2, column : column + 2] = 0
    assert mean_difference(normalise_ink(page, SIZE), EXPECTED) < CLOSE


def test_a_bitmap_of_28_pixels_is_read():
    turn = np.linspace(0, 2 * np.pi, 60)
    circle = Drawing((np.stack([np.cos(turn), np.sin(turn)], axis=1).astype(np.float32),))
    bitmap = on_page(picture_of(circle, side=28, width=2.5, scale=11.5, centre=(14, 14)), 255, 0)
    assert mean_difference(normalise_ink(bitmap, SIZE), rasterise(circle, SIZE)) < CLOSE


def test_a_drawing_may_be_made_of_dots():
    page = np.full((200, 200), 255, dtype=np.uint8)
    corners = [(40, 40), (40, 160), (160, 40), (160, 160)]
    for row, column in corners:
        page[row - 3 : row + 3, column - 3 : column + 3] = 0
    dots = Drawing(tuple(np.array([corner], dtype=np.float32) for corner in corners))
    assert mean_difference(normalise_ink(page, SIZE), rasterise(dots, SIZE)) < 0.5


def test_normal_form_is_kept_as_it_is():
    again = normalise_ink(EXPECTED, SIZE)
    assert mean_difference(again, EXPECTED) < CLOSE


def test_solid_areas_stay_solid():
    page = Image.fromarray(on_page(COVERAGE, 0, 255))
    ImageDraw.Draw(page).circle((160, 230), 25, fill=0)
    filled = normalise_ink(np.asarray(page), SIZE)
    difference = EXPECTED.astype(int) - filled
    assert (difference > 200).sum() == pytest.approx(np.pi * (25 * 0.47) ** 2, rel=0.2)


def test_one_dot_is_a_drawing():
    page = np.full((100, 100), 255, dtype=np.uint8)
    page[40:46, 60:66] = 0
    read = normalise_ink(page, SIZE)
    assert read[SIZE // 2 - 1 : SIZE // 2 + 1, SIZE // 2 - 1 : SIZE // 2 + 1].max() < 255


@pytest.mark.parametrize(
    "pixels",
    [
        np.full((50, 50), 255, dtype=np.uint8),
        np.zeros((50, 50, 3), dtype=np.uint8),
        np.zeros((50, 50, 4), dtype=np.uint8),
        np.full((1, 1), 9, dtype=np.uint8),
        np.random.default_rng(0).normal(200, 2, (300, 300)).astype(np.uint8),
        np.linspace(60, 240, 300 * 300).reshape(300, 300).astype(np.uint8),
    ],
    ids=["white", "black", "transparent", "one pixel", "grainy", "shaded"],
)
def test_a_blank_page_has_no_ink(pixels):
    with pytest.raises(UnreadableImage, match="no ink was found"):
        normalise_ink(pixels, SIZE)


def test_a_blank_file_is_named(tmp_path):
    path = tmp_path / "blank.png"
    path.write_bytes(encoded(np.full((50, 50), 255, dtype=np.uint8), "PNG"))
    with pytest.raises(UnreadableImage, match=r"blank\.png: no ink was found"):
        read_sketch(path, SIZE)


def test_a_broken_file_is_named(tmp_path):
    path = tmp_path / "broken.png"
    path.write_bytes(b"not a picture")
    with pytest.raises(UnreadableImage, match=r"broken\.png: its content is none of"):
        read_sketch(path, SIZE)


def disc(size, *circles):
    rows, columns = np.mgrid[:size, :size]
    mask = np.zeros((size, size), dtype=bool)
    for x, y, radius in circles:
        mask |= (columns - x) ** 2 + (rows - y) ** 2 <= radius**2
    return mask


def ring(size, radius, width):
    middle = size // 2
    return disc(size, (middle, middle, radius + width / 2)) & ~disc(size, (middle, middle, radius - width / 2))


def pieces(mask):
    """Count the connected pieces of a mask, corners included."""
    left, count = {(int(row), int(column)) for row, column in np.argwhere(mask)}, 0
    while left:
        count += 1
        border = [left.pop()]
        while border:
            row, column = border.pop()
            around = {(row + down, column + right) for down in (-1, 0, 1) for right in (-1, 0, 1)} & left
            left -= around
            border.extend(around)
    return count


def a_layer_taken_off(ink):
    """Thin once as Guo and Hall say, one pixel after the other."""
    ink = np.pad(ink, 1)
    for is_second in (False, True):
        gone = []
        for row, column in np.argwhere(ink):
            window = ink[row - 1 : row + 2, column - 1 : column + 2].ravel()
            n, ne, e, se, s, sw, w, nw = (bool(window[place]) for place in (1, 2, 5, 8, 7, 6, 3, 0))
            met = (not n and (ne or e)) + (not e and (se or s)) + (not s and (sw or w)) + (not w and (nw or n))
            sides = min((n or ne) + (e or se) + (s or sw) + (w or nw), (nw or n) + (ne or e) + (se or s) + (sw or w))
            stays = (n or ne or not se) and e if is_second else (s or sw or not nw) and w
            if met == 1 and 2 <= sides <= 3 and not stays:
                gone.append((row, column))
        for place in gone:
            ink[place] = False
    return ink[1:-1, 1:-1]


@pytest.mark.parametrize("seed", range(20))
def test_a_layer_is_taken_off_as_the_paper_says(seed):
    rng = np.random.default_rng(seed)
    ink = rng.random(rng.integers(1, 16, 2)) < rng.random()  # of so small a drawing one layer is taken off
    np.testing.assert_array_equal(skeletonise(ink), a_layer_taken_off(ink))


@pytest.mark.parametrize("width", [2, 3, 4, 7])
def test_a_ring_becomes_a_closed_line_along_its_middle(width):
    thinned = skeletonise(ring(101, 35, width))
    assert pieces(thinned) == 1
    assert pieces(~thinned) >= 1
    rows, columns = np.nonzero(thinned)
    assert np.abs(np.hypot(rows - 50, columns - 50) - 35).max() < 1.5
    assert thinned.sum() < 2 * np.pi * 35
    inside = np.zeros_like(thinned)
    inside[50, :] = thinned[50, :]
    assert inside[:, :50].any()
    assert inside[:, 51:].any()


@pytest.mark.parametrize("slope", [-1.0, -0.3, 0.0, 0.5, 2.0])
@pytest.mark.parametrize("width", [1.0, 2.0, 5.0])
def test_a_line_is_never_broken(slope, width):
    rows, columns = np.mgrid[:80, :80]
    distance = np.abs((rows - 40) - slope * (columns - 40)) / np.hypot(1, slope)
    line = (distance <= width / 2) & disc(80, (40, 40, 35))
    thinned = skeletonise(line)
    assert (thinned <= line).all()
    assert pieces(thinned) == pieces(line)
    extent = [np.ptp(np.nonzero(mask), axis=1).max() for mask in (thinned, line)]
    assert extent[0] >= extent[1] - width - 1


def test_a_solid_area_among_lines_stays_an_area():
    ink = ring(200, 90, 3) | disc(200, (100, 100, 25))
    thinned = skeletonise(ink)
    assert thinned[85:115, 85:115].all()


def test_nothing_becomes_nothing():
    assert not skeletonise(np.zeros((20, 20), dtype=bool)).any()


def test_centrelines_run_through_the_middle():
    ink = np.zeros((21, 60), dtype=bool)
    ink[8:13, 5:55] = True
    lines = centrelines(ink)
    ends = np.concatenate([lines.starts, lines.ends])
    assert np.abs(ends[:, 1] - 10.5).max() <= 1.0
    assert np.ptp(ends[:, 0]) == pytest.approx(45, abs=3)


def test_specks_are_left_out_and_dots_of_the_pen_are_kept():
    line = ring(200, 60, 8)
    speck, dot = disc(200, (10, 10, 1.5)), disc(200, (100, 100, 4))
    alone = centrelines(line)
    with_speck = centrelines(line | speck)
    with_dot = centrelines(line | dot)
    np.testing.assert_array_equal(alone.starts, with_speck.starts)
    assert len(with_dot.starts) > len(alone.starts)


TABLES = {
    "wood": (150, 105, 70),
    "cloth": (90, 95, 110),
    "nothing on it": (70, 70, 72),
    "darkness": (12, 12, 14),
}
SHEETS = {
    "in the middle": [(40, 60), (770, 90), (750, 760), (60, 740)],
    "beyond three sides": [(-50, -50), (690, -20), (670, 860), (-30, 840)],
    "nearly all of it": [(90, 40), (760, 20), (790, 770), (50, 790)],
    "below an edge": [(-10, 120), (830, 90), (810, 830), (-20, 850)],
    "turned": [(110, 150), (700, 80), (780, 700), (60, 760)],
}


def on_table(table, corners, seed=0, side=800):
    """Lay a sheet with a drawing on a table, light both from one side, add grain, and save it as a JPEG."""
    rng = np.random.default_rng(seed)
    drawn = picture_of(fish(), side=side, width=7, scale=3.0, centre=(370, 400))
    down, right = np.mgrid[0 : 1 : side * 1j, 0 : 1 : side * 1j]
    light = (0.7 + 0.3 * right)[:, :, None]
    if table == "wood":
        grain = 40 * np.sin(2 * np.pi * (17 * down + 0.6 * np.sin(3 * right))) + rng.normal(0, 10, (side, side))
    elif table == "cloth":
        grain = np.kron(rng.normal(0, 25, (side // 4, side // 4)), np.ones((4, 4)))
    else:
        grain = np.zeros((side, side))
    paper = (232 - 142 * drawn)[:, :, None] * [1, 0.98, 0.93]
    mask = Image.new("L", (side, side))
    ImageDraw.Draw(mask).polygon(corners, fill=255)
    cover = np.asarray(mask.filter(ImageFilter.GaussianBlur(1)))[:, :, None] / 255
    scene = light * (cover * paper + (1 - cover) * (np.array(TABLES[table]) + grain[:, :, None]))
    return encoded(np.clip(scene + rng.normal(0, 3, (side, side, 1)), 0, 255).astype(np.uint8), "JPEG", quality=80)


@pytest.mark.parametrize("sheet", SHEETS)
@pytest.mark.parametrize("table", TABLES)
def test_a_sheet_on_a_table_is_found_and_read(table, sheet):
    picture = on_table(table, SHEETS[sheet])
    assert mean_difference(read_sketch(picture, SIZE), EXPECTED) < CLOSE


def test_a_picture_of_nothing_but_paper_has_no_sheet_in_it():
    large = picture_of(fish(), side=800, width=7, scale=3.5, centre=(350, 420))
    with Image.open(io.BytesIO(photographed(large))) as picture:
        assert find_sheet(picture) is None


@pytest.mark.parametrize("kind", [kind for kind in SAME_DRAWING if kind != "barely visible"])
def test_a_drawing_is_recognised_as_a_sketch(kind):
    assert is_sketch(encoded(SAME_DRAWING[kind], "PNG"))


@pytest.mark.parametrize("table", TABLES)
def test_a_drawing_on_a_table_is_recognised_as_a_sketch(table):
    assert is_sketch(on_table(table, SHEETS["turned"]))


def test_a_photographed_page_is_recognised_as_a_sketch():
    assert is_sketch(photographed(picture_of(fish(), side=800, width=7, scale=3.5, centre=(350, 420))))


@pytest.mark.parametrize("category", ["cat", "house", "teapot", "sailboat"])
def test_a_photo_is_no_sketch(category):
    assert not is_sketch(encoded(render_photo(category, np.random.default_rng(1), 200), "JPEG"))


def test_a_thing_cut_out_on_white_is_no_sketch():
    page = Image.new("RGB", (200, 200), "white")
    page.paste(Image.fromarray(render_photo("cat", np.random.default_rng(1), 120)), (40, 40))
    assert not is_sketch(encoded(np.asarray(page), "PNG"))
    assert not is_sketch(encoded(np.full((50, 50), 255, np.uint8), "PNG"))


def test_a_frame_around_nothing_is_ink_and_no_table_around_a_sheet():
    across, down = np.meshgrid(np.arange(28), np.arange(28))
    page = 200 + 20 * (across + down) / 28
    frame = np.ones((28, 28), dtype=bool)
    frame[2:-2, 2:-2] = False
    page[frame] = 30 + across[frame] % 16
    inked = ink_on(page.astype(np.uint8)) > 64
    assert inked[frame].mean() > 0.4
    assert inked[~frame].mean() < 0.05
