"""``sketchhash model``: look at a model folder, export one from a training run, calibrate it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import print_json, progress, say, write
from sketchhash.cli.options import AsJson, CacheFolder, CardNotes, DatasetFolder, MoreDatasets, PhotosFolder
from sketchhash.errors import BadArgument

if TYPE_CHECKING:
    from sketchhash.evaluation import Material
    from sketchhash.model import Manifest, Model

ModelArgument = Annotated[Path, typer.Argument(help="The model folder.")]
TrainingSplit = Annotated[
    Path | None, typer.Option("--split", metavar="FILE", help="The training's split.json: use only what it kept out.")
]
MostItems = Annotated[int, typer.Option(min=1, help="Use at most so many sketches and photos a category in each role.")]
Threads = Annotated[int | None, typer.Option(min=1, help="Pictures to encode at once.  [default: cores]")]

app = typer.Typer(
    help="Look at model folders, export them from training runs, and calibrate how sure they are.", no_args_is_help=True
)


@app.command()
def info(
    folder: Annotated[
        Path | None, typer.Argument(help="The model folder; otherwise $SKETCHHASH_MODEL, or the shipped one.")
    ] = None,
    card: Annotated[bool, typer.Option("--card", help="Print the model card.")] = False,
    json: AsJson = False,
) -> None:
    """Print what a model is: bits, categories, inputs, sizes, how it was trained and how it scored."""
    from sketchhash.model import read_manifest, verify
    from sketchhash.model.folder import default_model_folder
    from sketchhash.model.manifest import CARD

    place = default_model_folder() if folder is None else folder
    manifest, inspection = read_manifest(place), verify(place)
    if card:
        write((place / CARD).read_text(encoding="utf-8"), nl=False)
    elif json:
        print_json({**asdict(manifest), "fingerprint": manifest.fingerprint, "is_intact": inspection.is_intact})
    else:
        for what, which in _facts(manifest):
            write(f"{what:<14}{which}")
        damaged = ", ".join((*inspection.missing, *inspection.changed))
        write(f"{'state':<14}{f'damaged: {damaged}' if damaged else 'intact'}")


@app.command()
def export(
    run: Annotated[Path, typer.Option(metavar="DIR", help="A run's folder: OUT.run beside the model it trained.")],
    data: DatasetFolder,
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The model folder to write.")],
    photos: PhotosFolder = None,
    also: MoreDatasets = None,
    notes: CardNotes = None,
    weights: Annotated[str, typer.Option(help="How to store weights: float32 or float16.")] = "float32",
    cache: CacheFolder = None,
) -> None:
    """Write the networks of a run as a model folder, for example with weights in half precision."""
    from sketchhash.errors import UnknownName, require

    require("torch", "train")
    from sketchhash import datasets
    from sketchhash.dsh import runs
    from sketchhash.dsh.export import Weights, describe, export_model, read_notes
    from sketchhash.evaluation import calibrate_export
    from sketchhash.files import user_cache

    if weights not in list(Weights):
        raise UnknownName("kind of weights", weights, Weights)
    card_notes = read_notes(notes) if notes else None
    dataset = datasets.join(
        [datasets.open_dataset(data, photos), *(datasets.open_dataset(more) for more in also or ())]
    )
    job, network = runs.reopen(run, dataset)
    exported = export_model(network, job, out, describe(job, card_notes), runs.read_scores(run), Weights(weights))
    if not calibrate_export(exported, [dataset], job.split, cache or user_cache()):
        say(f"The training kept out too little to calibrate it. To do so: sketchhash model calibrate {out} --data DIR")
    write(out)


@app.command()
def calibrate(
    folder: ModelArgument,
    data: DatasetFolder,
    photos: PhotosFolder = None,
    also: MoreDatasets = None,
    split: TrainingSplit = None,
    like: Annotated[
        Path | None,
        typer.Option(
            "--like",
            metavar="MODEL",
            help="Take the coefficients of this model's calibration, such as those of a twin that was trained on less; "
            "only what the categories are like is learnt from the data.",
        ),
    ] = None,
    most: MostItems = 10,
    threads: Threads = None,
    cache: CacheFolder = None,
) -> None:
    """Let a model say how sure it is: fit chances on sketches, photos and scribbles, and keep them in its folder."""
    from sketchhash import evaluation
    from sketchhash.evaluation.trials import ROLES
    from sketchhash.model import Model, write_calibration

    model, fitted = Model.load(folder), None if like is None else Model.load(like).calibration
    if like is not None and fitted is None:
        raise _no_calibration(like)
    roles = ("vectors",) if fitted else ROLES
    material = _gather(model, data, photos, also, split, most, threads, cache, roles)
    if fitted is None and not material.is_kept_out:
        say("Without --split the model may know these sketches and photos, and will be surer than it should.")
    made = evaluation.fit_calibration(material, fitted)
    write_calibration(folder, made)
    write(folder)


@app.command()
def sureness(
    folder: ModelArgument,
    data: DatasetFolder,
    photos: PhotosFolder = None,
    also: MoreDatasets = None,
    split: TrainingSplit = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Write sureness.json, sureness.md and sureness.png here.")
    ] = None,
    most: MostItems = 10,
    threads: Threads = None,
    cache: CacheFolder = None,
) -> None:
    """Measure how sure a calibrated model is of known and unknown things, on what it was not calibrated with."""
    from sketchhash import evaluation
    from sketchhash.evaluation.trials import HALVES
    from sketchhash.model import Model

    model = Model.load(folder)
    if model.calibration is None:
        raise BadArgument(
            f"The model in {folder} has no calibration. Type: sketchhash model calibrate {folder} --data DIR"
        )
    material = _gather(model, data, photos, also, split, most, threads, cache, HALVES)
    found = evaluation.measure_sureness(model, material)
    if out is not None:
        found.write(out)
        say(f"Written: {out / 'sureness.json'}, sureness.md and sureness.png")
    write(found.markdown(), nl=False)


def _gather(
    model: Model,
    data: str,
    photos: str | None,
    also: list[str] | None,
    split: Path | None,
    most: int,
    threads: int | None,
    cache: Path | None,
    roles: Sequence[str],
) -> Material:
    from sketchhash import datasets, evaluation
    from sketchhash.files import user_cache

    return evaluation.gather_material(
        evaluation.Encodings(model, cache or user_cache(), threads),
        [datasets.open_dataset(data, photos), *(datasets.open_dataset(more) for more in also or ())],
        datasets.Split.read(split) if split else None,
        roles,
        most,
        progress,
    )


def _no_calibration(folder: Path) -> BadArgument:
    return BadArgument(
        f"The model in {folder} has no calibration. Type: sketchhash model calibrate {folder} --data DIR"
    )


def _facts(manifest: Manifest) -> Iterator[tuple[str, str]]:
    made, photos, tokens = manifest.made_with, manifest.photos, manifest.tokens
    yield "name", manifest.name
    yield "bits", f"{manifest.bits} ({manifest.bits // 8} bytes a photo)"
    yield "fingerprint", manifest.fingerprint
    yield "photos", f"{photos.size} × {photos.size} pixels" if photos else "not looked at"
    yield (
        "sketches",
        f"{manifest.ink.size} × {manifest.ink.size} pixels, lines of {manifest.ink.line_width:g} of the side",
    )
    yield "contours", f"found by {tokens.detector}" if tokens else "not looked at"
    for name, record in manifest.files.items():
        yield name, f"{record.size:,} bytes"
    yield "made with", f"sketchhash {made.sketchhash}, recipe {made.recipe}, seed {made.seed}"
    for name, score in manifest.scores.items():
        yield name, f"{score:.4f}"
    yield "categories", f"{len(manifest.categories)}: {', '.join(manifest.categories)}"
