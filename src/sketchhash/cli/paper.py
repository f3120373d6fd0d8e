"""``sketchhash paper``: run the paper's comparison, and write its tables and figures."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import TrainingProgress, complain, print_json, say, write
from sketchhash.cli.options import (
    AsJson,
    CacheFolder,
    DatasetFolder,
    DeviceName,
    KeepPixels,
    MoreDatasets,
    PhotosFolder,
)
from sketchhash.errors import BadArgument, require_torch
from sketchhash.files import user_cache

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sketchhash.baselines import Card
    from sketchhash.paper.heads.records import Choice, HeadRun
    from sketchhash.paper.runner import Failed, Finished

app = typer.Typer(help="Run the paper's comparison and report it.", no_args_is_help=True)

RESULTS = Path("comparison")
_BITS = (32, 64, 128)
_SOME_FAILED = 1

Out = Annotated[
    Path, typer.Option(metavar="FOLDER", help="The folder of results; finished runs in it are not repeated.")
]
Recipe = Annotated[str, typer.Option(help="DSH's recipe; all methods use its photo trunk if that is frozen.")]
Seed = Annotated[int, typer.Option(help="The seed of the split and of every method.")]
Queries = Annotated[int, typer.Option(help="Query sketches a category.")]


def _list_methods(wanted: bool) -> None:
    if wanted:
        from sketchhash.baselines import CATALOGUE
        from sketchhash.paper import published

        for card in CATALOGUE:
            write(_described(card))
        write("dsh: DSH, the paper's own; at every code length")
        for ablation in published.ABLATIONS:
            write(f"{ablation.name}: {ablation.title} (Table 4)")
        raise typer.Exit


@app.command()
def run(
    data: DatasetFolder,
    out: Out = RESULTS,
    photos: PhotosFolder = None,
    most: Annotated[int | None, typer.Option(min=1, help="Keep at most so many photos of a category.")] = None,
    method: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A method; repeat for several.  [default: all]")
    ] = None,
    bits: Annotated[
        list[int] | None, typer.Option(help="Length of the codes; repeat for several.  [default: 32, 64, 128]")
    ] = None,
    ablation_bits: Annotated[int, typer.Option(help="Length of the codes of Table 4.")] = 128,
    protocol: Annotated[
        str, typer.Option(help="'seen', as in the paper, or 'unseen': a fifth of the photos is kept to be found.")
    ] = "seen",
    setting: Annotated[
        list[str] | None,
        typer.Option(metavar="METHOD.NAME=VALUE", help="Change a method's setting: gn-triplet.side=224; repeat."),
    ] = None,
    recipe: Recipe = "tuned",
    queries: Queries = 10,
    seed: Seed = 0,
    cache: CacheFolder = None,
    device: DeviceName = None,
    keep_pixels: KeepPixels = False,
    listed: Annotated[
        bool, typer.Option("--list", help="List the methods and exit.", callback=_list_methods, is_eager=True)
    ] = False,
) -> None:
    """Run the paper's comparison; Ctrl-C and again at any time. A run that fails is reported, and the others go on."""
    require_torch()
    from sketchhash import datasets
    from sketchhash.devices import using
    from sketchhash.paper import limit_photos, plan
    from sketchhash.paper.runner import Failed, run_entries
    from sketchhash.paper.settings import parse_settings
    from sketchhash.paper.workbench import Workbench

    entries = plan(method or None, _code_lengths(bits or _BITS), *_code_lengths([ablation_bits]))
    settings = parse_settings(setting or ())
    dataset = limit_photos(datasets.open_dataset(data, photos), most)
    place = cache or user_cache()
    bench = Workbench(dataset, protocol, recipe, seed, queries, place, TrainingProgress(), keep_pixels, settings)
    with using(device):
        outcomes = run_entries(bench, out, entries)
        say(
            f"{len(entries)} runs on {dataset.name}: {len(bench.parts.queries):,} queries, "
            f"{len(bench.parts.gallery):,} photos to find."
        )
        started, failed = perf_counter(), []
        for number, entry in enumerate(entries, 1):
            say(f"[{number}/{len(entries)}] {entry.method}, {entry.size}")
            outcome = next(outcomes)
            if isinstance(outcome, Failed):
                failed.append(outcome)
            _tell(outcome)
    say(f"{len(entries) - len(failed)} of {len(entries)} runs are finished, after {perf_counter() - started:,.0f} s.")
    write(out)
    if failed:
        complain(f"These failed: {', '.join(each.entry.slug for each in failed)}. The same command tries them again.")
        raise typer.Exit(_SOME_FAILED)


@app.command()
def report(
    results: Annotated[
        Path, typer.Option(metavar="FOLDER", help="The folder that 'paper run' or 'paper heads' filled.")
    ] = RESULTS,
    out: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where to write.  [default: RESULTS/report]")
    ] = None,
    data: Annotated[
        str | None, typer.Option(metavar="DIR", help="The runs' dataset, to show photos in Figure 6.")
    ] = None,
    photos: PhotosFolder = None,
) -> None:
    """Write the tables beside the paper's numbers, the figures and a page; photos go to a folder of their own."""
    from sketchhash import datasets
    from sketchhash.paper import write_report
    from sketchhash.paper.heads import FILE, write_heads_report

    if (results / FILE).exists():
        for path in write_heads_report(results, out or results / "report"):
            write(path)
        return
    shown = None if data is None else datasets.open_dataset(data, photos)
    for path in write_report(results, out or results / "report", shown):
        write(path)
    if data is None:
        say("Figure 6 shows photos and is left out: give their dataset with --data to have it.")


@app.command()
def ablations(
    data: DatasetFolder,
    out: Out,
    photos: PhotosFolder = None,
    bits: Annotated[int, typer.Option(help="Length of the codes of Table 4.")] = 64,
    length: Annotated[
        list[int] | None,
        typer.Option(
            metavar="BITS", help="Train the full model and plain methods at this length too; repeat for several."
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=1, help="Times to train each line of Table 4, from other random codes.")
    ] = 1,
    recipe: Recipe = "tuned",
    seed: Seed = 0,
    queries: Queries = 10,
    cache: CacheFolder = None,
    device: DeviceName = None,
    keep_pixels: KeepPixels = False,
    json: AsJson = False,
) -> None:
    """Train the five models of Table 4, on seen and on unseen photos, and print them beside the paper's numbers."""
    require_torch()
    from sketchhash import datasets
    from sketchhash.devices import using
    from sketchhash.paper import ablation_plan
    from sketchhash.paper.ablations import ablation_table, run_ablations

    entries = ablation_plan(_code_lengths([bits])[0], repeats, _code_lengths(length or ()))
    with using(device):
        results = list(
            run_ablations(
                datasets.open_dataset(data, photos),
                out,
                entries,
                recipe=recipe,
                seed=seed,
                queries=queries,
                cache=cache or user_cache(),
                progress=TrainingProgress(),
                keep_pixels=keep_pixels,
            )
        )
    if json:
        print_json([asdict(result) for result in results])
    else:
        write(ablation_table(results))


@app.command()
def heads(
    data: DatasetFolder,
    out: Out,
    photos: PhotosFolder = None,
    also: MoreDatasets = None,
    model: Annotated[
        Path | None,
        typer.Option("--from", metavar="MODEL", help="Take C2's trunk from this model; else the recipe teaches it."),
    ] = None,
    method: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A method; repeat for several.  [default: all]")
    ] = None,
    bits: Annotated[
        list[int] | None, typer.Option(help="Length of the codes; repeat for several.  [default: 32, 64, 128]")
    ] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Splits of photos, and random numbers, to average over.")] = 3,
    queries: Annotated[int, typer.Option(help="Sketches a category that the trunks have not seen.")] = 10,
    validation: Annotated[int, typer.Option(min=1, help="So many of them choose the settings; the others test.")] = 3,
    unseen_category: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Keep a category out of all training, and search only such; repeat."),
    ] = None,
    zero_shot: Annotated[
        str | None,
        typer.Option(metavar="LIST", help="Keep a published list of categories out so, such as 'tuberlin-sake'."),
    ] = None,
    choices: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Take settings from the results of another comparison.")
    ] = None,
    untuned: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Leave a method's settings as they are; repeat.")
    ] = None,
    recipe: Annotated[str, typer.Option(help="DSH's recipe, with frozen trunks and one view of a picture.")] = "heads",
    cache: CacheFolder = None,
    device: DeviceName = None,
) -> None:
    """Compare all methods on the features of DSH's own trunks; Ctrl-C and again at any time."""
    require_torch()
    from sketchhash import datasets
    from sketchhash.devices import using
    from sketchhash.dsh.recipe import load_recipe
    from sketchhash.paper.heads import HeadRecords
    from sketchhash.paper.heads.bench import HeadBench, Task, check_queries_were_kept_out
    from sketchhash.paper.heads.methods import check_names, head_names
    from sketchhash.paper.heads.runner import run_heads
    from sketchhash.paper.heads.splits import draw_head_split, draw_unseen_split, listed_categories

    check_names([*(method or ()), *(untuned or ())])
    if zero_shot and unseen_category:
        raise BadArgument("Unseen categories are those of a list, or named: give --zero-shot or --unseen-category.")
    is_zero_shot = bool(zero_shot or unseen_category)
    if also and model and not is_zero_shot:
        raise BadArgument(
            "Which sketches of joined datasets a model has not seen is unknown. Add --unseen-category or --zero-shot."
        )
    if model and not is_zero_shot:
        check_queries_were_kept_out(model)
    dataset = datasets.join([datasets.open_dataset(data, photos), *map(datasets.open_dataset, also or ())])
    unseen: Sequence[str] = unseen_category or ()
    if zero_shot:
        unseen, absent = listed_categories(dataset, zero_shot)
        if absent:
            listed = len(unseen) + len(absent)
            say(f"{dataset.name} lacks {len(absent)} of the {listed} categories of {zero_shot}: {', '.join(absent)}.")
    if unseen:
        taught_on = draw_unseen_split(dataset, unseen)
        splits = [taught_on] * seeds
    else:
        taught_on = datasets.draw_split(dataset, queries)
        splits = [draw_head_split(dataset, taught_on, validation, seed) for seed in range(seeds)]
    tasks = [Task.of(split, dataset) for split in splits]
    names = [name for name in head_names() if not method or name in method]
    given = HeadRecords(choices).choices() if choices else None
    with using(device):
        bench = HeadBench(dataset, load_recipe(recipe), taught_on, model, cache or user_cache(), TrainingProgress())
        for outcome in run_heads(bench, tasks, names, _code_lengths(bits or _BITS), out, given, untuned or ()):
            say(_head_line(outcome))
    write(out)


@app.command()
def trunks(
    run: Annotated[
        list[Path], typer.Option(metavar="RUN", help="A training run's folder; repeat for other code lengths.")
    ],
    data: DatasetFolder,
    photos: PhotosFolder = None,
    also: MoreDatasets = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the table here too.")] = None,
    cache: CacheFolder = None,
    json: AsJson = False,
) -> None:
    """Fit plain methods to the features that runs have frozen, and score them beside the runs' own codes."""
    require_torch()
    from sketchhash import datasets
    from sketchhash.dsh import runs
    from sketchhash.dsh.checkpoints import write_text
    from sketchhash.dsh.inputs import NetworkInputs
    from sketchhash.evaluation import EvaluationData
    from sketchhash.paper.trunks import METHODS, compare_on_trunks, trunk_table

    collections = [datasets.open_dataset(data, photos), *(datasets.open_dataset(more) for more in also or ())]
    dataset = datasets.join(collections)
    progress, scores = TrainingProgress(), []
    for folder in run:
        job, network = runs.reopen(folder, dataset)
        inputs = NetworkInputs(dataset, network, job.recipe, job.seed, cache or user_cache(), progress)
        settings = EvaluationData(collections, job.split).settings()
        with progress.stage(f"{job.bits} bits", len(METHODS) * len(settings)) as advance:
            for score in compare_on_trunks(job, inputs, settings):
                scores.append(score)
                advance()
    table = trunk_table(scores)
    if out is not None:
        write_text(out, table + "\n")
    if json:
        print_json([asdict(score) for score in scores])
    else:
        write(table)


def _tell(outcome: Finished | Failed) -> None:
    from sketchhash.paper.runner import Failed

    if isinstance(outcome, Failed):
        complain(f"{outcome.entry.slug} failed: {outcome.problem} ({outcome.path})")
        return
    record = outcome.record
    took = "finished before" if outcome.before else f"{record.seconds:,.0f} s"
    say(f"  mAP {record.scores.mean_average_precision:.3f}, P@200 {record.scores.precision_at_200:.3f}; {took}")


def _head_line(outcome: Choice | HeadRun) -> str:
    from sketchhash.paper.heads.records import Choice

    if isinstance(outcome, Choice):
        if not outcome.scores:
            return f"{outcome.method} keeps its settings"
        return f"{outcome.method} takes {dict(outcome.chosen)} ({max(outcome.scores):.3f} on validation)"
    found = ", ".join(f"{name} {score.mean_average_precision:.3f}" for name, score in outcome.scores.items())
    return f"{outcome.method} {outcome.size}, seed {outcome.seed}: {found}; {outcome.fit_seconds:.0f} s"


def _described(card: Card) -> str:
    sizes = f"{card.sizes[0]} dimensions" if card.sizes else "at every code length"
    facts = f"{card.name}: {card.title}, {card.kind}; sees {card.sees}, {card.distance} distance; {sizes}"
    differs = [f"    why ours is not the paper's number: {card.differs}"] if card.differs else []
    published = [f"    {card.published}"] if card.published else []
    choices = [f"    - {choice}" for choice in card.choices]
    return "\n".join([facts, f"    {card.paper}, {card.year}", *choices, *differs, *published])


def _code_lengths(lengths: Sequence[int]) -> list[int]:
    from sketchhash.codes import MAX_BITS

    for bits in lengths:
        if bits not in range(8, MAX_BITS + 1, 8):
            raise BadArgument(f"Codes have multiples of 8 bits up to {MAX_BITS}, not {bits}.")
    return list(lengths)
