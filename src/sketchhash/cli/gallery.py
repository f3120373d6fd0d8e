"""``sketchhash gallery``: look after a gallery."""

from __future__ import annotations

from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from sketchhash.cli.console import progress, say
from sketchhash.cli.file_names import exact_json, shown
from sketchhash.cli.gallery_copy import copy
from sketchhash.cli.gallery_export import Form, write
from sketchhash.cli.opening import GalleryFile, ModelFolder, load_model
from sketchhash.errors import BadArgument

app = typer.Typer(help="Look after a gallery.", no_args_is_help=True)

app.command("copy")(copy)

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def info(gallery: GalleryFile, json: AsJson = False) -> None:
    """Say how many photos a gallery has, of which labels, and which model made it."""
    from sketchhash.gallery import Gallery

    with Gallery.open(gallery) as opened:
        found = opened.info()
    last = found.last_indexed
    if json:
        typer.echo(exact_json({**asdict(found), "last_indexed": last and last.isoformat()}, indent=2))
        return
    typer.echo(f"photos        {found.photos:,}")
    typer.echo(f"model         {found.maker.name}, {found.maker.bits} bits ({found.maker.fingerprint[:12]})")
    typer.echo(f"size          {found.bytes:,} bytes")
    typer.echo(f"last indexed  {f'{last:%Y-%m-%d %H:%M} UTC' if last else 'never'}")
    typer.echo(f"labels        {len(found.labels):,}")
    for label, photos in found.labels.items():
        typer.echo(f"  {photos:8,}  {shown(label)}")


@app.command()
def verify(
    gallery: GalleryFile,
    model: ModelFolder = None,
    every: Annotated[int, typer.Option(min=1, help="Encode only one photo in so many again.")] = 1,
    json: AsJson = False,
) -> None:
    """Check the gallery's file, and that its photos still have the same content and code; exit 1 if not."""
    from sketchhash.gallery import Gallery
    from sketchhash.gallery import verify as check

    with Gallery.open(gallery) as opened:
        total, wrong = opened.info().photos, []
        with progress("checking photos", total) as advance:
            for verdict in check(opened, load_model(model), every):
                if verdict.problems:
                    wrong.append(verdict)
                advance()
    if json:
        reasons = [
            {"path": each.photo.path, "problems": [problem.value for problem in each.problems]} for each in wrong
        ]
        typer.echo(exact_json({"photos": total, "wrong": reasons}, indent=2))
    else:
        for each in wrong:
            typer.echo(f"{shown(each.photo.path)}\t{', '.join(problem.value for problem in each.problems)}")
    say(f"{total:,} photos were checked, and {len(wrong):,} have problems.")
    if wrong:
        raise typer.Exit(1)


@app.command()
def remove(
    places: Annotated[list[Path], typer.Argument(metavar="PLACE", help="Folders or photos; they need not be there.")],
    gallery: GalleryFile,
) -> None:
    """Take photos out of a gallery; their files are left alone."""
    from sketchhash.gallery import Gallery

    with Gallery.open(gallery) as opened:
        for place in places:
            if next(opened.within(place), None) is None:
                raise BadArgument(f"The gallery has no photo at or below {shown(place)}. Nothing was removed.")
        typer.echo(f"{opened.remove(places):,} removed")


@app.command()
def duplicates(
    gallery: GalleryFile,
    radius: Annotated[
        int | None, typer.Option(metavar="BITS", min=0, help="Find photos whose codes differ in at most so many bits.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Print groups of photos with equal files, or with --radius of photos that look alike."""
    from sketchhash.gallery import Gallery, exact_duplicates, near_duplicates

    with Gallery.open(gallery) as opened:
        groups = exact_duplicates(opened) if radius is None else near_duplicates(opened, radius)
    if json:
        typer.echo(exact_json([[photo.path for photo in group] for group in groups], indent=2))
        return
    typer.echo("\n\n".join("\n".join(shown(photo.path) for photo in group) for group in groups), nl=bool(groups))


@app.command()
def export(
    gallery: GalleryFile,
    form: Annotated[Form, typer.Option("--format", help="CSV, or a line of JSON a photo.")] = Form.CSV,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Where to write, if not to standard output.")] = None,
) -> None:
    """Write all that a gallery knows about its photos, codes included, as text."""
    from sketchhash.files import replacing
    from sketchhash.gallery import Gallery

    with Gallery.open(gallery) as opened, closing(write(opened, form)) as pieces:
        if out is None:
            for piece in pieces:
                typer.echo(piece.encode(), nl=False)
            return
        with replacing(out) as file:
            file.writelines(piece.encode() for piece in pieces)
    typer.echo(out)
