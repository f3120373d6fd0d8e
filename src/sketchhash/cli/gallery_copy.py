"""``sketchhash gallery copy``: make one gallery equal to another, on whatever they are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli.console import progress, say

if TYPE_CHECKING:
    from sketchhash.gallery.engines import Copied
    from sketchhash.gallery.engines.rows import RowSource, RowTarget

_PLACE = "A gallery's file, or an address: milvus://host:port/collection, postgresql://host/database."


def copy(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help=_PLACE)],
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The same; it is made if it is not there.")],
    prune: Annotated[bool, typer.Option("--prune", help="Remove photos that only TARGET has.")] = False,
) -> None:
    """Copy a gallery to or from an engine; run again, it goes on where it was and writes only what differs."""
    from sketchhash.gallery.engines import open_source, open_target

    with open_source(source) as read, open_target(target, read.maker) as written:
        say(f"Comparing {read.place} with {written.place} ...")
        copied = _copy(read, written, prune)
    typer.echo(f"{copied.written:,} written, {copied.removed:,} removed, {copied.unchanged:,} as they were")


def _copy(source: RowSource, target: RowTarget, prune: bool) -> Copied:
    from sketchhash.gallery.engines import copy_photos

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
