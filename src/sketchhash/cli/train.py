"""``sketchhash train``: from a dataset to a model folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from sketchhash.cli.console import TrainingProgress, say
from sketchhash.cli.options import CacheFolder, CardNotes, DatasetFolder, MoreDatasets, PhotosFolder, default_cache


def train(
    data: DatasetFolder,
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The model folder to write; the run's state is in OUT.run.")
    ],
    photos: PhotosFolder = None,
    recipe: Annotated[str, typer.Option(help="A recipe's name, or a TOML file of your own.")] = "tuned",
    bits: Annotated[int, typer.Option(help="The length of the codes, a multiple of 8.")] = 64,
    seed: Annotated[int, typer.Option(help="The seed of everything random.")] = 0,
    split: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A split file; by default the paper's split is drawn.")
    ] = None,
    queries: Annotated[int, typer.Option(help="Query sketches a category, when no split is given.")] = 10,
    also: MoreDatasets = None,
    unseen_photos: Annotated[
        float, typer.Option(help="The share of photos to keep out of training, when no split is given.")
    ] = 0.0,
    unseen_category: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A category to keep out of training, when no split is given; repeatable."),
    ] = None,
    validation: Annotated[
        int,
        typer.Option(metavar="N", help="Sketches and photos a category to set aside for validation, without --split."),
    ] = 0,
    everything: Annotated[
        bool, typer.Option("--everything", help="Train on all sketches and photos; then nothing is left to measure it.")
    ] = False,
    start: Annotated[
        Path | None,
        typer.Option("--from", metavar="MODEL", help="A model folder; its sketch net learns on instead of ImageNet's."),
    ] = None,
    notes: CardNotes = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in OUT.run.")] = False,
    cache: CacheFolder = None,
) -> None:
    """Train Deep Sketch Hashing and write a model folder; Ctrl-C and --resume at any time."""
    prepare_torch()
    from sketchhash import datasets
    from sketchhash.dsh import export, optimisation, runs, training
    from sketchhash.dsh.recipe import load_recipe
    from sketchhash.evaluation.ranking import card_scores

    collections = [datasets.open_dataset(data, photos), *(datasets.open_dataset(more) for more in also or ())]
    dataset = datasets.join(collections)
    if split:
        drawn = datasets.Split.read(split)
    elif everything:
        drawn = datasets.keep_nothing_out(dataset)
    else:
        drawn = datasets.draw_joined_split(collections, queries, seed, unseen_photos, unseen_category or (), validation)
    job = runs.Job(dataset, drawn, load_recipe(recipe), bits, seed, start=start)
    card = export.describe(job, export.read_notes(notes) if notes else None)
    run = out.with_name(out.name + ".run")
    with optimisation.started() as group:
        progress = TrainingProgress(loud=group.is_first)
        inputs = training.train(job, run, cache or default_cache(), progress, group, resume)
        if group.is_first:
            scores = card_scores(inputs, drawn.apply(dataset)) if drawn.query_sketches else {}
            runs.write_scores(run, scores)
            runs.draw_log(run)
            export.export_model(inputs.network, job, out, card, scores)
            if scores:
                say(f"mAP {scores['mAP@all']:.3f}, P@200 {scores['P@200']:.3f} on the split's queries.")
            typer.echo(out)


def prepare_torch() -> None:
    """Check that torch is installed, and let its threads sleep while they wait for each other.

    By default they spin, which costs nothing on an idle machine but made a training step four times slower on a
    shared one.
    """
    from sketchhash.errors import require

    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read once, when torch is imported
    require("torch", "train")
