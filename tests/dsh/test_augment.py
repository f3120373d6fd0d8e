"""Augmentations: same shape and range, the same for the same generator, and ink remains ink on white paper."""

import numpy as np
import pytest
import torch

from sketchhash.dsh.augment import augment_ink, augment_photos, redraw
from sketchhash.imaging import Drawing, rasterise


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.fixture
def ink():
    """Sixty-four equal sheets with a small square drawn in the middle."""
    sheet = torch.full((1, 40, 40), 255, dtype=torch.uint8)
    sheet[:, 15:25, 15:25] = 0
    return sheet.repeat(64, 1, 1, 1)


@pytest.fixture
def photos():
    return torch.randint(0, 256, (1, 3, 40, 40), generator=generator(7), dtype=torch.uint8).repeat(64, 1, 1, 1)


@pytest.fixture(params=[augment_ink, augment_photos], ids=["ink", "photos"])
def case(request, ink, photos):
    return request.param, ink if request.param is augment_ink else photos


def test_shape_and_range_are_kept(case):
    augment, pictures = case
    changed = augment(pictures, generator())
    assert changed.shape == pictures.shape
    assert changed.dtype == torch.float32
    assert changed.min() >= -1e-3
    assert changed.max() <= 255 + 1e-3


def test_the_generator_decides_everything(case):
    augment, pictures = case
    assert torch.equal(augment(pictures, generator(3)), augment(pictures, generator(3)))
    assert not torch.equal(augment(pictures, generator(3)), augment(pictures, generator(4)))


def test_torchs_own_generator_is_left_alone(case):
    augment, pictures = case
    before = torch.random.get_rng_state()
    augment(pictures, generator())
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_inputs_are_left_alone(case, dtype):
    augment, pictures = case
    given = pictures.to(dtype)
    before = given.clone()
    augment(given, generator())
    assert torch.equal(given, before)


def test_equal_pictures_are_changed_differently(case):
    augment, pictures = case
    changed = augment(pictures, generator())
    assert len(changed.flatten(1).unique(dim=0)) == len(pictures)


def test_paper_without_ink_stays_white():
    blank = torch.full((32, 1, 40, 40), 255, dtype=torch.uint8)
    assert torch.equal(augment_ink(blank, generator()), blank.float())


def test_the_border_of_a_sheet_stays_white(ink):
    changed = augment_ink(ink, generator())
    border = torch.cat([changed[..., 0, :], changed[..., -1, :], changed[..., 0], changed[..., -1]], dim=-1)
    assert (border == 255).all()


def test_most_sheets_keep_about_as_much_ink_as_they_had(ink):
    before = (255 - ink.float()).sum(dim=(1, 2, 3))
    share = (255 - augment_ink(ink, generator())).sum(dim=(1, 2, 3)) / before
    assert (share > 0.3).float().mean() > 0.8  # the others had the spot with the drawing rubbed out
    assert share.max() < 3


def test_ink_at_the_edge_is_cut_off_and_not_smeared():
    sheet = torch.full((64, 1, 40, 40), 255, dtype=torch.uint8)
    sheet[..., 0] = 0  # a line along the left edge: a border padding would fill the sheet with it
    assert (255 - augment_ink(sheet, generator())).mean() < 255 * 0.15


def test_photos_go_on_beyond_their_edge():
    grey = torch.full((16, 3, 40, 40), 127, dtype=torch.uint8)
    changed = augment_photos(grey, generator())
    assert torch.allclose(changed, changed[..., :1, :1].expand_as(changed), atol=1e-2)  # no black corners


HOUSE = Drawing.from_json(
    [
        [[0, 40], [0, 100], [80, 100], [80, 40]],
        [[-10, 45], [40, 0], [90, 45]],
        [[30, 100], [30, 70], [50, 70], [50, 100]],
        [[15, 55], [20, 55]],
        [[60, 55], [65, 55]],
    ]
)


def test_a_drawing_is_redrawn_differently_but_recognisably():
    rng = np.random.default_rng(0)
    plain = rasterise(HOUSE, 24).astype(float)
    others = np.stack([rasterise(redraw(HOUSE, rng), 24) for _ in range(20)]).astype(float)
    assert all(not np.array_equal(plain, other) for other in others)
    assert np.corrcoef(plain.ravel(), others.mean(axis=0).ravel())[0, 1] > 0.6


def test_redrawing_is_repeatable_and_leaves_the_drawing_alone():
    before = HOUSE.to_json()
    first, second = (redraw(HOUSE, np.random.default_rng(5)).to_json() for _ in range(2))
    assert first == second
    assert HOUSE.to_json() == before


def test_redrawing_leaves_out_some_strokes_but_never_most():
    rng = np.random.default_rng(1)
    counts = {len(redraw(HOUSE, rng).strokes) for _ in range(100)}
    assert counts == {3, 4, 5}


@pytest.mark.parametrize("strokes", [[[[5, 5]]], [[[5, 5], [5, 5]]], [[[0, 0], [0, 9]]]], ids=["dot", "same", "line"])
def test_the_smallest_drawings_can_be_redrawn(strokes):
    again = redraw(Drawing.from_json(strokes), np.random.default_rng(0))
    assert all(np.isfinite(stroke).all() and len(stroke) for stroke in again.strokes)
