"""``sketchhash tokens``: train contour detectors, score them, look at what they draw."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import print_json, progress, say, write
from sketchhash.cli.options import AsJson, CacheFolder, DatasetFolder, PhotosFolder
from sketchhash.errors import require
from sketchhash.files import user_cache

if TYPE_CHECKING:
    from sketchhash.tokens import Detector

app = typer.Typer(help="Train and score contour detectors.", no_args_is_help=True)

BsdsFolder = Annotated[Path, typer.Option("--data", metavar="DIR", help="BSDS500's folder: images/ and boundaries/.")]
ForestFile = Annotated[
    Path | None, typer.Option("--forest", metavar="FILE", help="The forest of sketch-tokens, if not the shipped one.")
]
NetworkFile = Annotated[
    Path | None, typer.Option("--network", metavar="FILE", help="The network of contour-net, if not the shipped one.")
]


class BsdsSplit(StrEnum):
    """The parts of BSDS500."""

    TRAIN = "train"
    VAL = "val"
    TEST = "test"


@app.command()
def train(
    data: BsdsFolder,
    out: Annotated[Path, typer.Option(help="The forest to write, an .npz file.")],
    preset: Annotated[str, typer.Option(help="How much to train with: small, medium or full.")] = "small",
    seed: Annotated[int, typer.Option(min=0, help="The seed of everything random.")] = 0,
    work: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to keep finished trees; by default OUT.work.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Trees to grow at the same time, 3 to 9 GB of memory each.")] = 1,
) -> None:
    """Train a forest of sketch tokens. Stop it at any time: the same command continues."""
    for package in ("scipy", "sklearn"):
        require(package, "train")
    from sketchhash import imaging
    from sketchhash.tokens import training

    sizes = training.preset(preset)
    run = training.ForestTrainer(
        training.read_split(data, "train"), sizes, seed, work or out.with_name(out.name + ".work")
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    say(f"Finished trees are kept in {run.folder}.")
    with progress("sorting contours into classes", len(run.photos)) as advance:
        classes = run.find_classes(advance)
    imaging.write_png(run.folder / "tokens.png", classes.sheet())
    with progress("growing trees", len(run.missing_trees())) as advance:
        for number in run.grow(jobs):
            say(f"tree {number + 1} of {sizes.trees}")
            advance()
    run.forest().save(out)
    write(out)


@app.command("train-network")
def train_network(
    data: BsdsFolder,
    out: Annotated[Path, typer.Option(help="The network to write, an .npz file.")],
    photos: Annotated[
        Path | None, typer.Option(metavar="DIR", help="A folder of other photos, to learn the teacher's scores from.")
    ] = None,
    count: Annotated[int, typer.Option(min=0, help="How many of them.")] = 200,
    teacher: Annotated[str, typer.Option(metavar="NAME", help="The detector whose scores it learns.")] = "hed",
    steps: Annotated[int, typer.Option(min=1, help="Training steps.")] = 4000,
    seed: Annotated[int, typer.Option(min=0, help="The seed of everything random.")] = 0,
    work: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to keep labels and checkpoints; by default OUT.work.")
    ] = None,
) -> None:
    """Train the contour network. Stop it at any time: the same command continues."""
    for package in ("torch", "onnx", "scipy"):
        require(package, "train")
    from sketchhash.tokens import detector as make
    from sketchhash.tokens.training import read_split
    from sketchhash.tokens.training.contour_layers import Plan
    from sketchhash.tokens.training.contour_net import ContourNetTrainer, draw_photos

    others = draw_photos(photos, count, seed) if photos is not None else []
    trainer = ContourNetTrainer(
        read_split(data, "train"),
        others,
        make(teacher),
        Plan(steps=steps),
        seed,
        work or out.with_name(out.name + ".work"),
    )
    out.parent.mkdir(parents=True, exist_ok=True)
    say(f"Labels and checkpoints are kept in {trainer.folder}.")
    with progress(f"scoring photos by {teacher}", trainer.labels) as advance:
        for _ in trainer.label():
            advance()
    with progress("training", steps) as advance:
        for step, loss in trainer.train():
            if step % 100 == 0:
                say(f"step {step} of {steps}: loss {loss:.3f}")
            advance()
    trainer.network().save(out)
    write(out)


@app.command()
def score(
    data: BsdsFolder,
    detector: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A detector; repeat for several. [contour-net]")
    ] = None,
    forest: ForestFile = None,
    network: NetworkFile = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to write scores.json and precision_recall.png.")
    ] = None,
    split: Annotated[
        BsdsSplit, typer.Option(help="Which photos; published numbers are those of 'test'.")
    ] = BsdsSplit.TEST,
    thresholds: Annotated[int, typer.Option(min=2, help="How many; fewer are faster and less exact.")] = 99,
    processes: Annotated[int, typer.Option(min=1, help="Photos to match at the same time.")] = 2,
    cache: CacheFolder = None,
    json: AsJson = False,
) -> None:
    """Score contour detectors on photos of BSDS500, beside the published numbers."""
    require("scipy", "bench")
    from sketchhash.evaluation.contour_report import DetectorScore, detector_table, write_scores
    from sketchhash.evaluation.contours import ContourEvaluation, Sweep
    from sketchhash.tokens.training.bsds import read_split

    detectors = [choose_detector(name, forest, network) for name in detector or ["contour-net"]]
    photos = read_split(data, split)
    scores = []
    for each in detectors:
        evaluation = ContourEvaluation(each, (cache or user_cache()) / "contours", Sweep(thresholds), processes)
        with progress(each.name, len(photos)) as advance:
            counts = []
            for counted in evaluation.run(photos):
                counts.append(counted)
                advance()
        scores.append(DetectorScore.of(each.name, each.fingerprint, counts))
        say(f"{each.name}: ODS {scores[-1].summary.ods:.3f}")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_scores(scores, out)
    if json:
        print_json([asdict(score) for score in scores])
    else:
        write(detector_table(scores))


@app.command()
def sheet(
    data: DatasetFolder,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The PNG picture to write.")],
    photos: PhotosFolder = None,
    detector: Annotated[str, typer.Option(metavar="NAME", help="The contour detector.")] = "contour-net",
    forest: ForestFile = None,
    network: NetworkFile = None,
    count: Annotated[int, typer.Option(min=1, max=240, help="How many photos.")] = 24,
) -> None:
    """Paint photos beside their contour scores, their token maps and a sketch of the same category."""
    from sketchhash import datasets, imaging
    from sketchhash.evaluation.contour_report import token_sheet

    dataset = datasets.open_dataset(data, photos)
    imaging.write_png(out, token_sheet(dataset, choose_detector(detector, forest, network), count))
    write(out)


def choose_detector(name: str, forest: Path | None, network: Path | None = None) -> Detector:
    """Return the detector of that name, with other weights if they are given."""
    from sketchhash.tokens import detector as make

    return make(name, {"sketch-tokens": forest, "contour-net": network}.get(name))
