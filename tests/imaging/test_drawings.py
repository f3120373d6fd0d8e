"""Icons as sketches: filled ones by their outlines, and drawings told from photos."""

import io

import numpy as np
import pytest
from PIL import Image, ImageDraw

from sketchhash.errors import UnreadableImage
from sketchhash.imaging import read_sketch
from sketchhash.imaging.drawings import DrawingPicture, is_drawing, may_be_drawing, read_drawing, read_either

SIZE = 96


def png(paint, side=128, mode="RGB", paper="white"):
    picture = Image.new(mode, (side, side), paper)
    paint(ImageDraw.Draw(picture))
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()


def ink_of(content):
    return DrawingPicture.of(read_drawing(content, SIZE)).ink


def overlap(one, other):
    """Return the share of the ink of each that lies within two pixels of the other's, the lesser of both."""
    from PIL import ImageFilter

    masks = [ink < 128 for ink in (one, other)]
    wide = [np.asarray(Image.fromarray(mask).convert("L").filter(ImageFilter.MaxFilter(5))) > 0 for mask in masks]
    return min((masks[0] & wide[1]).sum() / masks[0].sum(), (masks[1] & wide[0]).sum() / masks[1].sum())


def test_a_filled_shape_becomes_the_line_around_it():
    solid = ink_of(png(lambda draw: draw.ellipse((10, 30, 118, 98), fill="black")))
    lined = ink_of(png(lambda draw: draw.ellipse((10, 30, 118, 98), outline="black", width=3)))
    assert solid[SIZE // 2, SIZE // 2] == 255
    assert overlap(solid, lined) > 0.95


def test_thick_lines_become_thin_ones_in_their_middle():
    def square(width):
        low, high = 20 - width // 2, 108 + width // 2
        return ink_of(png(lambda draw: draw.rectangle((low, low, high, high), outline="black", width=width)))

    assert overlap(square(10), square(3)) > 0.95


def test_the_paler_of_two_tones_is_left_out():
    def paint(draw, fill):
        draw.rectangle((20, 20, 108, 108), fill=fill, outline=(0, 0, 0, 255), width=6)

    two = ink_of(png(lambda draw: paint(draw, (0, 0, 0, 50)), mode="RGBA", paper=(0, 0, 0, 0)))
    one = ink_of(png(lambda draw: paint(draw, None), mode="RGBA", paper=(0, 0, 0, 0)))
    assert np.array_equal(two, one)


def test_line_art_looks_as_it_does_as_a_query():
    content = png(lambda draw: draw.line([(10, 10), (110, 60), (10, 110)], fill="black", width=4))
    assert overlap(ink_of(content), read_sketch(content, SIZE)) > 0.9


def test_what_is_shown_of_it_is_a_square_in_its_own_colours():
    content = png(lambda draw: draw.rectangle((10, 30, 118, 98), fill="red"))
    looks = DrawingPicture.of(read_drawing(content, SIZE)).looks
    assert looks.shape == (256, 256, 3)
    assert looks[128, 128].tolist() == [255, 0, 0]


def test_a_white_icon_is_shown_on_grey():
    content = png(lambda draw: draw.rectangle((10, 30, 118, 98), fill="white"), mode="RGBA", paper=(0, 0, 0, 0))
    looks = DrawingPicture.of(read_drawing(content, SIZE)).looks
    assert looks[128, 128].tolist() == [255, 255, 255]
    assert looks[2, 2].max() < 200


@pytest.mark.parametrize("paper", ["white", "black", (0, 0, 0, 0)])
def test_nothing_drawn_is_refused(paper):
    with pytest.raises(UnreadableImage, match="nothing is drawn"):
        read_drawing(png(lambda draw: None, mode="RGBA", paper=paper), SIZE)


@pytest.mark.parametrize("side", [24, 64, 400])
@pytest.mark.parametrize("paper", ["white", "#123456", (0, 0, 0, 0)])
def test_icons_are_told_to_be_drawings(side, paper):
    def paint(draw):
        draw.ellipse((side // 6, side // 6, side - side // 6, side - side // 6), fill="#e05030")
        draw.line((side // 4, side // 4, side // 2, side // 2), fill="#ffd000", width=max(side // 12, 1))

    assert is_drawing(png(paint, side, "RGBA", paper))


def test_photos_are_told_to_be_photos_even_cut_out_on_white():
    rng = np.random.default_rng(0)
    rows, columns = np.mgrid[:200, :200]
    light = 90 + 60 * np.sin(columns / 40) + 40 * np.cos(rows / 30)
    scene = np.clip(light[..., None] + rng.normal(0, 4, (200, 200, 3)), 0, 255).astype(np.uint8)
    cut_out = np.where(((rows - 100) ** 2 + (columns - 100) ** 2 < 60**2)[..., None], scene, 255).astype(np.uint8)
    in_shadow = np.where((columns > 100)[..., None] | (cut_out == 255), cut_out, 0).astype(np.uint8)  # as the moon is
    for pixels in (scene, cut_out, in_shadow, np.full((50, 50, 3), 200, np.uint8)):
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, "PNG")
        assert not is_drawing(file.getvalue())


def test_jpegs_are_photos_unless_somebody_says_otherwise():
    file = io.BytesIO()
    Image.open(io.BytesIO(png(lambda draw: draw.line((0, 0, 99, 99), fill="black")))).save(file, "JPEG")
    assert not may_be_drawing(file.getvalue())
    assert DrawingPicture.of(read_drawing(file.getvalue(), SIZE)).ink.min() == 0


def test_a_drawing_has_one_dimension_and_a_photo_three():
    drawn = png(lambda draw: draw.line((9, 9, 99, 99), fill="black", width=3))
    as_drawing, as_photo = (lambda _: np.zeros(3, np.uint8)), (lambda _: np.zeros((1, 1, 3), np.uint8))
    assert read_either(drawn, as_drawing, as_photo).ndim == 1
    assert read_either(png(lambda draw: None), as_drawing, as_photo).ndim == 3
