"""``sketchhash search``: find the photos of a gallery that look like a sketch."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import exact_json, printable, say
from sketchhash.cli.options import GalleryPath, ModelFolder, load_model
from sketchhash.errors import BadArgument, UnknownName, UnreadableImage

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from sketchhash.gallery import GalleryFile, Hit

# A sheet is to be looked at: more hits than this are printed, but not painted.
_PAINTED = 100
_COLUMNS = 5
_CELL = 160


def search(
    sketch: Annotated[
        str, typer.Argument(metavar="SKETCH", help="A picture of a sketch, a JSON file of strokes, or - for stdin.")
    ],
    gallery: GalleryPath,
    k: Annotated[int, typer.Option("-k", min=1, help="How many photos to find.")] = 20,
    model: ModelFolder = None,
    folder: Annotated[Path | None, typer.Option(metavar="DIR", help="Only photos below this folder.")] = None,
    label: Annotated[str | None, typer.Option(metavar="NAME", help="Only photos with this label.")] = None,
    rerank: Annotated[
        bool,
        typer.Option(
            "--rerank/--no-rerank", help="Order the nearest by how sure the network is of each bit, not by distance."
        ),
    ] = True,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    show: Annotated[Path | None, typer.Option(metavar="FILE", help="Paint sketch and photos on this PNG.")] = None,
) -> None:
    """Print the photos nearest to a sketch: rank, distance in bits, path and label, with tabs between."""
    from sketchhash.gallery import GalleryFile, Searcher
    from sketchhash.imaging import write_png

    content = _read(sketch)
    with GalleryFile.open(gallery) as opened:
        searcher = Searcher(load_model(model), opened)
        try:
            prepared = searcher.prepare(content)
        except UnreadableImage as problem:
            name = "standard input" if sketch == "-" else printable(sketch)
            raise UnreadableImage(str(problem).replace("these bytes", name)) from problem
        hits = searcher.by_values(searcher.encode(prepared), k, folder=folder, label=label, rerank=rerank)
        if not hits:
            _explain_nothing(opened, label)
        if show is not None:
            write_png(show, _sheet(prepared.pixels, hits, opened))
    if json:
        typer.echo(exact_json([{"rank": rank, **asdict(hit)} for rank, hit in enumerate(hits, start=1)], indent=2))
        return
    for rank, hit in enumerate(hits, start=1):
        cells = [
            str(rank),
            str(hit.distance),
            printable(hit.path),
            *([] if hit.label is None else [printable(hit.label)]),
        ]
        typer.echo("\t".join(cells))


def _read(sketch: str) -> bytes:
    from sketchhash.imaging import Limits

    most = Limits().bytes + 1  # the decoder refuses what has more
    try:
        if sketch == "-":
            return sys.stdin.buffer.read(most)
        with Path(sketch).open("rb") as file:
            return file.read(most)
    except OSError as problem:
        raise BadArgument(
            f"The sketch {printable(sketch)} cannot be read: {problem.strerror}. "
            "Name a picture, a JSON file of strokes, or - for standard input."
        ) from problem


def _explain_nothing(gallery: GalleryFile, label: str | None) -> None:
    labels = gallery.info().labels
    if label is not None and label not in labels:
        raise UnknownName("label", label, labels)
    say("There are no photos to find in this part of the gallery.")


def _sheet(ink: NDArray[np.uint8], hits: Sequence[Hit], gallery: GalleryFile) -> NDArray[np.uint8]:
    from sketchhash.imaging import contact_sheet, read_photo

    rows, captions = [[ink]], ["the sketch"]
    for start in range(0, min(len(hits), _PAINTED), _COLUMNS):
        row = hits[start : start + _COLUMNS]
        rows.append([read_photo(gallery.thumbnail(hit.id)) for hit in row])
        captions.append(
            f"{start + 1} to {start + len(row)}, distance in bits: {', '.join(str(hit.distance) for hit in row)}"
        )
    return contact_sheet(rows, captions, _CELL)
