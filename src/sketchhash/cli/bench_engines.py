"""``sketchhash bench engines``: how fast engines that others run search, beside the scan."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from sketchhash.cli.console import print_json, say


def engines(
    addresses: Annotated[
        list[str],
        typer.Argument(
            metavar="ADDRESS", help="milvus://host:port/name or postgresql://host/database?gallery=name, new."
        ),
    ],
    size: Annotated[int, typer.Option(min=1, help="Codes to search.")] = 204_489,
    bits: Annotated[int, typer.Option(help="Their length.")] = 64,
    seconds: Annotated[float, typer.Option(min=0.01, help="Time for the searches of one engine.")] = 5.0,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Fill engines with the same clustered codes, time the 100 nearest of one query in turns, and empty them again."""
    import numpy as np

    from sketchhash.benchmark.engine_speed import compare_engines, engine_table
    from sketchhash.benchmark.search_speed import clustered_gallery

    say(f"{size:,} clustered codes of {bits} bits ...")
    results = compare_engines(clustered_gallery(size, bits, np.random.default_rng(0)), addresses, seconds)
    if json:
        print_json([asdict(result) for result in results])
    else:
        typer.echo(engine_table(results))
