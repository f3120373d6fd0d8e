"""``sketchhash data``: look at datasets, divide them, make the synthetic one."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import print_json, progress, say, write
from sketchhash.cli.options import AsJson, MoreDatasets, PhotosFolder
from sketchhash.errors import BadArgument

if TYPE_CHECKING:
    from sketchhash.datasets import DatasetReport

app = typer.Typer(help="Look at datasets, divide them into splits, make the synthetic one.", no_args_is_help=True)

Source = Annotated[str, typer.Argument(metavar="DIR", help="A dataset's folder, or 'synthetic'.")]


@app.command()
def check(
    source: Source,
    photos: PhotosFolder = None,
    names_only: Annotated[bool, typer.Option("--names-only", help="Do not open the pictures.")] = False,
    json: AsJson = False,
) -> None:
    """Check a dataset and print what is recognised; exit 1 if nothing can be trained or measured with it."""
    from sketchhash import datasets

    dataset = datasets.open_dataset(source, photos)
    total = len(dataset.sketches) + len(dataset.photos)
    with progress("opening pictures", total) as advance:
        report = datasets.check(dataset, decode=not names_only, advance=advance)
    if json:
        print_json({**asdict(report), "usable": report.why_unusable is None, "why_unusable": report.why_unusable})
    else:
        _print_report(report)
    if report.why_unusable is not None:
        say(f"{report.dataset} cannot be used: {report.why_unusable}.")
        raise typer.Exit(1)


@app.command()
def split(
    source: Source,
    out: Annotated[Path, typer.Option(help="The split file to write.")],
    photos: PhotosFolder = None,
    also: MoreDatasets = None,
    queries: Annotated[int, typer.Option(help="Query sketches a category (the paper: 10, and 50 for Sketchy).")] = 10,
    seed: Annotated[int, typer.Option(help="The seed of the draw.")] = 0,
    unseen_photos: Annotated[
        float, typer.Option(help="The share of photos to keep out of training and to search alone.")
    ] = 0.0,
    zero_shot: Annotated[
        str | None,
        typer.Option(help="Keep a published list of categories out of training, such as 'sketchy-sake'."),
    ] = None,
    unseen_category: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A category to keep out of training; repeatable."),
    ] = None,
    validation: Annotated[
        int,
        typer.Option(metavar="N", help="Set aside up to N sketches and N photos a category to make choices on."),
    ] = 0,
    halves: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Also write the same split that asks with half of the query sketches: for choices."
        ),
    ] = None,
    json: AsJson = False,
) -> None:
    """Divide a dataset into training items, queries and gallery, and write the split to a file."""
    from sketchhash import datasets

    collections = [datasets.open_dataset(source, photos), *map(datasets.open_dataset, also or ())]
    dataset = datasets.join(collections)
    if zero_shot is None:
        drawn = datasets.draw_joined_split(collections, queries, seed, unseen_photos, unseen_category or (), validation)
    elif unseen_photos or unseen_category:
        raise BadArgument(
            "A split is either zero-shot or of unseen photos and categories: give --zero-shot or the others."
        )
    else:
        unseen = datasets.zero_shot_categories(zero_shot)
        drawn = datasets.draw_zero_shot_split(dataset, unseen, seed, validation)
    if halves is not None:
        drawn, for_choices = datasets.halve_queries(drawn)
        for_choices.write(halves)
    drawn.write(out)
    parts = drawn.apply(dataset)
    summary = {
        "split": str(out),
        "hash": drawn.hash,
        "training_sketches": len(parts.training_sketches),
        "training_photos": len(parts.training_photos),
        "queries": len(parts.queries),
        "gallery": len(parts.gallery),
    }
    if validation:
        summary |= {
            "validation_queries": len(parts.validation_queries),
            "validation_gallery": len(parts.validation_gallery),
        }
    if json:
        print_json(summary)
    else:
        for name, value in summary.items():
            write(f"{name.replace('_', ' '):18} {value}")


@app.command()
def synthesise(
    out: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to write to.")],
    sketches: Annotated[int, typer.Option(help="Sketches a category.")] = 80,
    photos: Annotated[int, typer.Option(help="Photos a category.")] = 80,
    seed: Annotated[int, typer.Option(help="The seed of the world.")] = 0,
) -> None:
    """Write the synthetic world as folders: sketches/<category>/*.png and photos/<category>/*.jpg."""
    from sketchhash.datasets import synthetic

    world = synthetic.load(sketches_per_category=sketches, photos_per_category=photos, seed=seed)
    with progress("drawing the world", len(world.sketches) + len(world.photos)) as advance:
        for _ in synthetic.write(out, world):
            advance()
    say(f"{len(world.sketches)} sketches, {len(world.photos)} photos, {len(world.categories)} categories.")
    write(out)


@app.command()
def sheet(
    source: Source,
    out: Annotated[Path, typer.Option(help="The PNG picture to write.")],
    photos: PhotosFolder = None,
    each: Annotated[int, typer.Option(min=1, max=20, help="Sketches and photos a category.")] = 4,
) -> None:
    """Paint a contact sheet: some sketches and photos of every category that has both."""
    from sketchhash import datasets, imaging

    dataset = datasets.open_dataset(source, photos)
    imaging.write_png(out, datasets.contact_sheet(dataset, each))
    write(out)


@app.command()
def icons(
    package: Annotated[Path, typer.Argument(metavar="DIR", help="The unpacked npm package @iconify/json.")],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The dataset of sketches to write.")],
    most: Annotated[int, typer.Option(min=1, help="The most icons a category.")] = 48,
    seed: Annotated[int, typer.Option(help="Seed that draws them.")] = 0,
) -> None:
    """Write the outlines of icons that carry the name of a TU-Berlin or Quick, Draw! category, as sketches."""
    from sketchhash.datasets.icons import find_icons, write_outlines
    from sketchhash.datasets.names import quickdraw_categories, tuberlin_categories

    found = find_icons(package, [*tuberlin_categories().names, *quickdraw_categories().names], most, seed)
    with progress("outlining icons", len(found)) as advance:
        written = write_outlines(found, out, advance)
    say(f"{written:,} of {len(found):,} icons gave a sketch.")
    write(out)


def _print_report(report: DatasetReport) -> None:
    width = max((len(count.category) for count in report.counts), default=0)
    write(f"{'category':{width}}  sketches   photos")
    for count in report.counts:
        write(f"{count.category:{width}}  {count.sketches:8,}  {count.photos:7,}")
    write()
    write(f"dataset                  {report.dataset}")
    for name, number, noun in (
        ("sketches", report.sketches, sum(1 for count in report.counts if count.sketches)),
        ("photos", report.photos, sum(1 for count in report.counts if count.photos)),
    ):
        write(f"{name:24} {number:,} in {noun} categories")
    write(f"categories with both     {report.complete_categories}")
    for title, entries in (
        ("sketches without photos", report.sketches_without_photos),
        ("photos without sketches", report.photos_without_sketches),
        ("missing categories", report.missing),
    ):
        if entries:
            write(f"{title:24} {len(entries)}: {', '.join(entries)}")
    for title, entries in (("unreadable", report.unreadable), ("remarks", report.remarks)):
        if entries:
            write(f"{title:24} {len(entries)}")
            for entry in entries:
                write(f"  {entry}")
