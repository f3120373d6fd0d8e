"""Which detector's token maps teach a better model: one detector against another, everything else the same.

    python benchmarks/detectors.py --data BERLIN --from src/sketchhash/model/shipped --out results/detectors.json

A model is trained with the token maps of each detector, by the same recipe, on the same split, from the same networks
and the same random codes; a repeat draws other codes. So models are compared in pairs, and the spread of the
differences tells how much of them is chance. The same query sketches search the photos that the models were trained
on, and those that were kept out. What is finished in the folder of work is not done again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import mean, stdev
from typing import Annotated, Any, Self

import typer

from sketchhash.cli.console import TrainingProgress
from sketchhash.datasets import Dataset, Item, Partition, draw_split, open_dataset
from sketchhash.dsh.inputs import NetworkInputs
from sketchhash.dsh.optimisation import Processes
from sketchhash.dsh.recipe import Recipe, load_recipe
from sketchhash.dsh.runs import Job
from sketchhash.dsh.training import train
from sketchhash.evaluation.metrics import mean_average_precision
from sketchhash.evaluation.ranking import rank_partition
from sketchhash.model import read_manifest
from sketchhash.results import markdown_table
from timing import RecordFile, ShownRecord, finish, read_record, run, say

DETECTORS = ("sketch-tokens", "contour-net")  # before, after
GALLERIES = ("seen", "unseen")

_QUERIES, _UNSEEN = 10, 0.2


@dataclass(frozen=True)
class Pairs:
    """The mAP of models trained in pairs.

    Attributes:
        trained: What was trained: data, recipe, bits and where C2 starts.
        queries: Number of query sketches.
        photos: Number of photos in each gallery.
        scores: By gallery and detector, the mAP of each repeat.
    """

    trained: Mapping[str, str]
    queries: int
    photos: Mapping[str, int]
    scores: Mapping[str, Mapping[str, Sequence[float]]]

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Parse a record."""
        return cls(**{name: record[name] for name in ("trained", "queries", "photos", "scores")})

    def differences(self, gallery: str) -> list[float]:
        """Return by how much the second detector's model is better, pair by pair."""
        before, after = (self.scores[gallery][detector] for detector in DETECTORS)
        return [new - old for old, new in zip(before, after, strict=True)]


def page(pairs: Pairs) -> str:
    """Return the table of both galleries."""
    rows = []
    for gallery in GALLERIES:
        means = (f"{mean(pairs.scores[gallery][detector]):.4f}" for detector in DETECTORS)
        differences = pairs.differences(gallery)
        spread = f"{stdev(differences):.4f}" if len(differences) > 1 else ""
        each = ", ".join(f"{difference:+.4f}" for difference in differences)
        rows.append((gallery, f"{pairs.photos[gallery]:,}", *means, f"{mean(differences):+.4f}", spread, each))
    heading = ("gallery", "photos", *DETECTORS, "difference", "standard deviation", "pair by pair")
    trained = ", ".join(f"{name}: {value}" for name, value in pairs.trained.items())
    return f"{markdown_table(heading, rows)}\n\nmAP of {pairs.queries} query sketches. Trained: {trained}."


def with_detector(recipe: Recipe, detector: str, starts_taught: bool) -> Recipe:
    """Return a recipe with another detector; a C2 that starts taught is not pre-trained again."""
    sketches = replace(recipe.pretrain_sketches, epochs=0) if starts_taught else recipe.pretrain_sketches
    return replace(recipe, name=f"{recipe.name}-{detector}", detector=detector, pretrain_sketches=sketches)


def score(inputs: NetworkInputs, parts: Partition) -> dict[str, float]:
    """Return the mAP of a trained network by gallery."""
    galleries: Mapping[str, tuple[Item, ...]] = dict(
        zip(GALLERIES, (parts.training_photos, parts.gallery), strict=True)
    )
    return {
        name: mean_average_precision(rank_partition(inputs, replace(parts, gallery=photos))).value
        for name, photos in galleries.items()
    }


def compare(dataset: Dataset, recipe: Recipe, bits: int, start: Path | None, repeats: int, work: Path) -> Pairs:
    """Train pairs of models, as many as asked for, and score them."""
    split = draw_split(dataset, _QUERIES, seed=0, unseen_photos=_UNSEEN)
    parts = split.apply(dataset)
    scores: dict[str, dict[str, list[float]]] = {gallery: {each: [] for each in DETECTORS} for gallery in GALLERIES}
    for repeat in range(repeats):
        for detector in DETECTORS:
            own = with_detector(recipe, detector, start is not None)
            job = Job(dataset, split, own, bits, repeat=repeat, start=start)
            folder = work / "runs" / f"{own.name}-{bits}-{repeat}"
            has_begun = (folder / "run.json").exists()
            inputs = train(job, folder, work, TrainingProgress(), Processes(), has_begun)
            for gallery, value in score(inputs, parts).items():
                say(f"{detector}, repeat {repeat}, {gallery} photos: mAP {value:.4f}")
                scores[gallery][detector].append(value)
    trained = {
        "data": dataset.name,
        "recipe": recipe.name,
        "bits": str(bits),
        "C2 from": "ImageNet"
        if start is None
        else f"model {read_manifest(start).fingerprint[:12]}, not pre-trained again",
    }
    photos = {"seen": len(parts.training_photos), "unseen": len(parts.gallery)}
    return Pairs(trained, len(parts.queries), photos, scores)


def main(
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="A dataset's folder.")] = None,
    recipe: Annotated[str, typer.Option(help="A recipe's name, or a TOML file.")] = "tuned",
    bits: Annotated[int, typer.Option(help="The length of the codes.")] = 64,
    start: Annotated[
        Path | None, typer.Option("--from", metavar="MODEL", help="Start C2 from this model, and do not pre-train it.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, help="How many pairs.")] = 3,
    work: Annotated[Path, typer.Option(metavar="DIR", help="Where to keep maps, features and runs.")] = Path(
        "detectors"
    ),
    out: RecordFile = None,
    show: ShownRecord = None,
) -> None:
    """Train models on the token maps of two detectors, in pairs, and compare their mAP."""
    if show is not None:
        typer.echo(page(read_record(show, Pairs.from_record)))
        return
    if data is None:
        raise typer.BadParameter("name a dataset's folder", param_hint="--data")
    pairs = compare(open_dataset(data), load_recipe(recipe), bits, start, repeats, work)
    finish(page(pairs), asdict(pairs), out)


if __name__ == "__main__":
    run(main)
