"""``sketchhash benchmark run``: the paper's whole comparison, method by method."""

from __future__ import annotations

from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import TrainingProgress, complain, say
from sketchhash.cli.options import CacheFolder
from sketchhash.errors import require_torch
from sketchhash.files import user_cache

if TYPE_CHECKING:
    from sketchhash.baselines import Card
    from sketchhash.benchmark.comparison.running import Failed, Finished

RESULTS = Path("comparison")
_SOME_FAILED = 1


def _list_methods(wanted: bool) -> None:
    if wanted:
        from sketchhash.baselines import CATALOGUE
        from sketchhash.paper import published as paper

        for card in CATALOGUE:
            typer.echo(_described(card))
        typer.echo("dsh: DSH, the paper's own; at every code length")
        for component in paper.ABLATIONS:
            typer.echo(f"{component.name}: {component.title} (Table 4)")
        raise typer.Exit


def run(
    data: Annotated[str, typer.Option(metavar="DIR", help="A dataset's folder, or the word 'synthetic'.")],
    out: Annotated[Path, typer.Option(help="The folder of results: finished runs in it are not repeated.")] = RESULTS,
    photos: Annotated[str | None, typer.Option(metavar="DIR", help="Take the photos from this other dataset.")] = None,
    most: Annotated[int | None, typer.Option(min=1, help="Keep at most so many photos of a category.")] = None,
    methods: Annotated[str, typer.Option(help="Names, separated by commas.  [default: all]")] = "",
    bits: Annotated[str, typer.Option(help="Lengths of the codes, separated by commas.")] = "32,64,128",
    ablation_bits: Annotated[int, typer.Option(help="Length of the codes of Table 4.")] = 128,
    protocol: Annotated[
        str, typer.Option(help="'seen', as in the paper, or 'unseen': a fifth of the photos is kept to be found.")
    ] = "seen",
    recipe: Annotated[str, typer.Option(help="DSH's recipe; its photo trunk is everyone's.")] = "tuned",
    queries: Annotated[int, typer.Option(help="Query sketches a category.")] = 10,
    seed: Annotated[int, typer.Option(help="Seed of split and methods.")] = 0,
    cache: CacheFolder = None,
    listed: Annotated[
        bool, typer.Option("--list", help="List the methods and exit.", callback=_list_methods, is_eager=True)
    ] = False,
) -> None:
    """Run the paper's comparison; Ctrl-C and again at any time. What fails is reported, and the others go on."""
    require_torch()
    from sketchhash import datasets
    from sketchhash.benchmark.comparison.entries import plan
    from sketchhash.benchmark.comparison.running import Comparison, Failed
    from sketchhash.benchmark.comparison.task import with_at_most
    from sketchhash.benchmark.comparison.workbench import Workbench

    names = [name.strip() for name in methods.split(",") if name.strip()]
    entries = plan(names or None, _code_lengths("bits", bits), *_code_lengths("ablation-bits", str(ablation_bits)))
    dataset = with_at_most(datasets.open_dataset(data, photos), most)
    bench = Workbench(dataset, protocol, recipe, seed, queries, cache or user_cache(), TrainingProgress())
    comparison = Comparison(bench, out)
    say(
        f"{len(entries)} runs on {dataset.name}: {len(bench.parts.queries):,} queries, "
        f"{len(bench.parts.gallery):,} photos to find."
    )
    started, failed = perf_counter(), []
    for number, entry in enumerate(entries, 1):
        say(f"[{number}/{len(entries)}] {entry.method}, {entry.size}")
        outcome = comparison.run(entry)
        if isinstance(outcome, Failed):
            failed.append(outcome)
        _tell(outcome)
    say(f"{len(entries) - len(failed)} of {len(entries)} runs are finished, after {perf_counter() - started:,.0f} s.")
    typer.echo(out)
    if failed:
        complain(f"These failed: {', '.join(each.entry.slug for each in failed)}. The same command tries them again.")
        raise typer.Exit(_SOME_FAILED)


def _tell(outcome: Finished | Failed) -> None:
    from sketchhash.benchmark.comparison.running import Failed

    if isinstance(outcome, Failed):
        complain(f"{outcome.entry.slug} failed: {outcome.problem} ({outcome.path})")
        return
    record, scores = outcome.record, outcome.scores
    took = "finished before" if outcome.before else f"{record.seconds:,.0f} s"
    say(f"  mAP {scores.mean_average_precision.value:.3f}, P@200 {scores.precision_at_200.value:.3f}; {took}")


def _described(card: Card) -> str:
    sizes = f"{card.sizes[0]} dimensions" if card.sizes else "at every code length"
    facts = f"{card.name}: {card.title}, {card.kind}; sees {card.sees}, {card.distance} distance; {sizes}"
    return "\n".join([facts, f"    {card.paper}, {card.year}", *(f"    - {choice}" for choice in card.choices)])


def _code_lengths(option: str, text: str) -> list[int]:
    from sketchhash.codes import MAX_BITS
    from sketchhash.errors import BadArgument

    allowed = range(8, MAX_BITS + 1, 8)
    if not all(part.strip().isdigit() and int(part) in allowed for part in text.split(",")):
        raise BadArgument(f"--{option} takes multiples of 8 up to {MAX_BITS}, separated by commas, not {text!r}.")
    return [int(part) for part in text.split(",")]
