"""Datasets of sketches and photos, and the protocols that divide them.

A dataset has categories, and sketches and photos as items; nothing is decoded before it is needed. `open_dataset`
recognises what is in a folder; `draw_split` divides it as the paper does.
"""

from sketchhash.datasets.check import DatasetReport, check, contact_sheet
from sketchhash.datasets.dataset import Dataset, Item, collection, join, pair, photo_pixels, sketch_ink
from sketchhash.datasets.drawings import example_drawings
from sketchhash.datasets.layouts import LAYOUTS, as_datasets, open_dataset
from sketchhash.datasets.names import zero_shot_categories, zero_shot_lists
from sketchhash.datasets.splits import (
    Partition,
    Split,
    draw_joined_split,
    draw_split,
    draw_zero_shot_split,
    halve_queries,
    inventory_hash,
    keep_nothing_out,
    with_validation,
)

__all__ = [
    "LAYOUTS",
    "Dataset",
    "DatasetReport",
    "Item",
    "Partition",
    "Split",
    "as_datasets",
    "check",
    "collection",
    "contact_sheet",
    "draw_joined_split",
    "draw_split",
    "draw_zero_shot_split",
    "example_drawings",
    "halve_queries",
    "inventory_hash",
    "join",
    "keep_nothing_out",
    "open_dataset",
    "pair",
    "photo_pixels",
    "sketch_ink",
    "with_validation",
    "zero_shot_categories",
    "zero_shot_lists",
]
