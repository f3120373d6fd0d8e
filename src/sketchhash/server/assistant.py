"""A gallery for assistants: tools of the Model Context Protocol that search it, over standard input and output.

Nothing listens on a network, and nothing is written: the tools only search, and answer with paths and thumbnails.
Drawings and pictures are held to the limits of the HTTP interface, and pictures are decoded in the same limited
processes.

Needs ``pip install 'sketchhash[mcp]'``; the package is imported when a server is made, not before.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from sketchhash import __version__
from sketchhash.errors import BadArgument, SketchHashError, UnreadableImage, require
from sketchhash.gallery import Answer, Filter, Prepared, Searcher
from sketchhash.gallery.photos import open_file
from sketchhash.imaging import DecoderPool, Drawing, Run
from sketchhash.imaging.ink import MAX_STROKES
from sketchhash.server.limits import UPLOADS
from sketchhash.server.photos import display_name
from sketchhash.server.schemas import After, Before, HitCount, Label, PictureChoice, Place, Stroke
from sketchhash.server.service import DECODERS

MOST_THUMBNAILS = 40

_INSTRUCTIONS = (
    "Find photos on the user's own machine by what they look like. Draw what is looked for as a few strokes, or name a "
    "picture; then show the user the paths and thumbnails of the hits. A verdict of 'unknown' means that nothing in "
    "the gallery looks like it. Nothing can be changed through these tools."
)

_Strokes = Annotated[
    list[Stroke],
    Field(
        min_length=1,
        max_length=MAX_STROKES,
        description="Lines as lists of points [x, y], x to the right and y down, at any scale.",
    ),
]
_PicturePath = Annotated[str | None, Field(max_length=4096, description="A picture's file on this machine.")]
_PictureBytes = Annotated[
    str | None, Field(max_length=UPLOADS.bytes * 4 // 3 + 4, description="Or the file's bytes, in base64.")
]
_Kind = Annotated[PictureChoice, Field(description="What the picture is; auto tells sketches from photos.")]
_PhotoId = Annotated[int, Field(ge=1, le=2**63 - 1, description="The id of a hit.")]
_Folder = Annotated[str | None, Field(max_length=4096, description="Only photos below this folder, an absolute path.")]
_Thumbnails = Annotated[
    int, Field(ge=0, le=MOST_THUMBNAILS, description="How many of the first hits come with a thumbnail.")
]


def serve_assistant(searcher: Searcher) -> None:
    """Answer an assistant over standard input and output, until it closes them."""
    decoders = DecoderPool(DECODERS)
    try:
        assistant_server(searcher, decoders.run).run("stdio")
    finally:
        decoders.close()


def assistant_server(searcher: Searcher, run: Run) -> Any:  # noqa: ANN401 - the package is not always there
    """Return an ``MCPServer`` with the tools, which decodes pictures where ``run`` does it.

    Raises:
        MissingExtra: If the package of the protocol is not installed.
    """
    sdk = require("mcp.server.mcpserver", "mcp")
    server = sdk.MCPServer(
        "sketchhash", instructions=_INSTRUCTIONS, version=__version__, log_level="ERROR", subscriptions=False
    )
    tools = _Tools(searcher, run, lambda jpeg: sdk.Image(data=jpeg, format="jpeg"))
    looking = require("mcp_types", "mcp").ToolAnnotations(
        read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
    )
    for tool in (tools.search_by_strokes, tools.search_by_picture, tools.similar_photos, tools.gallery_info):
        server.tool(annotations=looking, structured_output=False)(tool)
    return server


class _Tools:
    """The tools; their names, types and docstrings are what an assistant reads."""

    def __init__(self, searcher: Searcher, run: Run, image: Callable[[bytes], Any]) -> None:
        self._searcher = searcher
        self._run = run
        self._image = image

    def search_by_strokes(
        self,
        strokes: _Strokes,
        k: HitCount = 8,
        folder: _Folder = None,
        label: Label | None = None,
        after: After | None = None,
        before: Before | None = None,
        near: Place | None = None,
        thumbnails: _Thumbnails = 8,
    ) -> list[Any]:
        """Find photos that show what the strokes draw: their paths, best first, and thumbnails."""
        with _explained():
            drawn = self._searcher.prepare_drawing(Drawing.from_json(strokes))
            only = Filter.parse(_path(folder), label, after, before, near)
            return self._shown(self._found(drawn, k, only), thumbnails)

    def search_by_picture(
        self,
        path: _PicturePath = None,
        base64: _PictureBytes = None,
        kind: _Kind = "auto",
        k: HitCount = 8,
        folder: _Folder = None,
        label: Label | None = None,
        after: After | None = None,
        before: Before | None = None,
        near: Place | None = None,
        thumbnails: _Thumbnails = 8,
    ) -> list[Any]:
        """Find photos that look like a photo, or that show what a picture of a sketch shows."""
        with _explained():
            content = _picture(path, base64)
            if kind == "auto":
                prepared = self._searcher.prepare_recognised(content, UPLOADS, self._run)
            else:
                prepared = self._searcher.prepare_picture(content, kind, UPLOADS, self._run)
            only = Filter.parse(_path(folder), label, after, before, near)
            return self._shown(self._found(prepared, k, only), thumbnails)

    def similar_photos(
        self,
        photo_id: _PhotoId,
        k: HitCount = 8,
        folder: _Folder = None,
        label: Label | None = None,
        after: After | None = None,
        before: Before | None = None,
        near: Place | None = None,
        thumbnails: _Thumbnails = 8,
    ) -> list[Any]:
        """Find other photos of the gallery that look like one of its photos."""
        with _explained():
            only = Filter.parse(_path(folder), label, after, before, near)
            return self._shown(self._searcher.similar(photo_id, k, only=only), thumbnails)

    def gallery_info(self) -> str:
        """Describe the gallery: how many photos, which labels, by which model, and what kinds of things it knows."""
        with _explained():
            info = self._searcher.gallery.info()
            about = {
                "gallery": self._searcher.gallery.place,
                "photos": info.photos,
                "labels": dict(info.labels),
                "last_indexed": None if info.last_indexed is None else info.last_indexed.isoformat(),
                "model": info.model.name,
                "bits": info.model.bits,
                "categories": list(self._searcher.model.manifest.categories),
            }
            return json.dumps(about, ensure_ascii=False)

    def _found(self, asked: Prepared, k: int, only: Filter) -> Answer:
        values = self._searcher.encode(asked)
        return self._searcher.by_values(values, k, only=only, asked=asked)

    def _shown(self, found: Answer, thumbnails: int) -> list[Any]:
        """Return the hits as one JSON text, then the thumbnails of the first ones in the same order."""
        small = self._searcher.gallery.thumbnails([hit.id for hit in found[:thumbnails]])
        hits = [
            {
                "rank": rank,
                "id": hit.id,
                "path": display_name(os.fsencode(hit.path)),
                "label": hit.label,
                "taken_at": None if hit.taken_at is None else hit.taken_at.isoformat(),
                "distance": hit.distance,
                "chance": _rounded(hit.chance),
                "copy_of": hit.copy_of,
                "copies": hit.copies,
                "kind": hit.kind,
                "has_thumbnail": hit.id in small,
            }
            for rank, hit in enumerate(found, start=1)
        ]
        guesses = [{"category": guess.category, "chance": _rounded(guess.chance)} for guess in found.guesses]
        about = {
            "verdict": found.verdict,
            "chance": _rounded(found.chance),
            "guesses": guesses,
            "hits": hits,
            **found.left_out._asdict(),
        }
        pictures = [self._image(small[hit.id]) for hit in found if hit.id in small]
        return [json.dumps(about, ensure_ascii=False), *pictures]


@contextmanager
def _explained() -> Iterator[None]:
    """Tell the assistant what an error says; of other exceptions the package says nothing."""
    try:
        yield
    except SketchHashError as problem:
        raise require("mcp.server.mcpserver.exceptions", "mcp").ToolError(str(problem)) from problem


def _picture(path: str | None, base64: str | None) -> bytes:
    if (path is None) == (base64 is None):
        raise BadArgument("Name a picture by its path, or send its bytes in base64: one of both.")
    if path is None:
        try:
            return b64decode(base64 or "", validate=True)
        except NotBase64 as problem:
            raise BadArgument(f"The picture is no valid base64: {problem}. Send its path instead.") from problem
    try:
        with open_file(Path(path).expanduser()) as file:
            return file.read(UPLOADS.bytes + 1)
    except (UnreadableImage, ValueError) as problem:
        raise UnreadableImage(f"Cannot read {path}: {problem} Name a picture that is there.") from problem


def _path(folder: str | None) -> Path | None:
    return None if folder is None else Path(folder).expanduser()


def _rounded(chance: float | None) -> float | None:
    return None if chance is None else round(chance, 4)
