"""A small world whose heads are compared."""

import pytest

from sketchhash.datasets import draw_split, synthetic
from sketchhash.dsh.progress import Silent
from sketchhash.dsh.recipe import load_recipe
from sketchhash.paper.heads.bench import HeadBench

RECIPE = """
base = "tiny"
description = "a few steps"
frozen_trunks = true
photo_views = 1
sketch_views = 1
[pretrain_photos]
epochs = 1
[pretrain_sketches]
epochs = 1
[hashing]
epochs = 2
"""
CATEGORIES = ("key", "snowman", "umbrella")


@pytest.fixture(scope="session")
def recipe_file(tmp_path_factory):
    """A recipe of a few steps."""
    path = tmp_path_factory.mktemp("recipe") / "quick.toml"
    path.write_text(RECIPE, encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def dataset():
    """Three categories, ten sketches and twelve photos of each."""
    return synthetic.load(10, 12, categories=CATEGORIES, size=48)


@pytest.fixture(scope="session")
def kept_out(dataset):
    """Four sketches of each category, which the trunks do not see."""
    return draw_split(dataset, queries=4)


@pytest.fixture(scope="session")
def bench(dataset, kept_out, recipe_file, tmp_path_factory):
    """Trunks that were taught on the others."""
    cache = tmp_path_factory.mktemp("cache")
    return HeadBench(dataset, load_recipe(str(recipe_file)), kept_out, None, cache, Silent())
