"""``sketchhash tokens score``: how well detectors find the contours that people see."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import print_json, progress, say
from sketchhash.cli.train import CacheFolder, default_cache
from sketchhash.errors import require

if TYPE_CHECKING:
    from sketchhash.tokens import Detector

ForestFile = Annotated[
    Path | None, typer.Option("--forest", metavar="FILE", help="The forest for sketch-tokens, if not the shipped one.")
]


def score(
    data: Annotated[Path, typer.Option(metavar="DIR", help="A folder of BSDS500: images/ and boundaries/.")],
    detector: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Whom to judge; repeat for several. [sketch-tokens]")
    ] = None,
    forest: ForestFile = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where to write scores.json and precision_recall.png.")
    ] = None,
    thresholds: Annotated[int, typer.Option(min=2, help="How many; fewer are faster and a little rough.")] = 99,
    processes: Annotated[int, typer.Option(min=1, help="Photos to match at the same time.")] = 2,
    cache: CacheFolder = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Judge detectors of contours on the test photos of BSDS500, beside the published numbers."""
    require("scipy", "bench")
    from sketchhash.benchmark.contours import Evaluation, Sweep, report
    from sketchhash.tokens.training.bsds import read_split

    judged = [choose_detector(name, forest) for name in detector or ["sketch-tokens"]]
    photos = read_split(data, "test")
    judgements = []
    for each in judged:
        evaluation = Evaluation(each, (cache or default_cache()) / "contours", Sweep(thresholds), processes)
        with progress(each.name, len(photos)) as advance:
            counts = []
            for counted in evaluation.run(photos):
                counts.append(counted)
                advance()
        judgements.append(report.Judgement.of(each.name, each.fingerprint, counts))
        say(f"{each.name}: ODS {judgements[-1].summary.ods:.3f}")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        report.write(judgements, out)
    if json:
        print_json([asdict(judgement) for judgement in judgements])
    else:
        typer.echo(report.table(judgements))


def choose_detector(name: str, forest: Path | None) -> Detector:
    """Make the detector of that name, with another forest if one is given."""
    from sketchhash.tokens import WEIGHTS
    from sketchhash.tokens import detector as make

    return make(name, forest if name in WEIGHTS else None)
