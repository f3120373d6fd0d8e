"""``sketchhash train``: from a dataset to a model folder."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import TrainingProgress, say, write
from sketchhash.cli.options import (
    CacheFolder,
    CardNotes,
    DatasetFolder,
    DeviceName,
    KeepPixels,
    MoreDatasets,
    PhotosFolder,
)
from sketchhash.errors import require_torch

if TYPE_CHECKING:
    from sketchhash.api import Trained

_HARDLY_LEARNT = 1.5  # times chance


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
        typer.Option("--from", metavar="MODEL", help="A model folder; the trunk of its sketch net learns on."),
    ] = None,
    notes: CardNotes = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in OUT.run.")] = False,
    cache: CacheFolder = None,
    device: DeviceName = None,
    keep_pixels: KeepPixels = False,
) -> None:
    """Train Deep Sketch Hashing and write a model folder; Ctrl-C and --resume at any time."""
    require_torch()
    from sketchhash import api, datasets

    collections = [datasets.open_dataset(data, photos), *map(datasets.open_dataset, also or ())]
    if split:
        drawn = datasets.Split.read(split)
    elif everything:
        drawn = datasets.keep_nothing_out(datasets.join(collections))
    else:
        drawn = datasets.draw_joined_split(collections, queries, seed, unseen_photos, unseen_category or (), validation)
    trained = api.train(
        collections,
        out=out,
        recipe=recipe,
        bits=bits,
        seed=seed,
        split=drawn,
        start=start,
        notes=notes,
        resume=resume,
        cache=cache,
        device=device,
        keep_pixels=keep_pixels,
        progress=TrainingProgress(),
    )
    if trained.is_first_process:
        _sum_up(trained)
        write(trained.folder)


def _sum_up(trained: Trained) -> None:
    """Say how good the model is, beside chance, and what to type next."""
    if trained.scores and trained.chance is not None:
        score = trained.scores["mAP@all"]
        say(
            f"mAP {score:.3f}, P@200 {trained.scores['P@200']:.3f}; chance is {trained.chance:.3f}, perfect is 1. "
            "The mAP is the share of right photos among those ranked up to each right one, on average over the split's "
            "query sketches, which training did not see."
        )
        if score < _HARDLY_LEARNT * trained.chance:
            say("That is hardly better than guessing: train longer, or on more sketches and photos.")
    model = shlex.quote(str(trained.folder))
    if not trained.learns_codes:
        say(f"C2 was taught, and no codes were learned. To learn them, type: sketchhash train --from {model} ...")
        return
    say(f"To search your photos with it, type: sketchhash index FOLDER --gallery mine.gallery --model {model}")
    say(f"and then: sketchhash serve --open --gallery mine.gallery --model {model}")
