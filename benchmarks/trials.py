"""What a setting of Algorithm 1 buys: recipes behind one C2, compared by sketches that are for choosing only.

    sketchhash data split berlin --also ... --unseen-photos 0.2 --halves choices.json --out reported.json
    python benchmarks/trials.py --data berlin --also ... --split choices.json --from C2 --cache CACHE \
        --recipe shipped --recipe mine.toml --repeats 2 --out trials.json

Each recipe trains what is behind the trunks of the model ``--from``, on the same split and the same features; a repeat
draws other codes and other batches. The split's query sketches then search all photos that it kept out, those of taught
categories and those of untaught ones. What the record holds already is not done again, so the same command goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from time import process_time
from typing import Annotated, Any, Self

import numpy as np
import typer

from sketchhash.cli.console import TrainingProgress
from sketchhash.codes import pack
from sketchhash.datasets import Item, Split, collection, join, open_dataset
from sketchhash.dsh.inputs import NetworkInputs
from sketchhash.dsh.optimisation import Processes
from sketchhash.dsh.recipe import load_recipe
from sketchhash.dsh.runs import Job
from sketchhash.dsh.training import train
from sketchhash.errors import BadArgument
from sketchhash.evaluation import labels, mean_average_precision, rank_codes, rank_cosine
from sketchhash.model import read_manifest
from sketchhash.results import markdown_table
from timing import RecordFile, ShownRecord, read_record, run, say, write_record

_BASE = "shipped"  # a trial is described by what differs from it


@dataclass(frozen=True)
class Score:
    """How well the sketches of one collection find: tie-aware mAP of codes, and with the sketches' real values."""

    sketches: str
    queries: int
    codes: float
    one_sided: float


@dataclass(frozen=True)
class Trial:
    """A training, and how well it finds.

    Attributes:
        name: The recipe's.
        recipe: Its hash.
        differs: What differs from the recipe of the shipped model.
        start: The fingerprint of the model that C2 comes from.
        split: The hash of the split.
        bits: The length of the codes.
        repeat: Which of several trainings with other random numbers.
        seconds: Processor time, without features that were found in the cache.
        taught: By collection of sketches, against the kept-out photos of taught categories.
        untaught: The same against all photos of untaught categories, of which there may be none.
    """

    name: str
    recipe: str
    differs: Mapping[str, Any]
    start: str
    split: str
    bits: int
    repeat: int
    seconds: float
    taught: tuple[Score, ...]
    untaught: tuple[Score, ...]

    @property
    def key(self) -> tuple[str, str, str, int, int]:
        """What tells trials apart."""
        return self.recipe, self.start, self.split, self.bits, self.repeat


@dataclass(frozen=True)
class Trials:
    """All trials of a record, in the order in which they were made."""

    trials: tuple[Trial, ...]

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Parse a record."""
        return cls(tuple(_parsed(trial) for trial in record["trials"]))


def _parsed(trial: dict[str, Any]) -> Trial:
    sides = {side: tuple(Score(**score) for score in trial[side]) for side in ("taught", "untaught")}
    return Trial(**{**trial, **sides})


def page(trials: Sequence[Trial]) -> str:
    """Return a row for each recipe, C2 and length: the mean of its repeats, and the range of their means."""
    rows: dict[tuple[str, str, int], list[Trial]] = {}
    for trial in trials:
        rows.setdefault((trial.recipe, trial.start, trial.bits), []).append(trial)
    asked = (f"{score.sketches}, {score.queries:,}" for score in trials[0].taught)
    heading = ("recipe", "C2", "bits", *asked, "mean of these", "one-sided", "untaught")
    return markdown_table(heading, [_row(repeats) for repeats in rows.values()])


def _row(repeats: Sequence[Trial]) -> tuple[str, ...]:
    first = repeats[0]
    by_collection = zip(*(trial.taught for trial in repeats), strict=True)
    means = [mean(score.codes for score in trial.taught) for trial in repeats]
    one_sided = mean(score.one_sided for trial in repeats for score in trial.taught)
    untaught = [score.codes for trial in repeats for score in trial.untaught]
    return (
        first.name,
        first.start[:8],
        str(first.bits),
        *(f"{mean(score.codes for score in scores):.3f}" for scores in by_collection),
        f"{mean(means):.3f}" + (f" ({min(means):.3f}–{max(means):.3f})" if len(means) > 1 else ""),
        f"{one_sided:.3f}",
        f"{mean(untaught):.3f}" if untaught else "",
    )


def try_out(job: Job, cache: Path) -> Trial:
    """Train behind C2 of a model, and score."""
    dataset, split, recipe, start = job.dataset, job.split, job.recipe, job.start
    if start is None:
        raise BadArgument("A trial needs a model whose C2 it trains behind.")
    with TemporaryDirectory() as folder:
        begun = process_time()
        inputs = train(job, Path(folder, "run"), cache, TrainingProgress(), Processes())
        seconds = process_time() - begun
    untaught = {dataset.categories.index(category) for category in split.unseen_categories}
    kept_out, asking = set(split.held_out_photos), set(split.query_sketches)
    return Trial(
        name=recipe.name,
        recipe=recipe.hash,
        differs=_differences(asdict(load_recipe(_BASE)), asdict(recipe)),
        start=read_manifest(start).fingerprint,
        split=split.hash,
        bits=job.bits,
        repeat=job.repeat,
        seconds=round(seconds, 1),
        taught=_scores(
            inputs,
            [sketch for sketch in dataset.sketches if sketch.id in asking and sketch.label not in untaught],
            [photo for photo in dataset.photos if photo.id in kept_out and photo.label not in untaught],
        ),
        untaught=_scores(
            inputs,
            [sketch for sketch in dataset.sketches if sketch.id in asking and sketch.label in untaught],
            [photo for photo in dataset.photos if photo.label in untaught],
        ),
    )


def _scores(inputs: NetworkInputs, sketches: Sequence[Item], photos: Sequence[Item]) -> tuple[Score, ...]:
    """Score the sketches of each collection that show something of which there is a photo."""
    searchable = {photo.label for photo in photos}
    by_collection: dict[str, list[Item]] = {}
    for sketch in sketches:
        if sketch.label in searchable:
            by_collection.setdefault(collection(inputs.dataset, sketch), []).append(sketch)
    searched, searched_labels = inputs.photo_values(photos), labels(photos)
    signs = np.where(searched >= 0, np.float32(1), np.float32(-1))
    scores = []
    for name, asking in by_collection.items():
        asked, sides = inputs.sketch_values(asking), (labels(asking), searched_labels)
        codes, one_sided = rank_codes(pack(asked), pack(searched), *sides), rank_cosine(asked, signs, *sides)
        values = (round(mean_average_precision(ranking).value, 4) for ranking in (codes, one_sided))
        scores.append(Score(name, len(asking), *values))
    return tuple(scores)


def _differences(base: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return what another recipe sets differently, its name and description apart."""
    found: dict[str, Any] = {}
    for name, value in other.items():
        if name in ("name", "description") or value == base.get(name):
            continue
        found[name] = _differences(base[name], value) if isinstance(value, dict) else value
    return found


def main(
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="A dataset's folder.")] = None,
    also: Annotated[list[Path] | None, typer.Option(metavar="DIR", help="Another one to join; repeatable.")] = None,
    split: Annotated[Path | None, typer.Option(metavar="FILE", help="Whose query sketches are for choosing.")] = None,
    start: Annotated[Path | None, typer.Option("--from", metavar="MODEL", help="C2 comes from this model.")] = None,
    recipe: Annotated[list[str] | None, typer.Option(help="A recipe's name, or a TOML file; repeatable.")] = None,
    bits: Annotated[int, typer.Option(help="The length of the codes.")] = 256,
    repeats: Annotated[int, typer.Option(min=1, help="How many trainings of each.")] = 1,
    cache: Annotated[Path, typer.Option(metavar="DIR", help="Where features are kept.")] = Path("trials"),
    out: RecordFile = None,
    show: ShownRecord = None,
) -> None:
    """Train recipes behind one C2, and compare what validation sketches find."""
    if show is not None:
        typer.echo(page(read_record(show, Trials.from_record).trials))
        return
    if data is None or split is None or start is None:
        raise typer.BadParameter("name a dataset, a split and a model", param_hint="--data, --split, --from")
    dataset = join([open_dataset(data), *map(open_dataset, also or ())])
    drawn, recipes = Split.read(split), [load_recipe(each) for each in recipe or (_BASE,)]
    drawn.apply(dataset)
    made = list(read_record(out, Trials.from_record).trials) if out is not None and out.exists() else []
    known, fingerprint = {trial.key for trial in made}, read_manifest(start).fingerprint
    for repeat in range(repeats):
        for each in recipes:
            if (each.hash, fingerprint, drawn.hash, bits, repeat) not in known:
                made.append(try_out(Job(dataset, drawn, each, bits, repeat=repeat, start=start), cache))
                say(page(made[-1:]))
                if out is not None:
                    write_record(asdict(Trials(tuple(made))), out)
    typer.echo(page(made))


if __name__ == "__main__":
    run(main)
