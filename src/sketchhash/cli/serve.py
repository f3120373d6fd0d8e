"""``sketchhash serve``: a page to draw on, and the HTTP interface behind it."""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from sketchhash.cli.console import say, say_black_on_white, write
from sketchhash.cli.options import GalleryPlace, ModelFolder


def serve(
    gallery: GalleryPlace,
    model: ModelFolder = None,
    host: Annotated[
        str,
        typer.Option(
            envvar="SKETCHHASH_HOST", help="The address to listen on; others than this machine's own need a token."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(envvar="SKETCHHASH_PORT", min=0, max=65535, help="The port; 0 is any that is free.")
    ] = 8765,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="A name, beside addresses, that clients may know this machine by; repeatable."
        ),
    ] = None,
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Serve a gallery: draw on the page whose address is printed; Ctrl-C ends it."""
    keep_products_on_one_thread()
    from sketchhash.model.folder import default_model_folder
    from sketchhash.server import Access, listen, open_service
    from sketchhash.server import serve as answer_requests

    access = Access.for_host(host, allow_host or ())
    folder = default_model_folder() if model is None else model
    with listen(host, port) as listener, open_service(gallery, folder) as service:
        chosen = listener.getsockname()[1]
        address, elsewhere = access.address(host, chosen), access.addresses_elsewhere(host, chosen)
        for each in elsewhere or [address]:
            write(each)
        if elsewhere:
            _show_code(elsewhere[0])
        say(f"{len(service.finder):,} photos can be found. Ctrl-C ends the service.")
        if open_page:
            typer.launch(address)
        answer_requests(service, access, listener)
    say("Stopped.")


def keep_products_on_one_thread() -> None:
    """Let no search spread its small matrix products over threads, unless the user says so; call it before NumPy loads.

    Searches run side by side on all cores already. On a busy machine the threads of one product wait for each other:
    there a search in 329 photos took 80 ms with them, and 20 ms without.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


def _show_code(address: str) -> None:
    """Draw a QR code of the address on a terminal that can show it."""
    from sketchhash.server.qr import MOST_BYTES, as_blocks, qr_code

    is_able = sys.stderr.isatty() and (sys.stderr.encoding or "").lower().startswith("utf")
    if is_able and len(address) <= MOST_BYTES:
        say_black_on_white(as_blocks(qr_code(address)))
        say("On a phone in the same network, point its camera at this.")
