"""Pictures become tensors of one form."""

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from sketchhash.baselines.deep import pictures
from sketchhash.baselines.deep.networks import Colour, Ink
from sketchhash.baselines.deep.pictures import augment, keeping_pixels_in, read_edges, read_ink, read_photos
from sketchhash.errors import BadArgument, UnwritableState


def test_photos_edges_and_ink_are_read_in_order_into_bytes(shape_views):
    photos, edges = read_photos(shape_views.photos, 40), read_edges(shape_views.photos, 40)
    ink = read_ink(shape_views.sketches, 40)
    assert photos.shape == (15, 3, 40, 40)
    assert edges.shape == ink.shape == (15, 1, 40, 40)
    assert {photos.dtype, edges.dtype, ink.dtype} == {torch.uint8}
    mean = torch.tensor(shape_views.photos[3].mean(axis=(0, 1)), dtype=torch.float32)
    assert_close(photos[3].float().mean(dim=(1, 2)), mean, atol=2, rtol=0)


def test_pixels_that_are_too_many_for_memory_are_the_same_from_a_file(shape_views, monkeypatch, tmp_path):
    expected = read_photos(shape_views.photos, 40), read_ink(shape_views.sketches, 40)
    files = count_files(monkeypatch)
    with keeping_pixels_in(tmp_path / "pixels"):
        monkeypatch.setattr(pictures, "_IN_MEMORY", 0)
        found = read_photos(shape_views.photos, 40), read_ink(shape_views.sketches, 40)
    assert files == [tmp_path / "pixels"] * 2
    rows = torch.tensor([7, 0, 7])
    for some, others in zip(found, expected, strict=True):
        assert_close(some, others, rtol=0, atol=0)
        assert_close(
            augment(some[rows], torch.Generator().manual_seed(0)),
            augment(others[rows], torch.Generator().manual_seed(0)),
            rtol=0,
            atol=0,
        )


def test_a_file_of_pixels_does_not_stay(shape_views, monkeypatch, tmp_path):
    monkeypatch.setattr(pictures, "_IN_MEMORY", 0)
    with keeping_pixels_in(tmp_path):
        pixels = read_photos(shape_views.photos, 40)
        with pytest.raises(BadArgument, match="learns from pictures"):
            read_ink(np.zeros((5, 8)), 40)
    del pixels
    assert not list(tmp_path.iterdir())


def test_a_few_pixels_stay_in_memory(shape_views, monkeypatch):
    files = count_files(monkeypatch)
    read_photos(shape_views.photos, 40)
    assert not files


def test_pixels_that_no_disk_can_hold_are_refused_before_they_are_read(monkeypatch, tmp_path):
    class Endless:
        def __len__(self):
            return 10**12

        def __getitem__(self, row):
            pytest.fail("read")

    with keeping_pixels_in(tmp_path), pytest.raises(UnwritableState, match=r"need 150528000\.0 GB"):
        read_photos(Endless(), 224)


def count_files(monkeypatch):
    """Return a list to which the folder of every temporary file is added."""
    files, made = [], pictures.TemporaryFile
    monkeypatch.setattr(pictures, "TemporaryFile", lambda dir: files.append(dir) or made(dir=dir))
    return files


def test_edges_lie_where_the_photo_has_them_as_ink_on_paper():
    photo = np.full((60, 60, 3), 200, dtype=np.uint8)
    photo[:, 30:] = 40
    edges = read_edges([photo], 60)[0, 0]
    assert edges[30].argmin().item() in (29, 30)
    assert edges[:, :20].min() == edges[:, 40:].min() == 255


def test_ink_of_the_right_size_is_taken_as_it_is(shape_views):
    np.testing.assert_array_equal(read_ink(shape_views.sketches, 64)[4, 0], shape_views.sketches[4])


def test_networks_are_fed_ink_as_one_and_paper_as_zero():
    assert Ink()(torch.tensor([0, 255], dtype=torch.uint8).view(1, 1, 1, 2)).flatten().tolist() == [1, 0]


def test_a_sketch_in_colour_has_three_channels_standardised_like_a_photo():
    grey = torch.full((2, 1, 4, 4), 90, dtype=torch.uint8)
    assert_close(Colour()(grey), Colour()(grey.expand(-1, 3, -1, -1)))
    mean = torch.tensor([123.675, 116.28, 103.53]).view(1, 3, 1, 1)
    assert_close(Colour()(mean), torch.zeros(1, 3, 1, 1))


def test_jostled_ink_stays_ink_on_paper_and_keeps_its_place():
    ink = torch.full((200, 1, 33, 33), 255, dtype=torch.uint8)
    ink[:, :, 15:18, 15:18] = 0
    moved = augment(ink, torch.Generator().manual_seed(0))
    assert moved.min() > -1e-3 and moved.max() < 255 + 1e-3
    darkness = 255 - moved[:, 0]
    corners = darkness[:, [0, 0, -1, -1], [0, -1, 0, -1]]
    assert corners.abs().max() < 1e-3
    assert 0.6 < darkness.sum(dim=(1, 2)).mean() / (9 * 255) < 1.6
    assert (darkness.mean(dim=0)[10:23, 10:23].sum() / darkness.mean(dim=0).sum()) > 0.99


def test_a_photo_goes_on_beyond_its_border():
    photo = torch.full((50, 3, 16, 16), 70, dtype=torch.uint8)
    assert_close(augment(photo, torch.Generator().manual_seed(0)), photo.float())


def test_equal_generators_jostle_alike():
    ink = torch.randint(0, 256, (4, 1, 20, 20), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    first, second, other = (augment(ink, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert_close(first, second, rtol=0, atol=0)
    assert not torch.equal(first, other)


def test_features_are_refused():
    with pytest.raises(BadArgument, match="learns from pictures"):
        read_ink(np.zeros((5, 8)), 40)
