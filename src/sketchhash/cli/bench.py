"""``sketchhash bench``: how fast the parts are, beside a peer in the same run."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from sketchhash.cli import bench_engines, bench_index, bench_model, bench_scale, bench_search, bench_serve, bench_tokens
from sketchhash.cli.console import print_json, say

app = typer.Typer(help="Measure speed, beside a peer in the same run.", no_args_is_help=True)


@app.callback()
def _speed() -> None:
    """Measure speed, beside a peer in the same run."""


@app.command()
def codes(json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """Time one round of code learning at TU-Berlin Extension size, and beside the textbook equations."""
    from sketchhash.errors import require

    require("threadpoolctl", "train")
    from sketchhash.dsh.bench import COMPARABLE, TU_BERLIN, compare, measure

    say(f"One round for {TU_BERLIN.photos:,} photos and {TU_BERLIN.sketches:,} sketches ...")
    full = measure()
    say(f"The same for {COMPARABLE.photos:,} and {COMPARABLE.sketches:,}, then by the textbook (about a minute) ...")
    both = compare()
    if json:
        comparison = {**asdict(both), "speedup": both.speedup, "has_equal_codes": both.has_equal_codes}
        print_json({"full": asdict(full), "comparison": comparison})
        return
    typer.echo("| solver | photos | sketches | D | B^I | B^S | round | CPU | peak memory |")
    typer.echo("|---|---|---|---|---|---|---|---|---|")
    for solver, size, cost in (
        ("sketchhash", TU_BERLIN, full),
        ("sketchhash", COMPARABLE, both.discrete),
        ("textbook", COMPARABLE, both.textbook),
    ):
        times = (cost.basis_seconds, cost.photo_seconds, cost.sketch_seconds, cost.seconds, cost.cpu_seconds)
        cells = " | ".join(f"{seconds:.2f} s" for seconds in times)
        memory = f"{cost.peak_bytes / 1e9:.2f} GB"
        typer.echo(f"| {solver} | {size.photos:,} | {size.sketches:,} | {cells} | {memory} |")
    same = "the same codes" if both.has_equal_codes else "OTHER codes"
    typer.echo(f"\nThe textbook takes {both.speedup:.0f} times the processor time, for {same}.")


app.command("index")(bench_index.index)
app.command("engines")(bench_engines.engines)
app.command("model")(bench_model.model)
app.command("scale")(bench_scale.scale)
app.command("serve")(bench_serve.serve)
app.command("tokens")(bench_tokens.tokens)
app.command("search")(bench_search.search)
