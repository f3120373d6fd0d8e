import numpy as np
import pytest

from sketchhash.datasets import Item, sketch_ink
from sketchhash.paper.features import SKETCH_SIDE, InkStore, Pictures, photo_pictures


def test_a_picture_is_decoded_when_it_is_asked_for():
    read = []
    items = [Item(name, 0, None) for name in "abcd"]
    pictures = Pictures(items, lambda item: read.append(item.id) or np.zeros((2, 2), np.uint8))
    some = pictures[1:3]
    assert (len(pictures), len(some), read) == (4, 2, [])
    assert some[1].shape == (2, 2)
    assert read == ["c"]
    assert len(list(pictures)) == 4


def test_photos_come_as_they_are(world):
    photos = photo_pictures(world.photos[:2])
    assert [photo.shape for photo in photos] == [(48, 48, 3)] * 2


def test_sketches_are_kept_and_read_back_without_being_drawn_again(world, tmp_path, monkeypatch):
    items, path = world.sketches[:3], tmp_path / "new" / "ink.npz"
    advanced = []
    first = InkStore.open(path, items, lambda: advanced.append(1))
    assert len(advanced) == 3
    np.testing.assert_array_equal(first.pictures(items[1:])[0], sketch_ink(items[1], SKETCH_SIDE))

    monkeypatch.setattr("sketchhash.paper.features.sketch_ink", lambda *_: pytest.fail("drawn again"))
    again = InkStore.open(path, items)
    for one, other in zip(first.pictures(items), again.pictures(items), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_damaged_store_is_made_anew(world, tmp_path):
    path = tmp_path / "ink.npz"
    path.write_bytes(b"PK junk")
    store = InkStore.open(path, world.sketches[:2])
    assert len(store.pictures(world.sketches[:2])) == 2
    assert InkStore.open(path, world.sketches[:2]).pictures(world.sketches[:1])[0].shape == (SKETCH_SIDE, SKETCH_SIDE)
