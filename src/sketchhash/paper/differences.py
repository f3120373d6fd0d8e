"""Why a number of a comparison is not the paper's: one line a method, from its card.

A method may have changed since it ran, and its card says what it is now. Where the recorded settings of a run are not
those that the card builds, the run is of an earlier version, and only what the card says of that is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sketchhash.baselines import CATALOGUE, Card
from sketchhash.baselines.method import settings_of
from sketchhash.paper import published
from sketchhash.paper.entries import DSH
from sketchhash.paper.lines import DIGITS
from sketchhash.paper.records import RunRecord
from sketchhash.paper.tables import Runs
from sketchhash.results import Cell, Column, Table, json_line

Recipes = Mapping[str, Mapping[str, Any]]

# What a recorded recipe holds beside the method's own settings.
_BESIDE = {"implementation", "distance", "choices", "sees", "photo_features", "sketch_features", "changed", "hash"}
_GIVEN = {"size", "seed"}


def differences_table(runs: Runs, recipes: Recipes) -> Table:
    """Set the mAP of each method that the paper reports beside the paper's, and say what keeps them apart."""
    galleries = published.GALLERIES
    columns = (
        Column("method"),
        Column("size", "d"),
        Column("mAP"),
        *(Column(f"{gallery.short}: mAP") for gallery in galleries),
        Column("why, beside the data"),
    )
    return Table(
        "differences",
        "Ours and the paper's",
        "At the longest code that both have. The first mAP is from this comparison, the others from the paper, on its "
        f"own galleries ({', '.join(f'{gallery.name}: {gallery.photos:,} photos' for gallery in galleries)}). Other "
        "photos, sketches and categories alone make other numbers; the last column says what else differs.",
        columns,
        tuple(_rows(runs, recipes)),
    )


def earlier_settings(card: Card, run: RunRecord, recipes: Recipes) -> str:
    """Say which settings of a run are not those of its method today; empty if it ran as its card says.

    Settings that were changed for the comparison count as the card's.
    """
    recipe = recipes.get(run.recipe)
    if recipe is None:
        return ""
    (size, *_) = card.sizes or (run.size,)
    now = json.loads(json_line({**settings_of(card.build(size, 0)), **recipe.get("changed", {})}, DIGITS))
    then = {name: value for name, value in recipe.items() if name not in _BESIDE | _GIVEN and now.get(name) != value}
    new = {name: value for name, value in now.items() if name not in _GIVEN and recipe.get(name) != value}
    told = (f"{when} {_told(settings)}" for when, settings in (("then", then), ("now", new)) if settings)
    return "; ".join(told)


def _rows(runs: Runs, recipes: Recipes) -> Iterator[tuple[Cell, ...]]:
    for card in (*CATALOGUE, None):
        numbers = [reported.mean_average_precision for reported in published.reported(card).values() if reported]
        if numbers and (ran := runs.of(card.name if card else DSH)):
            run = next((run for run in reversed(ran) if run.size in numbers[0]), ran[-1])
            why = _why(card, run, recipes) if card else _recipe(run, recipes)
            ours = run.scores.mean_average_precision
            yield (card.title if card else "DSH", run.size, ours, *(some.get(run.size) for some in numbers), why)


def _why(card: Card, run: RunRecord, recipes: Recipes) -> str:
    if earlier := earlier_settings(card, run, recipes):
        return " ".join(filter(None, (card.earlier, f"An earlier version ran ({earlier}).")))
    changed = recipes.get(run.recipe, {}).get("changed")
    return card.differs + (f" Other settings than these were given: {_told(changed)}." if changed else "")


def _recipe(run: RunRecord, recipes: Recipes) -> str:
    recipe = recipes.get(run.recipe, {})
    return f"Recipe {recipe['name']}: {recipe['description']}" if "name" in recipe else ""


def _told(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {value}" for name, value in settings.items())
