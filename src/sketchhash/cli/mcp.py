"""``sketchhash mcp``: let an assistant search a gallery, over the Model Context Protocol."""

from __future__ import annotations

from sketchhash.cli.console import say
from sketchhash.cli.options import GalleryPlace, ModelFolder, load_model


def mcp(gallery: GalleryPlace, model: ModelFolder = None) -> None:
    """Let an assistant search a gallery (MCP over standard input and output); assistants start this themselves."""
    from sketchhash.engines import open_gallery
    from sketchhash.errors import require
    from sketchhash.gallery import Searcher
    from sketchhash.server import serve_assistant

    require("mcp", "mcp")  # before the model is loaded
    loaded = load_model(model)
    with open_gallery(gallery, loaded) as opened:
        searcher = Searcher(loaded, opened, lasting=True)
        say(f"An assistant can find {len(searcher):,} photos until it closes standard input.")
        serve_assistant(searcher)
