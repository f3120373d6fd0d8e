"""``sketchhash export``: another model folder from a finished run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def export(
    run: Annotated[Path, typer.Option(help="The folder of a run: OUT.run beside the model that it trained.")],
    data: Annotated[str, typer.Option(metavar="DIR", help="The dataset it was trained on.")],
    out: Annotated[Path, typer.Option(help="The model folder to write.")],
    photos: Annotated[
        str | None, typer.Option(metavar="DIR", help="The photos, if they are another dataset's.")
    ] = None,
    also: Annotated[
        list[str] | None, typer.Option(metavar="DIR", help="A dataset it was trained on too; may be given again.")
    ] = None,
    notes: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A TOML file with what the model card should say of the data.")
    ] = None,
    weights: Annotated[str, typer.Option(help="How weights are stored: float32 or float16.")] = "float32",
) -> None:
    """Write the networks of a run as a model folder, for example with weights in half precision."""
    from sketchhash.errors import UnknownName, require

    require("torch", "train")
    from sketchhash import datasets
    from sketchhash.dsh import cards, runs
    from sketchhash.dsh.export import Weights
    from sketchhash.dsh.export import export as write

    if weights not in list(Weights):
        raise UnknownName("kind of weights", weights, Weights)
    card_notes = cards.read_notes(notes) if notes else None
    dataset = datasets.join(
        [datasets.open_dataset(data, photos), *(datasets.open_dataset(more) for more in also or ())]
    )
    job, network = runs.reopen(run, dataset)
    write(network, job, out, cards.describe(job, card_notes), runs.read_scores(run), Weights(weights))
    typer.echo(out)
