import time
from dataclasses import replace

import numpy as np
import pytest

from sketchhash.datasets import open_dataset, sketch_ink
from sketchhash.evaluation.encodings import Encodings, Medium
from sketchhash.imaging import InkStyle, read_photo
from sketchhash.model import Model


@pytest.fixture
def zoo(tmp_path, paint_photo, paint_sketch):
    for number in range(20):
        paint_photo(tmp_path / "zoo" / "photos" / "cat" / f"{number:02}.jpg", number)
        paint_sketch(tmp_path / "zoo" / "sketches" / "cat" / f"{number:02}.png", number)
    return open_dataset(tmp_path / "zoo")


@pytest.fixture
def encodings(model, tmp_path):
    return Encodings(model, tmp_path / "cache", threads=2)


def make_all(encodings, medium, items):
    missing = encodings.missing(medium, items)
    encodings.encode(medium, missing)
    return len(missing)


def test_values_are_those_that_the_model_gives(encodings, model, zoo):
    make_all(encodings, Medium.PHOTO, zoo.photos)
    make_all(encodings, Medium.SKETCH, zoo.sketches)
    items, values = encodings.values(Medium.PHOTO, zoo.photos)
    assert items == list(zoo.photos)
    np.testing.assert_allclose(values, model.encode_photos([read_photo(item.content) for item in items]), rtol=1e-5)
    ink = model.manifest.ink
    inked = np.stack([sketch_ink(item, ink.size, InkStyle(ink.line_width, ink.margin)) for item in zoo.sketches])
    np.testing.assert_allclose(
        encodings.values(Medium.SKETCH, zoo.sketches)[1], model.encode_sketches(inked), rtol=1e-5
    )


def test_what_was_encoded_is_not_encoded_again(encodings, model, zoo, tmp_path):
    assert make_all(encodings, Medium.PHOTO, [*zoo.photos, *zoo.photos]) == 20
    again = Encodings(model, tmp_path / "cache")
    assert again.missing(Medium.PHOTO, zoo.photos) == []
    assert len(again.missing(Medium.SKETCH, zoo.sketches)) == 20
    np.testing.assert_array_equal(
        again.values(Medium.PHOTO, zoo.photos)[1], encodings.values(Medium.PHOTO, zoo.photos)[1]
    )


def test_another_model_and_a_changed_file_are_encoded_anew(encodings, make_model_folder, zoo, tmp_path, paint_photo):
    make_all(encodings, Medium.PHOTO, zoo.photos)
    other = Encodings(Model.load(make_model_folder(seed=1)), tmp_path / "cache")
    assert len(other.missing(Medium.PHOTO, zoo.photos)) == 20
    time.sleep(0.01)
    paint_photo(zoo.photos[3].content, seed=99)
    assert encodings.missing(Medium.PHOTO, zoo.photos) == [zoo.photos[3]]


def test_an_interrupted_run_goes_on_where_it_was(encodings, model, zoo, tmp_path, monkeypatch):
    monkeypatch.setattr("sketchhash.evaluation.encodings._AT_ONCE", 4)
    done = []

    def stop_soon():
        done.append(1)
        if len(done) == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encodings.encode(Medium.PHOTO, zoo.photos, stop_soon)
    again = Encodings(model, tmp_path / "cache")
    left = again.missing(Medium.PHOTO, zoo.photos)
    assert left == list(zoo.photos[12:])
    again.encode(Medium.PHOTO, left)
    fresh = Encodings(model, tmp_path / "other")
    make_all(fresh, Medium.PHOTO, zoo.photos)
    np.testing.assert_allclose(
        again.values(Medium.PHOTO, zoo.photos)[1], fresh.values(Medium.PHOTO, zoo.photos)[1], rtol=1e-5
    )


def test_many_items_fill_several_files_and_none_is_lost(encodings, model, zoo, tmp_path, monkeypatch):
    monkeypatch.setattr("sketchhash.evaluation.encodings._AT_ONCE", 3)
    monkeypatch.setattr("sketchhash.evaluation.encodings._IN_A_FILE", 6)
    make_all(encodings, Medium.SKETCH, zoo.sketches)
    assert len(list(encodings.folder.glob("*.npz"))) == 4
    assert Encodings(model, tmp_path / "cache").missing(Medium.SKETCH, zoo.sketches) == []


@pytest.mark.parametrize("damage", [b"", b"junk", None])
def test_a_damaged_file_costs_time_alone(encodings, model, zoo, tmp_path, damage):
    make_all(encodings, Medium.PHOTO, zoo.photos)
    (path,) = encodings.folder.glob("*.npz")
    path.write_bytes(path.read_bytes()[:-40] if damage is None else damage)
    assert len(Encodings(model, tmp_path / "cache").missing(Medium.PHOTO, zoo.photos)) == 20


def test_unreadable_pictures_are_named_and_left_out(encodings, zoo):
    zoo.photos[0].content.write_bytes(b"junk")
    zoo.photos[1].content.unlink()
    make_all(encodings, Medium.PHOTO, zoo.photos)
    assert set(encodings.unreadable) == {zoo.photos[0].id, zoo.photos[1].id}
    items, values = encodings.values(Medium.PHOTO, zoo.photos)
    assert items == list(zoo.photos[2:])
    assert len(values) == 18


def test_the_same_id_as_a_sketch_and_as_a_photo_are_two_items(encodings, zoo):
    photo = replace(zoo.photos[0], id="same")
    sketch = replace(zoo.sketches[0], id="same", content=photo.content)
    make_all(encodings, Medium.PHOTO, [photo])
    assert encodings.missing(Medium.SKETCH, [sketch]) == [sketch]


def test_worlds_without_files_are_encoded_too(encodings, berlin):
    assert make_all(encodings, Medium.PHOTO, berlin.photos[:2]) == 2
    assert make_all(encodings, Medium.SKETCH, berlin.sketches[:2]) == 2
    assert encodings.unreadable == {}
