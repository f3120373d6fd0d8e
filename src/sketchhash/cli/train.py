"""``sketchhash train``: from a dataset to a model folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from sketchhash.cli.console import TrainingProgress, say

CacheFolder = Annotated[
    Path | None, typer.Option("--cache", help="Where token maps, features and pre-trained nets are kept.")
]


def train(
    data: Annotated[str, typer.Option(metavar="DIR", help="A dataset's folder, or the word 'synthetic'.")],
    out: Annotated[Path, typer.Option(help="The model folder to write; the run's state lies in OUT.run.")],
    photos: Annotated[str | None, typer.Option(metavar="DIR", help="Take the photos from this other dataset.")] = None,
    recipe: Annotated[str, typer.Option(help="A recipe's name, or a TOML file of your own.")] = "tuned",
    bits: Annotated[int, typer.Option(help="Length of the codes, a multiple of 8.")] = 64,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    split: Annotated[Path | None, typer.Option(help="A split file; without one the paper's split is drawn.")] = None,
    queries: Annotated[int, typer.Option(help="Query sketches a category, when no split is given.")] = 10,
    also: Annotated[
        list[str] | None, typer.Option(metavar="DIR", help="Learn from this dataset too; may be given again.")
    ] = None,
    unseen_photos: Annotated[
        float, typer.Option(help="Share of the photos to keep out of training, when no split is given.")
    ] = 0.0,
    unseen_categories: Annotated[
        str, typer.Option(help="Categories to keep out of training, separated by commas, when no split is given.")
    ] = "",
    validation: Annotated[
        int, typer.Option(metavar="N", help="Sketches a category to set aside for choices, when no split is given.")
    ] = 0,
    notes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A TOML file with what the model card should say of the data.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in OUT.run.")] = False,
    cache: CacheFolder = None,
) -> None:
    """Train Deep Sketch Hashing and write a model folder; Ctrl-C and --resume at any time."""
    prepare_torch()
    from sketchhash import datasets
    from sketchhash.benchmark.evaluation import evaluate
    from sketchhash.dsh import cards, export, figures, processes, runs, training
    from sketchhash.dsh.recipe import load_recipe

    collections = [datasets.open_dataset(data, photos), *(datasets.open_dataset(more) for more in also or ())]
    dataset = datasets.join(collections)
    unseen = [name.strip() for name in unseen_categories.split(",") if name.strip()]
    drawn = (
        datasets.Split.read(split)
        if split
        else datasets.draw_joined_split(collections, queries, seed, unseen_photos, unseen, validation)
    )
    job = runs.Job(dataset, drawn, load_recipe(recipe), bits, seed)
    card = cards.describe(job, cards.read_notes(notes) if notes else None)
    run = out.with_name(out.name + ".run")
    with processes.started() as group:
        progress = TrainingProgress(loud=group.is_first)
        desk = training.train(job, run, cache or default_cache(), progress, group, resume)
        if group.is_first:
            scores = evaluate(desk, drawn.apply(dataset))
            runs.write_scores(run, scores)
            figures.draw_log(run)
            export.export(desk.network, job, out, card, scores)
            say(f"mAP {scores['mAP@all']:.3f}, P@200 {scores['P@200']:.3f} on the split's queries.")
            typer.echo(out)


def prepare_torch() -> None:
    """Make sure that torch is there, and that its threads sleep while they wait for each other.

    Spinning, as they do by default, costs nothing on an idle machine. On a shared one it made a training step take four
    times as long.
    """
    from sketchhash.errors import require

    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read once, when torch is imported
    require("torch", "train")


def default_cache() -> Path:
    """Give the folder where this person's computer keeps what can be made again."""
    from platformdirs import user_cache_path

    return user_cache_path("sketchhash")
