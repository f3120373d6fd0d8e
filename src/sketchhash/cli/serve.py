"""``sketchhash serve``: a page to draw on, and the HTTP interface behind it."""

from __future__ import annotations

import os
import secrets
import socket
from contextlib import suppress
from ipaddress import ip_address
from typing import Annotated

import typer

from sketchhash.cli.console import say
from sketchhash.cli.options import GalleryPlace, ModelFolder

_WILDCARDS = ("0.0.0.0", "::")


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
    from sketchhash.model.folder import default_model_folder
    from sketchhash.server import Access, create_app, create_server, listen, open_service

    access = Access(_token(host), frozenset({"localhost", *_own_names(host), *map(str.lower, allow_host or ())}))
    folder = default_model_folder() if model is None else model
    with listen(host, port) as listener, open_service(gallery, folder) as service:
        address = _address(host, listener.getsockname()[1], access.token)
        typer.echo(address)
        say(f"{len(service.finder):,} photos can be found. Ctrl-C ends the service.")
        if open_page:
            typer.launch(address)
        with suppress(KeyboardInterrupt):  # uvicorn has ended in good order, and passes the signal on
            create_server(create_app(service, access)).run(sockets=[listener])
    say("Stopped.")


def _token(host: str) -> str | None:
    """Take the token from the environment; make one where others can reach the service."""
    if given := os.environ.get("SKETCHHASH_TOKEN"):
        return given
    return None if _is_loopback(host) else secrets.token_urlsafe(32)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _own_names(host: str) -> tuple[str, ...]:
    return (socket.gethostname().lower(),) if host in _WILDCARDS else (host.lower(),)


def _address(host: str, port: int, token: str | None) -> str:
    """Give what to open; after the ``#``, the token stays in the browser and out of logs."""
    name = socket.gethostname() if host in _WILDCARDS else host
    return f"http://{f'[{name}]' if ':' in name else name}:{port}/" + (f"#token={token}" if token else "")
