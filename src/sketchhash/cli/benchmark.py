"""``sketchhash benchmark``: measure methods on a dataset."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli import benchmark_report, benchmark_run, benchmark_trunks
from sketchhash.cli.console import TrainingProgress, print_json
from sketchhash.cli.options import CacheFolder
from sketchhash.errors import require_torch
from sketchhash.files import user_cache

if TYPE_CHECKING:
    from sketchhash.benchmark.study import Entry

app = typer.Typer(help="Measure methods on a dataset.", no_args_is_help=True)
app.command("run")(benchmark_run.run)
app.command("report")(benchmark_report.report)
app.command("trunks")(benchmark_trunks.trunks)

Data = Annotated[str, typer.Option(metavar="DIR", help="A dataset's folder, or the word 'synthetic'.")]
Photos = Annotated[str | None, typer.Option(metavar="DIR", help="Take the photos from this other dataset.")]
Out = Annotated[Path, typer.Option(help="The folder of results: finished runs in it are not repeated.")]
Seed = Annotated[int, typer.Option(help="Seed of split, networks and codes.")]
Queries = Annotated[int, typer.Option(help="Query sketches a category.")]
Repeats = Annotated[int, typer.Option(min=1, help="Times to train each line of Table 4, from other random codes.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def ablations(
    data: Data,
    out: Out,
    photos: Photos = None,
    bits: Annotated[int, typer.Option(help="Length of the codes.")] = 64,
    seed: Seed = 0,
    queries: Queries = 10,
    repeats: Repeats = 1,
    cache: CacheFolder = None,
    json: AsJson = False,
) -> None:
    """Train the five models of Table 4 and print them beside the paper's numbers."""
    require_torch()
    from sketchhash.benchmark.study import ablation_entries

    _run(ablation_entries(bits, repeats), data, photos, out, seed, queries, cache, json)


@app.command()
def dsh(
    data: Data,
    out: Out,
    photos: Photos = None,
    bits: Annotated[str, typer.Option(help="Lengths of the codes, separated by commas.")] = "32,64,128",
    ablation_bits: Annotated[int, typer.Option(help="Length of the codes of the ablations.")] = 64,
    seed: Seed = 0,
    queries: Queries = 10,
    repeats: Repeats = 1,
    cache: CacheFolder = None,
    json: AsJson = False,
) -> None:
    """Measure Deep Sketch Hashing: code lengths, ablations, and plain methods on the same features."""
    from sketchhash.errors import BadArgument

    require_torch()
    from sketchhash.benchmark.study import study_entries

    if not all(part.strip().isdigit() for part in bits.split(",")):
        raise BadArgument(f"--bits takes whole numbers separated by commas, not {bits!r}.")
    lengths = [int(part) for part in bits.split(",")]
    _run(study_entries(lengths, ablation_bits, repeats), data, photos, out, seed, queries, cache, json)


def _run(
    entries: list[Entry],
    data: str,
    photos: str | None,
    out: Path,
    seed: int,
    queries: int,
    cache: Path | None,
    json: bool,
) -> None:
    from sketchhash import datasets
    from sketchhash.benchmark.study import Study, table

    study = Study(datasets.open_dataset(data, photos), out, cache or user_cache(), seed, queries, TrainingProgress())
    results = list(study.run(entries))
    if json:
        print_json([asdict(result) for result in results])
    else:
        typer.echo(table(results))
