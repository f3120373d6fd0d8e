"""``sketchhash bench scale``: galleries larger than one machine has, from what is measured on this one."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import print_json, say

if TYPE_CHECKING:
    from sketchhash.benchmark.scale import ScaleFigures

_WIDTHS = (32, 64, 128)
_WRONG_HITS = 1


def scale(
    codes: Annotated[int, typer.Option(min=1, help="Codes of the simulation, in shards on disk.")] = 100_000_000,
    bits: Annotated[int, typer.Option(help="Their length.")] = 64,
    shards: Annotated[int, typer.Option(min=1, help="Into how many shards they are divided.")] = 20,
    shard_codes: Annotated[
        int, typer.Option(min=1, help="Codes of the one shard that is timed in memory.")
    ] = 5_000_000,
    checked: Annotated[int, typer.Option(min=1, max=32, help="Queries to compare with brute force.")] = 5,
    repeats: Annotated[int, typer.Option(min=1, help="How often each time is taken.")] = 20,
    folder: Annotated[
        Path | None,
        typer.Option(metavar="DIR", exists=True, file_okay=False, help="Where shards are written for a while."),
    ] = None,
    indexing: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Add what indexing takes, by 'bench index --json'.")
    ] = None,
    price: Annotated[float, typer.Option(min=0, help="What a machine costs a month.")] = 600.0,
    recorded: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Measure nothing: print the tables of an earlier --json.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Search shards on disk, and compute memory, time and cost for a million to ten thousand million photos."""
    from sketchhash.benchmark import scale as scaling
    from sketchhash.benchmark.index_speed import IndexingFigures

    encoding = None if indexing is None else IndexingFigures.read(indexing)
    if recorded is not None:
        figures = scaling.ScaleFigures.read(recorded)
    else:
        simulation = scaling.simulate(codes, bits, shards, checked, repeats, say, folder)
        constants = []
        for width in _WIDTHS:
            say(f"Timing {shard_codes:,} codes of {width} bits ...")
            constants.append(scaling.measure_constants(width, shard_codes, repeats))
        figures = scaling.ScaleFigures(tuple(constants), simulation)
    _print(figures, json, scaling.page(figures, scaling.Machine(price=price), encoding))


def _print(figures: ScaleFigures, json: bool, page: str) -> None:
    if json:
        print_json(asdict(figures))
    else:
        typer.echo(page)
    if not figures.simulation.is_exact:
        say("Hits differ from those of brute force: do not trust the times.")
        raise typer.Exit(_WRONG_HITS)
