import numpy as np
import pytest

from sketchhash.datasets import open_dataset, pair, photo_pixels, sketch_ink
from sketchhash.errors import DatasetProblem
from sketchhash.imaging.ink import Drawing


def found(items, categories):
    return [(categories[item.label], item.id) for item in items]


def test_a_pair_of_folders_names_its_categories_after_the_folders(folder_pair):
    dataset = open_dataset(folder_pair)
    assert dataset.name == "zoo"
    assert dataset.categories == ("cat", "dog", "owl")
    assert len(dataset.sketches) == 12
    assert found(dataset.photos, dataset.categories)[:2] == [
        ("cat", "cat/web_0.jpg"),
        ("cat", "cat/web_1.jpg"),
    ]


def test_folders_of_categories_without_a_folder_above_are_photos(tmp_path, paint_photo):
    for path in ("zoo/cat/web_1.webp", "zoo/cat/web_2.jpg", "zoo/crane (machine)/a.webp", "zoo/.cache/a.jpg"):
        paint_photo(tmp_path / path)
    dataset = open_dataset(tmp_path / "zoo")
    assert dataset.name == "zoo"
    assert not dataset.sketches
    assert found(dataset.photos, dataset.categories) == [
        ("cat", "cat/web_1.webp"),
        ("cat", "cat/web_2.jpg"),
        ("crane (machine)", "crane (machine)/a.webp"),
    ]
    assert "taken for photos" in dataset.remarks[-1]


def test_one_folder_of_pictures_is_no_dataset(tmp_path, paint_photo):
    paint_photo(tmp_path / "holiday" / "beach" / "1.jpg")
    (tmp_path / "holiday" / "notes").mkdir()
    with pytest.raises(DatasetProblem, match="at least two of them with pictures"):
        open_dataset(tmp_path / "holiday")


def test_ids_do_not_depend_on_where_the_dataset_lies(folder_pair, tmp_path):
    before = [item.id for item in open_dataset(folder_pair).sketches]
    folder_pair.rename(tmp_path / "moved")
    assert [item.id for item in open_dataset(tmp_path / "moved").sketches] == before


def test_tuberlin_photo_folders_are_found_under_their_misspelt_names(tuberlin):
    dataset = open_dataset(tuberlin)
    assert len(dataset.categories) == 250
    assert found(dataset.photos, dataset.categories) == [
        ("airplane", "airplane/n01_1.JPEG"),
        ("giraffe", "giraffe/n01_1.JPEG"),
        ("mouse (animal)", "mouse (animal)/n01_1.JPEG"),
        ("wrist-watch", "wrist-watch/n01_1.JPEG"),
    ]
    assert dataset.remarks == ()


def test_an_unknown_tuberlin_folder_is_remarked_on_with_the_nearest_category(tuberlin, paint_photo):
    paint_photo(tuberlin / "ImageResized" / "airplain" / "n01_1.JPEG")
    (remark,) = open_dataset(tuberlin).remarks
    assert "airplain" in remark
    assert "'airplane'" in remark


def test_two_folders_of_one_category_with_the_same_file_are_refused(tuberlin, paint_photo):
    paint_photo(tuberlin / "ImageResized" / "mouseanimal" / "n01_1.JPEG")
    with pytest.raises(DatasetProblem, match=r"mouse \(animal\)/n01_1.JPEG"):
        open_dataset(tuberlin)


def test_sketchy_takes_one_variant_of_the_sketches_and_the_extended_photos_alone(sketchy):
    dataset = open_dataset(sketchy)
    assert len(dataset.categories) == 125
    assert found(dataset.sketches, dataset.categories) == [
        ("hot-air_balloon", "hot-air_balloon/n01_1-1.png"),
        ("jack-o-lantern", "jack-o-lantern/n01_1-1.png"),
    ]
    assert [item.id for item in dataset.photos if dataset.categories[item.label] == "jack-o-lantern"] == [
        "jack-o-lantern/ext_1.jpg",
        "jack-o-lantern/n01_1.jpg",
    ]


def test_quickdraw_strokes_are_read_simplified_and_raw(quickdraw_official):
    dataset = open_dataset(quickdraw_official)
    assert dataset.categories == ("cat", "dog")
    second_cat, dog = dataset.sketches[1].content.read(), dataset.sketches[2].content.read()
    assert isinstance(second_cat, Drawing)
    np.testing.assert_array_equal(second_cat.strokes[0], [[0, 0], [255, 0], [255, 255]])
    np.testing.assert_array_equal(dog.strokes[0], [[0.5, 1.5], [900.25, 700]])


def test_a_broken_quickdraw_line_names_its_file_and_place(quickdraw_official):
    with (quickdraw_official / "dog.ndjson").open("a") as file:
        file.write('{"drawing": [[1')
    with pytest.raises(DatasetProblem, match=r"dog\.ndjson: the line at byte \d+"):
        open_dataset(quickdraw_official).sketches[-1].content.read()


def test_quickdraw_bitmaps_are_dark_ink_on_white(quickdraw_bitmaps):
    dataset = open_dataset(quickdraw_bitmaps)
    assert dataset.categories == ("car", "cat", "octopus")
    bitmap = dataset.sketches[0].content.read()
    assert bitmap.shape == (28, 28)
    assert bitmap[0, 0] == 255
    assert bitmap[14, 10] < 10


def test_a_truncated_bitmap_file_is_named(quickdraw_bitmaps):
    path = quickdraw_bitmaps / "src" / "drawings" / "cat.ndjson.gz"
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(DatasetProblem, match=r"cat\.ndjson\.gz"):
        open_dataset(quickdraw_bitmaps)


def test_cifar10_photos_are_rows_of_the_batches_with_their_labels(cifar10):
    dataset = open_dataset(cifar10)
    assert len(dataset.photos) == 12
    assert {item.id: item.label for item in dataset.photos}["cat/test_batch_0000"] == 3
    by_id = {item.id: photo_pixels(item) for item in dataset.photos}
    assert by_id["airplane/data_batch_1_0000"].shape == (32, 32, 3)
    assert (by_id["dog/data_batch_3_0001"] == 5).all()


def test_missing_cifar10_labels_are_named(cifar10):
    (cifar10 / "train_lables.json").unlink()
    with pytest.raises(DatasetProblem, match=r"train_lables\.json"):
        open_dataset(cifar10)


def test_sketches_and_photos_of_two_datasets_join_over_names_that_mean_the_same(quickdraw_bitmaps, cifar10):
    joined = open_dataset(quickdraw_bitmaps, photos=cifar10)
    assert joined.categories == ("car", "cat")
    assert len(joined.sketches) == 6
    assert [item.id for item in joined.photos if item.label == 0] == [
        "automobile/data_batch_1_0001",
        "automobile/test_batch_0001",
    ]
    assert "2 categories are in both" in joined.remarks[-1]


def test_categories_of_one_meaning_become_one_in_a_pair(tmp_path, paint_photo, paint_sketch):
    paint_sketch(tmp_path / "drawn" / "sketches" / "ship" / "1.png")
    for category in ("ship", "cruise ship"):
        paint_photo(tmp_path / "shown" / "photos" / category / "1.jpg")
    both = pair(open_dataset(tmp_path / "drawn"), open_dataset(tmp_path / "shown"))
    assert both.categories == ("ship",)
    assert [photo.id for photo in both.photos] == ["cruise ship/1.jpg", "ship/1.jpg"]
    assert "left out are 0 of drawn and 0 of shown" in both.remarks[-1]


def test_datasets_without_a_common_category_do_not_join(folder_pair, quickdraw_official, tmp_path):
    for kind in ("sketches", "photos"):
        (tmp_path / "other" / kind / "zebra").mkdir(parents=True)
    with pytest.raises(DatasetProblem, match="no category in common"):
        pair(open_dataset(quickdraw_official), open_dataset(tmp_path / "other"))


def test_a_folder_that_is_no_dataset_is_told_what_was_expected(tmp_path):
    with pytest.raises(DatasetProblem, match="sketches/<category>/, photos/<category>/ or both") as caught:
        open_dataset(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(DatasetProblem, match="nowhere is not a folder"):
        open_dataset(tmp_path / "nowhere")


def test_every_kind_of_sketch_becomes_ink_of_one_form(folder_pair, quickdraw_official, quickdraw_bitmaps):
    for root in (folder_pair, quickdraw_official, quickdraw_bitmaps):
        ink = sketch_ink(open_dataset(root).sketches[0], 200)
        assert ink.shape == (200, 200)
        assert ink[0, 0] == 255
        assert ink.min() < 100


def test_the_synthetic_world_opens_by_name():
    world = open_dataset("synthetic")
    assert len(world.categories) >= 24
    assert sketch_ink(world.sketches[0], 200).min() < 100
    assert photo_pixels(world.photos[0]).ndim == 3


@pytest.mark.parametrize(("folder", "sketches", "photos"), [("sketches", 1, 0), ("photos", 0, 1)])
def test_one_of_the_two_folders_may_stand_alone(tmp_path, folder, sketches, photos):
    (tmp_path / folder / "key").mkdir(parents=True)
    (tmp_path / folder / "key" / "a.png").write_bytes(b"")
    dataset = open_dataset(tmp_path)
    assert (len(dataset.sketches), len(dataset.photos)) == (sketches, photos)
