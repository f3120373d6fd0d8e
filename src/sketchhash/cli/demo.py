"""``sketchhash demo``: from nothing to a page to draw on, in one command."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sketchhash.cli import console
from sketchhash.cli.console import printable, write
from sketchhash.cli.index import show_indexing
from sketchhash.cli.options import ModelFolder
from sketchhash.cli.serve import keep_products_on_one_thread, serve
from sketchhash.errors import BadArgument, UnwritableState
from sketchhash.files import user_cache

if TYPE_CHECKING:
    from sketchhash.demo import DemoPhotos, Finding


def demo(
    photos: Annotated[
        Path | None,
        typer.Option(metavar="DIR", exists=True, file_okay=False, help="The photos to show, in and below this folder."),
    ] = None,
    icons: Annotated[
        bool, typer.Option("--icons", help="Draw icons, and find them in an open set that is downloaded once.")
    ] = False,
    model: ModelFolder = None,
    check: Annotated[
        bool, typer.Option("--check", help="Search with some drawings, print the hits and exit: needs no screen.")
    ] = False,
    port: Annotated[
        int, typer.Option(envvar="SKETCHHASH_PORT", min=0, max=65535, help="The page's port; 0 is any that is free.")
    ] = 8765,
    open_page: Annotated[
        bool, typer.Option("--open/--no-open", help="Open the page in a browser, if there is a desktop.")
    ] = True,
    cache: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where photos and their gallery are kept for the next time.")
    ] = None,
) -> None:
    """Try searching by drawing, in your own photos, Tux Paint's stamps or synthetic ones, or icons; Ctrl-C stops it."""
    keep_products_on_one_thread()
    from sketchhash.api import Gallery
    from sketchhash.model.folder import default_model_folder
    from sketchhash.server import listen

    folder = default_model_folder() if model is None else model
    if not check:
        listen("127.0.0.1", port).close()  # a port that is taken should show now, not after indexing
    try:
        chosen = _choose(photos, icons, (cache or user_cache()) / "demo")
        with redirect_stdout(sys.stderr), Gallery(chosen.gallery, folder, reindex=True) as gallery:
            events = gallery.index_events(
                chosen.folder,
                labels=None if icons else "folder",
                prune=True,
                taken_as="drawings" if icons else "photos" if photos is None else "auto",
            )
            show_indexing(events, list_failures=False)
        if check:
            _check(chosen.gallery, folder)
        else:
            serve(gallery=str(chosen.gallery), model=folder, port=port, open_page=open_page and _has_desktop())
    except KeyboardInterrupt:
        console.say("Stopped.")
        raise typer.Exit(console.INTERRUPTED) from None


class _Progress:
    """Show progress on standard error."""

    def say(self, text: str) -> None:
        console.say(text)

    def stage(self, name: str, steps: int) -> AbstractContextManager[Callable[[], None]]:
        return console.progress(name, steps)


def _choose(folder: Path | None, icons: bool, shelf: Path) -> DemoPhotos:
    from sketchhash.demo import choose_icons, choose_photos, own_photos

    if icons and folder is not None:
        raise BadArgument("The demo shows icons or your photos: give --icons or --photos, not both.")
    try:
        if icons:
            return choose_icons(shelf, _Progress())
        return choose_photos(shelf, _Progress()) if folder is None else own_photos(folder, shelf)
    except OSError as problem:
        raise UnwritableState(
            f"The photos cannot be kept in {printable(shelf)}: {problem.strerror}. "
            "Make room there, or name another folder with --cache."
        ) from problem


def _check(gallery: Path, model_folder: Path) -> None:
    from sketchhash.demo import check

    findings = 0
    for finding in check(gallery, model_folder):
        write(_line(finding))
        findings += 1
    console.say(f"The service answered {findings} drawings.")


def _line(finding: Finding) -> str:
    hits = (
        f"{printable(hit.name)} ({printable(hit.label)})" if hit.label else printable(hit.name)
        for hit in finding.answer.hits
    )
    return f"{finding.drawing:16}  {finding.answer.verdict:7}  {', '.join(hits)}"


def _has_desktop() -> bool:
    if sys.platform in ("darwin", "win32"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
