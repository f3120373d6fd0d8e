import numpy as np
import pytest
from PIL import Image

from sketchhash.datasets import check, open_dataset, pair, photo_pixels
from sketchhash.datasets.stamps import Stamp, category_of
from sketchhash.errors import DatasetProblem


@pytest.fixture
def stamps(tmp_path):
    """A package unpacked into a folder: three photos, three drawings, and a picture without a caption."""
    top = tmp_path / "package" / "usr" / "share" / "tuxpaint" / "stamps"
    for name, caption in {
        "animals/mammals/kangaroo": "A red kangaroo.\nde.utf8=Ein rotes Känguru.\n",
        "animals/mammals/kangaroo-2": "Two kangaroos.",
        "household/spade": "A garden spade.",
        "animals/mammals/cartoon/lion": "A happy lion!",
        "animals/mammals/hedgehog": "A hedgehog.",
        "symbols/shapes/star": "A star.",
        "animals/mammals/kangaroo_mirror": None,
    }.items():
        path = top / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGBA", (10, 40), (200, 0, 0, 255)).save(path)
        if caption:
            path.with_suffix(".txt").write_text(caption, encoding="utf-8")
    (top / "animals" / "mammals" / "cat.svg").write_text("<svg/>")
    (top / "animals" / "mammals" / "cat.txt").write_text("A cat.")
    return tmp_path / "package"


def test_photos_are_taken_and_drawings_are_left_out(stamps):
    dataset = open_dataset(stamps)
    assert dataset.categories == ("garden spade", "kangaroo")
    assert [item.id for item in dataset.photos] == [
        "household/spade.png",
        "animals/mammals/kangaroo-2.png",
        "animals/mammals/kangaroo.png",
    ]
    assert not dataset.sketches
    assert dataset.remarks == ("left out are 3 drawn stamps and 1 without a caption",)


def test_ids_are_the_same_whichever_folder_of_the_package_is_named(stamps):
    top = stamps / "usr" / "share" / "tuxpaint" / "stamps"
    for root in (top, top.parent, top.parent.parent):
        assert [item.id for item in open_dataset(root).photos] == [item.id for item in open_dataset(stamps).photos]


def test_a_stamp_stands_unsqueezed_in_the_middle_of_a_white_square(stamps):
    pixels = photo_pixels(open_dataset(stamps).photos[0])
    assert pixels.shape == (45, 45, 3)
    rows, columns = np.nonzero(pixels[:, :, 1] == 0)
    assert (rows.min(), rows.max(), columns.min(), columns.max()) == (2, 41, 17, 26)
    assert (pixels[0] == 255).all()


def test_a_large_stamp_is_reduced(stamps):
    path = stamps / "usr" / "share" / "tuxpaint" / "stamps" / "household" / "spade.png"
    Image.new("RGB", (2000, 600)).save(path)
    assert Stamp(path).read().shape == (576, 576, 3)


def test_stamps_go_together_with_the_sketches_of_another_dataset(stamps, tmp_path, paint_sketch):
    paint_sketch(tmp_path / "drawn" / "sketches" / "kangaroo" / "1.png")
    both = pair(open_dataset(tmp_path / "drawn"), open_dataset(stamps))
    assert both.categories == ("kangaroo",)
    assert len(both.photos) == 2
    assert check(both).photos == 2


def test_pictures_without_captions_are_not_stamps(tmp_path, paint_photo):
    paint_photo(tmp_path / "animals" / "a.png")
    with pytest.raises(DatasetProblem, match="Tux Paint stamps: "):
        open_dataset(tmp_path)


@pytest.mark.parametrize(
    ("caption", "file_name", "category"),
    [
        ("A frog.", "frog-1", "frog"),
        ("A “Granny Smith” apple.", "apple_granny_smith", "apple"),
        ("A ripe, red tomato!", "tomato", "tomato"),
        ("A spiny lobster, from the Hawaiian islands.", "lobster", "lobster"),
        ("A pair of open scissors.", "scissors_small_open", "scissors"),
        ("A bunch of grapes.", "grapes", "grapes"),
        ("The baby of a gnu.", "gnu-baby", "gnu"),
        ("A glass of water.", "glass", "glass"),
        ("Two flowers.", "flower4", "flower with stem"),
        ("Holly leaves are shiny and have prickles!", "holly_leaves", "leaf"),
        ("A fire truck.", "firetruck", "firetruck"),
        ("A garbage truck.", "garbagetruck", "truck"),
        ("A soccer ball.", "soccer", "soccer ball"),
        ("Eat your broccoli!", "broccoli", "broccoli"),
        ("Remember to flush the toilet and wash your hands with soap!", "toilet", "toilet"),
        ("A baby sheep (a lamb).", "sheep_lamb", "sheep"),
        ("Our moon as a crescent.", "moon_crescent", "moon"),
        ("A crowned crane.", "crowned_crane", "crowned crane"),
        ("A sea lion.", "sea_lion", "sea lion"),
        ("A VW Beetle.", "beetle", "car (sedan)"),
        ("Edward Bear.", "edward_bear", "teddy-bear"),
        ("", "old_gun_2", "old gun"),
        ("…", "12", "12"),
    ],
)
def test_a_caption_names_a_category(caption, file_name, category):
    assert category_of(caption, file_name) == category
