"""``sketchhash tokens``: train the detector of contours, judge it, look at what it draws."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sketchhash.cli import token_scores, token_sheet
from sketchhash.cli.console import progress, say

app = typer.Typer(help="Train and judge detectors of contours.", no_args_is_help=True)


@app.callback()
def _tokens() -> None:
    """Train and judge detectors of contours."""


@app.command()
def train(
    data: Annotated[Path, typer.Option(metavar="DIR", help="A folder of BSDS500: images/ and boundaries/.")],
    out: Annotated[Path, typer.Option(help="The forest to write, an .npz file.")],
    preset: Annotated[str, typer.Option(help="How much to train with: small, medium or full.")] = "small",
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    work: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where finished trees are kept; by default OUT.work.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Trees to grow at the same time, 3 to 9 GB of memory each.")] = 1,
) -> None:
    """Train a forest of sketch tokens; stop it at any time, and the same command goes on."""
    from sketchhash.errors import require

    for package in ("scipy", "sklearn"):
        require(package, "train")
    from sketchhash import imaging
    from sketchhash.tokens import training

    sizes = training.preset(preset)
    run = training.Run(training.read_split(data, "train"), sizes, seed, work or out.with_name(out.name + ".work"))
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
    typer.echo(out)


app.command("score")(token_scores.score)
app.command("sheet")(token_sheet.sheet)
