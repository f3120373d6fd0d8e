"""``sketchhash gallery``: look at a gallery, check it, complete it, copy it, export it."""

from __future__ import annotations

import csv
import io
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import as_utf8, exact_json, printable, progress, say, write, write_exactly
from sketchhash.cli.options import AsJson, GalleryPlace, ModelFolder, load_model
from sketchhash.errors import BadArgument

if TYPE_CHECKING:
    from sketchhash.engines import Copied
    from sketchhash.gallery import CopyGroup, OpenGallery

app = typer.Typer(help="Look at a gallery, check it, copy it, export it.", no_args_is_help=True)

_COLUMNS = ("id", "path", "label", "sha256", "size", "mtime_ns", "indexed_at", "kind", "code")
_ALL = 2**62


class Format(StrEnum):
    """The text format of an exported gallery."""

    CSV = "csv"
    JSONL = "jsonl"


@app.command()
def info(gallery: GalleryPlace, json: AsJson = False) -> None:
    """Print how many photos a gallery has, with which labels, and which model encoded them."""
    from sketchhash.engines import open_gallery

    with open_gallery(gallery) as opened:
        place, found = opened.place, opened.info()
    last = found.last_indexed
    if json:
        write(exact_json(asdict(found), indent=2))
        return
    write(f"gallery       {printable(place)}")
    write(f"photos        {found.photos:,}")
    if found.drawings:
        write(f"drawings      {found.drawings:,} of them")
    write(f"model         {printable(found.model.name)}, {found.model.bits} bits ({found.model.fingerprint[:12]})")
    write(f"size          {found.bytes:,} bytes")
    write(f"last indexed  {f'{last:%Y-%m-%d %H:%M} UTC' if last else 'never'}")
    if found.first_taken and found.last_taken:
        write(f"taken         {found.first_taken:%Y-%m-%d} to {found.last_taken:%Y-%m-%d}")
    write(f"with a date   {found.dated:,}")
    write(f"with a place  {found.placed:,}")
    write(f"labels        {len(found.labels):,}")
    for label, photos in found.labels.items():
        write(f"  {photos:8,}  {printable(label)}")


@app.command()
def verify(
    gallery: GalleryPlace,
    model: ModelFolder = None,
    every: Annotated[int, typer.Option(min=1, help="Encode again only one photo in this many.")] = 1,
    json: AsJson = False,
) -> None:
    """Check the gallery's file, and that its photos still have the same content and code; exit 1 if not."""
    from sketchhash.engines import open_gallery
    from sketchhash.gallery import verify as check

    with open_gallery(gallery, latest=True) as opened:
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
        write(exact_json({"photos": total, "wrong": reasons}, indent=2))
    else:
        for each in wrong:
            write(f"{printable(each.photo.path)}\t{', '.join(problem.value for problem in each.problems)}")
    say(f"{total:,} photos were checked, and {len(wrong):,} have problems.")
    if wrong:
        raise typer.Exit(1)


@app.command()
def remove(
    places: Annotated[list[Path], typer.Argument(metavar="PLACE", help="Folders or photos; they need not be there.")],
    gallery: GalleryPlace,
) -> None:
    """Remove photos from a gallery; their files stay."""
    from sketchhash.engines import open_gallery

    with open_gallery(gallery, latest=True) as opened:
        for place in places:
            if next(opened.within(place), None) is None:
                raise BadArgument(f"The gallery has no photo at or below {printable(place)}. Nothing was removed.")
        write(f"{opened.remove(places):,} removed")


@app.command()
def duplicates(
    gallery: GalleryPlace,
    radius: Annotated[
        int,
        typer.Option(
            metavar="BITS",
            min=0,
            max=24,
            help="How many of the 64 bits of perceptual hashes may differ.",
        ),
    ] = 8,
    exact: Annotated[bool, typer.Option("--exact", help="Only files that are equal byte for byte.")] = False,
    json: AsJson = False,
) -> None:
    """Print groups of photos that are copies of one another, and which one to keep. Nothing is deleted."""
    from sketchhash.engines import open_gallery
    from sketchhash.gallery import find_copies

    with open_gallery(gallery, latest=True) as opened:
        groups = find_copies(opened, None if exact else radius)
        missing = 0 if exact else len(opened.without_hash(_ALL))
    if json:
        found = [{**asdict(group), "copies": [asdict(copy) for copy in group.copies]} for group in groups]
        write(exact_json(found, indent=2))
    else:
        write("\n\n".join(map(_group_lines, groups)), nl=bool(groups))
    _explain_copies(groups, None if exact else radius, missing)


def _group_lines(group: CopyGroup) -> str:
    kept = f"keep\t{printable(group.keep.path)}\t{group.reason}"
    copies = (f"copy\t{printable(copy.photo.path)}\t{_bits(copy.distance)}" for copy in group.copies)
    return "\n".join((kept, *copies))


def _bits(distance: int) -> str:
    return "1 bit differs" if distance == 1 else f"{distance} bits differ"


def _explain_copies(groups: Sequence[CopyGroup], radius: int | None, missing: int) -> None:
    """Say what was compared, what was found and what is left to do."""
    how = (
        "files that are equal byte for byte"
        if radius is None
        else f"equal files, and pictures whose perceptual hashes differ in at most {radius} of 64 bits: resized, "
        "recompressed, brightened a little or cropped at the edges"
    )
    copies = sum(len(group.copies) for group in groups)
    say(f"{copies:,} copies of {len(groups):,} photos. Copies are {how}.")
    if groups:
        say("To keep: the largest picture, then the largest file, then the oldest. Nothing was deleted: look first.")
    if missing:
        say(f"{missing:,} photos were indexed before hashes were kept. To fill them in, index any folder again.")


@app.command()
def shapes(gallery: GalleryPlace, model: ModelFolder = None) -> None:
    """Describe the shapes of photos that were indexed by an older version, from their thumbnails."""
    from sketchhash.engines import open_gallery
    from sketchhash.gallery import fill_shapes

    loaded = load_model(model)
    with open_gallery(gallery, loaded, latest=True) as opened:
        missing, done = opened.count_without_shape(), 0
        with progress("describing photos", missing) as advance:
            for described in fill_shapes(opened, loaded):
                done += described
                for _ in range(described):
                    advance()
    write(f"{done:,} described, {missing - done:,} without a shape")


@app.command()
def export(
    gallery: GalleryPlace,
    form: Annotated[Format, typer.Option("--format", help="CSV, or one line of JSON for each photo.")] = Format.CSV,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file to write; by default standard output.")
    ] = None,
) -> None:
    """Write all records of a gallery as text, including codes."""
    from sketchhash.engines import open_gallery
    from sketchhash.files import replacing

    with open_gallery(gallery, latest=True) as opened, closing(_exported(opened, form)) as pieces:
        if out is None:
            for piece in pieces:
                write_exactly(piece)
            return
        with replacing(out) as file:
            file.writelines(piece.encode() for piece in pieces)
    write(out)


@app.command()
def copy(
    target: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="A file, milvus://host:port/collection or postgresql://host/database; created if it does not exist.",
        ),
    ],
    gallery: GalleryPlace,
    prune: Annotated[bool, typer.Option("--prune", help="Remove photos that only TARGET has.")] = False,
) -> None:
    """Copy a gallery to a file or an engine. Run again, it continues and writes only what differs."""
    from sketchhash.engines import create_gallery, open_gallery

    with open_gallery(gallery, latest=True) as source, create_gallery(target, source.model) as written:
        say(f"Comparing {source.place} with {written.place} ...")
        copied = _copy(source, written, prune)
    write(f"{copied.written:,} written, {copied.removed:,} removed, {copied.unchanged:,} unchanged")


@app.command()
def site(
    out: Annotated[
        Path, typer.Argument(metavar="OUT", help="The folder to write; a site that is there already is replaced.")
    ],
    gallery: GalleryPlace,
    model: ModelFolder = None,
    originals: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where the photos themselves are served, in folders as in the gallery."),
    ] = None,
    svg: Annotated[bool, typer.Option("--svg", help="Publish the SVG of drawings, for the page to copy.")] = False,
    runtime: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="The npm package onnxruntime-web, as `npm pack` writes it; by default it is fetched."
        ),
    ] = None,
) -> None:
    """Write a gallery as a folder that any static host serves: the browser searches, and no service is needed."""
    from sketchhash.engines import open_gallery
    from sketchhash.site import find_runtime, write_site

    loaded = load_model(model)
    with open_gallery(gallery, loaded) as opened:
        found = find_runtime(runtime)
        say(f"Writing the site of {opened.place} ...")
        written = write_site(opened, loaded, out, found, originals, svg)
    say(f"{written.photos:,} photos, {written.bytes / 1e6:,.1f} MB. To look at it: python -m http.server -d {out}")
    write(out)


def _copy(source: OpenGallery, target: OpenGallery, prune: bool) -> Copied:
    from sketchhash.engines import copy_photos

    steps = copy_photos(source, target, prune)
    total = next(steps).total
    done = 0
    with progress("copying photos", total) as advance:
        while True:
            try:
                step = next(steps)
            except StopIteration as end:
                copied: Copied = end.value
                return copied
            for _ in range(step.done - done):
                advance()
            done = step.done


def _exported(gallery: OpenGallery, form: Format) -> Generator[str, None, None]:
    r"""Yield the text of a gallery in pieces, those of a file all of one state of it.

    Both formats are UTF-8, and file names need not be. JSON lines keep every name exactly, see `exact_json`. CSV quotes
    newlines, and a byte that is not UTF-8 is written as ``\xff``.
    """
    with gallery.snapshot():
        yield from (_csv if form is Format.CSV else _json_lines)(_rows(gallery))


def _rows(gallery: OpenGallery) -> Iterator[dict[str, str | int | None]]:
    for row in (row for page in gallery.pages() for row in page):
        photo = row.photo
        yield {
            "id": photo.id,
            "path": str(photo.path),
            "label": photo.label,
            "sha256": photo.sha256,
            "size": photo.size,
            "mtime_ns": photo.mtime_ns,
            "indexed_at": photo.indexed_at.isoformat(),
            "kind": photo.kind,
            "code": row.code.hex(),
        }


def _json_lines(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    return (f"{exact_json(row)}\n" for row in rows)


def _csv(rows: Iterable[Mapping[str, object]]) -> Iterator[str]:
    page = io.StringIO(newline="")
    writer = csv.DictWriter(page, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "path": as_utf8(str(row["path"]))})
        yield page.getvalue()
        page.seek(0)
        page.truncate()
    yield page.getvalue()
