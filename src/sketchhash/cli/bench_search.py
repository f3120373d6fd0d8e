"""``sketchhash bench search``: how fast codes are searched, beside other engines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import print_json, say

if TYPE_CHECKING:
    from sketchhash.benchmark.search_speed import Comparison, TestGallery

_SIZES = "73002,204489,1000000,10000000"
_QUICK_SIZES = "73002,204489"
_SECONDS, _QUICK_SECONDS = 1.5, 0.3
_WRONG_HITS = 1


def search(
    sizes: Annotated[
        str | None, typer.Option(help=f"Codes in a gallery, separated by commas.  [default: {_SIZES}]")
    ] = None,
    bits: Annotated[str, typer.Option(help="Lengths of the codes, separated by commas.")] = "32,64,128",
    gallery: Annotated[Path | None, typer.Option(metavar="FILE", help="Search this gallery's codes too.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="The paper's two sizes, in about a minute.")] = False,
    plot: Annotated[Path | None, typer.Option(metavar="FILE.png", help="Draw the times.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Time exact search beside faiss, usearch, NumPy and a pure read, each on one thread."""
    from sketchhash.benchmark import search_speed
    from sketchhash.errors import require

    if plot:
        require("matplotlib", "bench")
    engines, notes = search_speed.available_engines()
    for note in notes:
        say(note)
    seconds = _QUICK_SECONDS if quick else _SECONDS
    comparisons = []
    lengths = _numbers("bits", bits)
    for codes in _galleries(_numbers("sizes", sizes or (_QUICK_SIZES if quick else _SIZES)), lengths, gallery):
        say(f"{codes.size:,} {codes.kind} codes of {codes.bits} bits ...")
        comparisons.append(search_speed.compare(codes, engines, seconds))
    if plot:
        search_speed.plot(comparisons, plot)
    if json:
        aims = [{**asdict(verdict), "is_met": verdict.is_met} for verdict in search_speed.judge(comparisons)]
        print_json({"comparisons": [asdict(each) for each in comparisons], "aims": aims, "notes": notes})
    else:
        _print_report(comparisons)
    if any(result.has_reference_hits is False for each in comparisons for result in each.results):
        say("Hits differ from those of the reference: do not trust the times.")
        raise typer.Exit(_WRONG_HITS)


def _print_report(comparisons: list[Comparison]) -> None:
    from sketchhash.benchmark import search_speed

    typer.echo(search_speed.speed_table(comparisons))
    typer.echo("\nThe 100 nearest, on one thread. Load is build plus reading the codes from a file. MB are 2^20 bytes.")
    typer.echo("Hits are compared, id by id, with those of the reference.\n")
    typer.echo(search_speed.aims_list(search_speed.judge(comparisons)) or "No aim is about these sizes.")
    typer.echo("\nBeside the paper's Table 2:\n")
    typer.echo(search_speed.paper_table(comparisons))


def _galleries(sizes: list[int], widths: list[int], stored: Path | None) -> Iterator[TestGallery]:
    import numpy as np

    from sketchhash.benchmark.search_speed import clustered_gallery, random_gallery, stored_gallery

    rng = np.random.default_rng(0)
    if stored:
        yield stored_gallery(stored, rng)
    for size in sizes:
        for bits in widths:
            yield random_gallery(size, bits, rng)
            yield clustered_gallery(size, bits, rng)


def _numbers(option: str, text: str) -> list[int]:
    from sketchhash.errors import BadArgument

    if not all(part.strip().isdigit() and int(part) > 0 for part in text.split(",")):
        raise BadArgument(f"--{option} takes whole numbers separated by commas, not {text!r}.")
    return [int(part) for part in text.split(",")]
