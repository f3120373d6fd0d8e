from __future__ import annotations

import pickle
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

from sketchhash.datasets import open_dataset, synthetic
from sketchhash.datasets.dataset import Item
from sketchhash.datasets.synthetic import sketches
from sketchhash.datasets.synthetic.catalogue import Category
from sketchhash.datasets.synthetic.parts import Material, Part, box, solid
from sketchhash.datasets.synthetic.photos import photograph
from sketchhash.errors import BadArgument, UnknownName
from sketchhash.imaging import read_photo
from sketchhash.imaging.ink import rasterise

EVERY = pytest.mark.parametrize("category", synthetic.CATEGORIES)


def photo(category: str, seed: int = 0, size: int = 64) -> np.ndarray:
    return synthetic.render_photo(category, np.random.default_rng(seed), size)


def ink(category: str, seed: int = 0, size: int = 64) -> np.ndarray:
    return rasterise(synthetic.draw_sketch(category, np.random.default_rng(seed)), size)


def bytes_of(item: Item) -> bytes:
    content = item.content.read()
    return content.tobytes() if isinstance(content, np.ndarray) else b"".join(s.tobytes() for s in content.strokes)


def test_there_are_many_categories_in_order():
    assert len(synthetic.CATEGORIES) >= 24
    assert list(synthetic.CATEGORIES) == sorted(set(synthetic.CATEGORIES))


@EVERY
def test_a_photo_shows_the_thing_on_a_fair_share_of_its_pixels(category):
    for seed in range(3):
        taken = photograph(category, np.random.default_rng(seed), 96)
        assert taken.pixels.shape == (96, 96, 3)
        assert taken.pixels.dtype == np.uint8
        assert 0.04 < taken.mask.mean() < 0.6
        assert taken.pixels.std() > 15


@EVERY
def test_the_thing_stands_out_from_what_surrounds_it(category):
    contrasts = []
    for seed in range(4):
        taken = photograph(category, np.random.default_rng(seed), 96)
        inside, outside = taken.pixels[taken.mask > 0.9], taken.pixels[taken.mask < 0.1]
        contrasts.append(np.abs(inside.mean(axis=0) - outside.mean(axis=0)).max())
    assert np.mean(contrasts) > 15


@EVERY
def test_a_sketch_is_strokes_in_about_a_unit_box(category):
    for seed in range(5):
        strokes = synthetic.draw_sketch(category, np.random.default_rng(seed)).strokes
        assert len(strokes) >= 2
        assert all(stroke.ndim == 2 and len(stroke) >= 3 and stroke.dtype == np.float32 for stroke in strokes)
        points = np.vstack(strokes)
        assert np.isfinite(points).all()
        assert np.abs(points - 0.5).max() < 1.5
        assert np.ptp(points, axis=0).max() > 0.5


@EVERY
def test_instances_of_a_category_differ(category):
    assert np.abs(photo(category, 1).astype(int) - photo(category, 2)).mean() > 8
    assert np.abs(ink(category, 1).astype(int) - ink(category, 2)).mean() > 3


def test_large_parts_are_drawn_first():
    strokes = synthetic.draw_sketch("house", np.random.default_rng(3)).strokes
    sizes = [np.ptp(stroke, axis=0).max() for stroke in strokes]
    assert min(sizes[:2]) > max(sizes[-4:])


@pytest.mark.parametrize(
    ("nearer", "is_shortened"),
    [({}, True), ({"clear": True}, False), ({"group": "one"}, True)],
    ids=["behind an opaque part", "behind glass", "inside the same body"],
)
def test_a_hidden_line_is_not_drawn(monkeypatch, nearer, is_shortened):
    """A box has a side behind (or grown into) another: only what is in view gets ink."""
    paint = Material((0.5, 0.5, 0.5))
    far = solid("far", box(0.3, 0.5, 0.4, 0.4), paint, group=nearer.get("group", ""))
    near = solid("near", box(0.6, 0.5, 0.6, 0.7), paint, **nearer)

    def points_drawn(*parts: Part) -> float:
        monkeypatch.setattr(sketches, "find", lambda name: Category(name, lambda p: iter(parts), ()))
        drawings = [synthetic.draw_sketch("boxes", np.random.default_rng(seed)) for seed in range(20)]
        return float(np.mean([sum(map(len, drawing.strokes)) for drawing in drawings]))

    apart = points_drawn(far) + points_drawn(near)
    together = points_drawn(far, near)
    assert (together < 0.85 * apart) == is_shortened


@pytest.mark.parametrize("kind", ["sketches", "photos"])
def test_an_item_is_the_same_whatever_else_is_asked_for(kind):
    few = synthetic.load(2, 2, categories=["cat"], size=48)
    many = synthetic.load(4, 4, categories=["apple", "cat", "tree"], size=48)
    by_id = {item.id: item for item in getattr(many, kind)}
    for item in getattr(few, kind):
        assert bytes_of(item) == bytes_of(by_id[item.id])


def test_an_item_is_the_same_in_another_process():
    world = synthetic.load(1, 1, categories=["owl"], size=48)
    items = [world.photos[0], world.sketches[0]]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        elsewhere = [pool.submit(item.content.read).result() for item in items]
    assert elsewhere[0].tobytes() == bytes_of(items[0])
    assert b"".join(stroke.tobytes() for stroke in elsewhere[1].strokes) == bytes_of(items[1])


def test_every_item_and_every_seed_is_its_own():
    contents = [
        bytes_of(item)
        for seed in (0, 1)
        for world in [synthetic.load(2, 2, seed=seed, categories=["cat", "key"], size=32)]
        for item in (*world.sketches, *world.photos)
    ]
    assert len(set(contents)) == len(contents) == 16


def test_ids_and_labels_follow_the_sorted_categories():
    world = synthetic.load(1, 2, categories=["tree", "cat", "cat"])
    assert world.categories == ("cat", "tree")
    assert [(item.id, item.label) for item in world.photos] == [
        ("synthetic/cat/0000", 0),
        ("synthetic/cat/0001", 0),
        ("synthetic/tree/0000", 1),
        ("synthetic/tree/0001", 1),
    ]
    assert [item.id for item in world.sketches] == ["synthetic/cat/0000", "synthetic/tree/0000"]


def test_items_travel_as_small_values():
    world = synthetic.load(1, 1, categories=["cat"])
    assert len(pickle.dumps(world.photos[0])) < 500
    assert pickle.loads(pickle.dumps(world.sketches[0])) == world.sketches[0]


@pytest.mark.parametrize("use", [synthetic.draw_sketch, synthetic.render_photo])
def test_an_unknown_category_suggests_the_nearest(use):
    with pytest.raises(UnknownName, match="Did you mean 'giraffe'"):
        use("girafe", np.random.default_rng(0))


def test_a_dataset_of_unknown_categories_is_refused_at_once():
    with pytest.raises(UnknownName, match="no category named 'unicorn'"):
        synthetic.load(categories=["cat", "unicorn"])


@pytest.mark.parametrize("bad", [{"sketches_per_category": -1}, {"photos_per_category": 10_001}, {"seed": -1}])
def test_impossible_numbers_are_refused(bad):
    with pytest.raises(BadArgument, match="got"):
        synthetic.load(**bad)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_written_world_opens_as_a_folder_dataset(tmp_path, workers):
    world = synthetic.load(3, 2, categories=["cat", "car (sedan)"], size=48)
    assert list(synthetic.write(tmp_path / "world", world, size=64, workers=workers)) == list(range(1, 11))

    opened = open_dataset(tmp_path / "world")
    assert opened.categories == world.categories
    assert [item.label for item in opened.sketches] == [item.label for item in world.sketches]
    written, made = read_photo(opened.photos[0].content), world.photos[0].content.read()
    assert written.shape == made.shape == (48, 48, 3)
    assert np.abs(written.astype(int) - made).mean() < 8


def test_nothing_is_written_before_the_first_step(tmp_path):
    synthetic.write(tmp_path / "world", synthetic.load(1, 1, categories=["cat"]))
    assert not (tmp_path / "world").exists()


def oriented_energy(pictures: np.ndarray) -> np.ndarray:
    """Histograms of gradient directions on a grid of cells, of unit length: ``(pictures, features)``."""
    down, across = np.gradient(pictures, axis=(1, 2))
    strength, direction = np.hypot(down, across), np.arctan2(down, across) % np.pi
    bins = np.stack([strength * (np.floor(direction / np.pi * 6) % 6 == i) for i in range(6)], axis=-1)
    count, side = len(pictures), pictures.shape[1] // 8
    cells = np.sqrt(bins.reshape(count, 8, side, 8, side, 6).sum(axis=(2, 4)).reshape(count, -1))
    return cells / np.linalg.norm(cells, axis=1, keepdims=True)


def accuracy_of_nearest_centroid(pictures: np.ndarray, learn: int) -> float:
    """Learn from the first few pictures of each category, ``(categories, each, h, w)``; judge the rest."""
    categories, each = pictures.shape[:2]
    features = oriented_energy(pictures.reshape(-1, *pictures.shape[2:]).astype(float)).reshape(categories, each, -1)
    guesses = (features[:, learn:] @ features[:, :learn].mean(axis=1).T).argmax(axis=2)
    return float((guesses == np.arange(categories)[:, None]).mean())


def mirrored_to_one_side(pictures: np.ndarray) -> np.ndarray:
    """Flip each picture whose ink lies more to the right: sketches face either way."""
    half = pictures.shape[2] // 2
    leans_right = pictures[:, :, half:].sum(axis=(1, 2)) > pictures[:, :, :half].sum(axis=(1, 2))
    return np.where(leans_right[:, None, None], pictures[:, :, ::-1], pictures)


def test_sketches_of_different_categories_can_be_told_apart():
    sketches = np.stack(
        [mirrored_to_one_side(255 - np.stack([ink(c, seed) for seed in range(9)])) for c in synthetic.CATEGORIES]
    )
    assert accuracy_of_nearest_centroid(sketches, learn=6) > 0.5


def test_outlines_of_photographed_things_can_be_told_apart():
    """The scene is not the category: even the bare silhouette of the thing tells what it is."""
    masks = np.stack(
        [
            np.stack([photograph(c, np.random.default_rng(seed), 64).mask for seed in range(8)])
            for c in synthetic.CATEGORIES
        ]
    )
    assert accuracy_of_nearest_centroid(masks, learn=6) > 5 / len(synthetic.CATEGORIES)


def test_a_sketch_is_not_the_outline_of_its_photo():
    """Drawn from one seed, photo and sketch still have their own proportions and position."""
    outline = photograph("cat", np.random.default_rng(0), 64).mask
    drawn = ink("cat", 0) < 128
    overlap = (drawn & (np.hypot(*np.gradient(outline)) > 0.2)).sum() / drawn.sum()
    assert overlap < 0.6
