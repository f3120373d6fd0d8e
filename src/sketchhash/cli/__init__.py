"""The command line: parse arguments, call the package, print; one module for each verb or group of verbs.

Data goes to standard output and messages to standard error. Heavy packages are imported inside the commands that
need them, so that ``--help`` is instant.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from sketchhash.cli import data, demo, evaluate, gallery, index, mcp, model, paper, search, serve, tokens, train
from sketchhash.cli.console import complain, write
from sketchhash.errors import BadArgument, SketchHashError

__all__ = ["app", "main"]

_FAILED, _BAD_USAGE = 1, 2


class _Translating(TyperGroup):
    """Turn every error into one message and an exit code; ``--debug`` lets the traceback through."""

    def invoke(self, ctx: Any) -> Any:  # noqa: ANN401 - click's own signature
        try:
            return super().invoke(ctx)
        except SketchHashError as error:
            if ctx.params["debug"]:
                raise
            complain(str(error))
            raise typer.Exit(_BAD_USAGE if isinstance(error, BadArgument) else _FAILED) from error
        except OSError as error:
            # click handles a reader that closed the pipe early (head, less).
            if ctx.params["debug"] or isinstance(error, BrokenPipeError):
                raise
            complain(str(error))
            raise typer.Exit(_FAILED) from error


app = typer.Typer(
    cls=_Translating,
    name="sketchhash",
    help="Draw something, and find the photos that show it.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},  # inherited by every command
    pretty_exceptions_enable=False,
)
app.add_typer(data.app, name="data")
app.add_typer(paper.app, name="paper")
app.add_typer(gallery.app, name="gallery")
app.add_typer(model.app, name="model")
app.add_typer(tokens.app, name="tokens")
app.command("demo")(demo.demo)
app.command("evaluate")(evaluate.evaluate)
app.command("index")(index.index)
app.command("mcp")(mcp.mcp)
app.command("search")(search.search)
app.command("serve")(serve.serve)
app.command("train")(train.train)


def _print_version(wanted: bool) -> None:
    if wanted:
        from sketchhash import __version__

        write(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Draw something, and find the photos that show it."""


def main() -> None:
    """Run the command line."""
    app()
