"""``sketchhash search``: find the photos of a gallery that look like a sketch."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from sketchhash.cli.console import exact_json, printable, quiet_libraries, say, write
from sketchhash.cli.options import AsJson, GalleryPlace, ModelFolder, load_model
from sketchhash.errors import BadArgument, UnknownName, UnreadableImage

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from sketchhash.gallery import Answer, Hit, OpenGallery, Prepared, Searcher

# A sheet is for looking at: hits beyond this many are printed but not painted.
_PAINTED = 100
_COLUMNS = 5
_CELL = 160


class Order(StrEnum):
    """In which order hits are printed; hits without a date come last."""

    BEST = "best"
    NEWEST = "newest"
    OLDEST = "oldest"

    def apply(self, hits: Answer) -> None:
        """Bring hits into this order."""
        if self is not Order.BEST:
            hits.sort_by_date(newest_first=self is Order.NEWEST)


def search(
    gallery: GalleryPlace,
    sketch: Annotated[
        str | None,
        typer.Argument(metavar="[SKETCH]", help="A picture of a sketch, a JSON file of strokes, or - for stdin."),
    ] = None,
    category: Annotated[
        str | None, typer.Option(metavar="NAME", help="Instead of a sketch: photos of this kind of thing.")
    ] = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many photos to find.")] = 20,
    model: ModelFolder = None,
    photo: Annotated[bool, typer.Option("--photo", help="SKETCH is a photo: find photos like it.")] = False,
    folder: Annotated[Path | None, typer.Option(metavar="DIR", help="Only photos below this folder.")] = None,
    label: Annotated[str | None, typer.Option(metavar="NAME", help="Only photos with this label.")] = None,
    after: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only photos taken then or later: 2023, 2023-06 or 2023-06-24.")
    ] = None,
    before: Annotated[
        str | None, typer.Option(metavar="DATE", help="Only photos taken then or earlier; all of that year or month.")
    ] = None,
    near: Annotated[
        str | None, typer.Option(metavar="PLACE", help="Only photos taken near there: 48.1,11.6,20km.")
    ] = None,
    order: Annotated[Order, typer.Option(help="The best hits first, or the same hits by date.")] = Order.BEST,
    rerank: Annotated[
        bool, typer.Option("--rerank/--no-rerank", help="Count bits by how sure the network is of them.")
    ] = True,
    json: AsJson = False,
    show: Annotated[Path | None, typer.Option(metavar="FILE", help="Paint sketch and photos on this PNG.")] = None,
) -> None:
    """Print the photos nearest to a sketch: rank, distance in bits, path and label, separated by tabs.

    What the sketch may show, and how sure that is, is said on standard error.
    """
    from sketchhash.engines import open_gallery
    from sketchhash.gallery import Filter, Searcher
    from sketchhash.imaging import write_png

    if (sketch is None) == (category is None):
        raise BadArgument(
            "Search with a sketch or with a category: sketchhash search SKETCH, or search --category NAME"
        )
    only = Filter.parse(folder, label, after, before, near)
    loaded = load_model(model)
    with open_gallery(gallery, loaded) as opened:
        searcher = Searcher(loaded, opened)
        with quiet_libraries():
            query = None if sketch is None else _prepare(searcher, sketch, "photo" if photo else "sketch")
        if query is not None:
            values = searcher.encode(query)
            hits = searcher.by_values(values, k, only=only, rerank=rerank, asked=query)
        else:
            hits = searcher.by_category(_known(category or "", searcher), k, only=only)
        if not hits:
            _explain_no_hits(opened, label, gallery)
        order.apply(hits)
        if show is not None:
            write_png(show, _sheet(None if query is None else query.pixels, hits, opened))
    if hits and hits.chance is not None:
        say(_verdict(hits))
    if any(hits.left_out):
        say(str(hits.left_out))
    if json:
        write(exact_json([{"rank": rank, **asdict(hit)} for rank, hit in enumerate(hits, start=1)], indent=2))
        return
    for rank, hit in enumerate(hits, start=1):
        cells = [str(rank), str(hit.distance), printable(hit.path)]
        write("\t".join(cells if hit.label is None else [*cells, printable(hit.label)]))


def _known(word: str, searcher: Searcher) -> str:
    """Return the category that a word means, and say so if it is another word; one that means none stays as it is.

    So does one that is the name of a drawing.
    """
    from sketchhash.words import find_categories

    found = find_categories(word, searcher.model.manifest.categories)
    if not found or searcher.names.meant(word, 1):
        return word
    if found[0] != word:
        say(f"{printable(word)} is taken for: {found[0]}" + (f" (or {', '.join(found[1:4])})" if found[1:] else ""))
    return found[0]


def _verdict(answer: Answer) -> str:
    """Say how sure an answer is, and what the query may show."""
    from sketchhash.model.calibration import LIKELY

    chance = f"{answer.chance or 0:.0%}"
    guesses = ", ".join(f"{guess.category} {guess.chance:.0%}" for guess in answer.guesses)
    is_seen = bool(answer.guesses) and answer.guesses[0].chance >= LIKELY
    match answer.verdict:
        case "sure":
            said = f"Sure of the first hits ({chance})."
        case "unsure" if is_seen:
            said = f"Not sure that the first hits show it ({chance})."
        case "unsure":
            said = f"Not sure of the first hits ({chance}): more of the drawing would help."
        case _ if is_seen:
            said = f"Nothing in this gallery seems to show it ({chance})."
        case _:
            said = f"This is nothing that the model knows ({chance})."
    return f"{said} It may be: {guesses}." if guesses else said


def _prepare(searcher: Searcher, sketch: str, kind: Literal["sketch", "photo"]) -> Prepared:
    from sketchhash.imaging import Limits

    if sketch != "-":
        return searcher.prepare(Path(sketch), kind)
    try:
        return searcher.prepare(sys.stdin.buffer.read(Limits().bytes + 1), kind)
    except UnreadableImage as problem:
        raise UnreadableImage(str(problem).replace("these bytes", "standard input")) from problem


def _explain_no_hits(gallery: OpenGallery, label: str | None, place: str) -> None:
    info = gallery.info()
    if not info.photos:
        say(f"This gallery has no photos yet. Fill it with: sketchhash index FOLDER --gallery {shlex.quote(place)}")
        return
    labels = info.labels
    if label is not None and not labels:
        raise BadArgument(
            "No photo of this gallery has a label. To give them, type: sketchhash index FOLDER --labels folder"
        )
    if label is not None and label not in labels:
        raise UnknownName("label", label, map(printable, labels))
    say("This part of the gallery has no photos.")


def _sheet(query: NDArray[np.uint8] | None, hits: Sequence[Hit], gallery: OpenGallery) -> NDArray[np.uint8]:
    from sketchhash.imaging import contact_sheet, read_photo

    rows, captions = ([], []) if query is None else ([[query]], ["the query"])
    for start in range(0, min(len(hits), _PAINTED), _COLUMNS):
        row = hits[start : start + _COLUMNS]
        rows.append([read_photo(gallery.thumbnail(hit.id)) for hit in row])
        captions.append(
            f"{start + 1} to {start + len(row)}, distance in bits: {', '.join(str(hit.distance) for hit in row)}"
        )
    return contact_sheet(rows, captions, _CELL)
