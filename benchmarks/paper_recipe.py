"""What Table 1's networks learn with the published objective, and with one that codes can meet.

    python benchmarks/paper_recipe.py --data BERLIN --out results/paper-recipe.json

Trains the recipes ``paper`` and ``paper-feasible``, all weights, for fewer epochs and on fewer pictures than they ask
for, because one core takes days for all of it: the record says how many. Both start from the same pre-trained nets.
What is finished in the folder of work is not done again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from time import process_time
from typing import Annotated, Any, Self

import numpy as np
import typer

from sketchhash.cli.console import TrainingProgress
from sketchhash.codes import pack
from sketchhash.datasets import Dataset, Item, draw_split, open_dataset
from sketchhash.dsh.optimisation import Processes
from sketchhash.dsh.recipe import Recipe, load_recipe
from sketchhash.dsh.runs import Job
from sketchhash.dsh.training import train
from sketchhash.evaluation.metrics import mean_average_precision
from sketchhash.evaluation.ranking import labels, rank_codes
from sketchhash.results import markdown_table
from timing import RecordFile, ShownRecord, finish, read_record, run, say

RECIPES = ("paper", "paper-feasible")


@dataclass(frozen=True)
class Trained:
    """A recipe's run.

    Attributes:
        facts: Recipe, seed, data and versions, as in a run's own record.
        photos: Number of photos that train, all of which are searched.
        sketches: Number of sketches that train.
        queries: Number of query sketches.
        epochs: What each epoch of each stage came to, with its processor time.
        mean_average_precision: Of the query sketches.
        chance: The mAP of a random order, nearly: the share of photos that are relevant.
        distinct_codes: Number of different codes that the trained networks give the photos, and the query sketches.
    """

    facts: Mapping[str, Any]
    photos: int
    sketches: int
    queries: int
    epochs: Sequence[Mapping[str, Any]]
    mean_average_precision: float
    chance: float
    distinct_codes: tuple[int, int]

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Parse a part of a record."""
        return cls(**{**record, "distinct_codes": tuple(record["distinct_codes"])})


class Noting(TrainingProgress):
    """Shows a run, and notes every epoch with its processor time in a file, which a resumed run goes on with."""

    def __init__(self, notes: Path) -> None:
        """Begin or go on with ``notes``."""
        super().__init__()
        self.notes, self.begun = notes, process_time()

    def report(self, entry: Mapping[str, object]) -> None:
        """Print the figures of an epoch, and keep them."""
        super().report(entry)
        now = process_time()
        with self.notes.open("a", encoding="utf-8") as file:
            file.write(json.dumps({**entry, "processor_seconds": round(now - self.begun, 1)}) + "\n")
        self.begun = now


def reduced(dataset: Dataset, photos: int, sketches: int) -> Dataset:
    """Keep the categories that have photos, and at most so many pictures of each, spread evenly over its list."""
    found = {photo.label for photo in dataset.photos}
    searchable = (sketch for sketch in dataset.sketches if sketch.label in found)
    return replace(
        dataset,
        name=f"{dataset.name}, at most {photos} photos and {sketches} sketches a category",
        photos=_spread(dataset.photos, photos),
        sketches=_spread(searchable, sketches),
    )


def _spread(items: Iterable[Item], most: int) -> tuple[Item, ...]:
    by_label: dict[int, list[Item]] = {}
    for item in items:
        by_label.setdefault(item.label, []).append(item)
    return tuple(
        some[place * len(some) // min(most, len(some))]
        for some in by_label.values()
        for place in range(min(most, len(some)))
    )


def shortened(recipe: Recipe, pretraining: int, hashing: int) -> Recipe:
    """Return a recipe with fewer epochs, and else as it is."""
    return replace(
        recipe,
        pretrain_photos=replace(recipe.pretrain_photos, epochs=pretraining),
        pretrain_sketches=replace(recipe.pretrain_sketches, epochs=pretraining),
        hashing=replace(recipe.hashing, epochs=hashing),
    )


def learn(dataset: Dataset, recipe: Recipe, bits: int, queries: int, work: Path) -> Trained:
    """Train, or go on training, and measure what the networks find."""
    job = Job(dataset, draw_split(dataset, queries), recipe, bits)
    folder, notes = work / recipe.name, work / f"{recipe.name}.jsonl"
    work.mkdir(parents=True, exist_ok=True)
    inputs = train(job, folder, work / "cache", Noting(notes), Processes(), (folder / "run.json").exists())
    parts = job.split.apply(dataset)
    asked, searched = pack(inputs.sketch_values(parts.queries)), pack(inputs.photo_values(parts.gallery))
    asked_labels, searched_labels = labels(parts.queries), labels(parts.gallery)
    return Trained(
        facts=job.facts(),
        photos=len(parts.training_photos),
        sketches=len(parts.training_sketches),
        queries=len(parts.queries),
        epochs=[json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()],
        mean_average_precision=mean_average_precision(rank_codes(asked, searched, asked_labels, searched_labels)).value,
        chance=float((asked_labels[:, None] == searched_labels).mean()),
        distinct_codes=(len(np.unique(searched, axis=0)), len(np.unique(asked, axis=0))),
    )


def page(runs: Mapping[str, Trained]) -> str:
    """Return a table of the epochs and one of the ends."""
    epochs = [
        (
            name,
            epoch["stage"],
            str(epoch["epoch"]),
            f"{epoch['loss']:.3f}",
            *(f"{epoch[key]:,}" if key in epoch else "" for key in _DISTINCT),
            f"{epoch['processor_seconds']:.0f}",
        )
        for name, trained in runs.items()
        for epoch in trained.epochs
    ]
    ends = [
        (
            name,
            f"{trained.photos:,} / {trained.sketches:,}",
            f"{trained.queries:,}",
            f"{trained.mean_average_precision:.4f}",
            f"{trained.chance:.4f}",
            *(f"{count:,}" for count in trained.distinct_codes),
            f"{sum(epoch['processor_seconds'] for epoch in trained.epochs) / 60:.1f}",
        )
        for name, trained in runs.items()
    ]
    epochs_heading = ("recipe", "stage", "epoch", "loss", "distinct photo codes", "distinct sketch codes", "seconds")
    ends_heading = (
        "recipe",
        "photos / sketches",
        "queries",
        "mAP",
        "chance",
        "networks' photo codes",
        "networks' query codes",
        "minutes",
    )
    note = "Times are processor time; the second recipe starts from the nets that the first pre-trained."
    return "\n\n".join([markdown_table(epochs_heading, epochs), markdown_table(ends_heading, ends), note])


_DISTINCT = ("distinct_photo_codes", "distinct_sketch_codes")


def _runs(record: dict[str, Any]) -> dict[str, Trained]:
    return {name: Trained.from_record(trained) for name, trained in record["runs"].items()}


def main(
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="A dataset's folder.")] = None,
    photos: Annotated[int, typer.Option(min=1, help="Photos a category, at most.")] = 10,
    sketches: Annotated[int, typer.Option(min=2, help="Sketches a category, at most.")] = 15,
    queries: Annotated[int, typer.Option(min=1, help="So many of them are queries.")] = 5,
    pretraining: Annotated[int, typer.Option(min=1, help="Epochs of each pre-training.")] = 3,
    hashing: Annotated[int, typer.Option(min=1, help="Epochs of Algorithm 1.")] = 3,
    bits: Annotated[int, typer.Option(help="The length of the codes.")] = 64,
    work: Annotated[Path, typer.Option(metavar="DIR", help="Where to keep maps, nets and runs.")] = Path(
        "paper-recipe"
    ),
    out: RecordFile = None,
    show: ShownRecord = None,
) -> None:
    """Train the paper's networks with the published objective and with one that can be met."""
    if show is not None:
        typer.echo(page(read_record(show, _runs)))
        return
    if data is None:
        raise typer.BadParameter("name a dataset's folder", param_hint="--data")
    dataset = reduced(open_dataset(data), photos, sketches)
    runs: dict[str, Trained] = {}
    for name in RECIPES:
        recipe = shortened(load_recipe(name), pretraining, hashing)
        runs[name] = learn(dataset, recipe, bits, queries, work)
        say(f"{name}: mAP {runs[name].mean_average_precision:.4f}, chance {runs[name].chance:.4f}")
    finish(page(runs), {"runs": {name: asdict(trained) for name, trained in runs.items()}}, out)


if __name__ == "__main__":
    run(main)
