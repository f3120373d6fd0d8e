"""From what a person names, a file or an address, to the gallery there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sketchhash.gallery.engines.file import FileRows
from sketchhash.gallery.engines.gallery import EngineGallery
from sketchhash.gallery.engines.milvus import MilvusGallery
from sketchhash.gallery.engines.postgres import PostgresGallery
from sketchhash.gallery.engines.rows import RowSource, RowTarget
from sketchhash.gallery.schema import CodeMaker
from sketchhash.index.addresses import Address, is_address


def open_engine(address: str) -> EngineGallery:
    """Open the gallery at an ``address`` to be searched."""
    return MilvusGallery.open(address) if _is_milvus(address) else PostgresGallery.open(address)


@contextmanager
def open_source(place: str) -> Iterator[RowSource]:
    """Open a gallery to be copied, until the block ends."""
    if not is_address(place):
        with FileRows.open(Path(place)) as rows:
            yield rows
        return
    opened = MilvusGallery.open(place, "Strong") if _is_milvus(place) else PostgresGallery.open(place)
    with opened:
        yield opened


@contextmanager
def open_target(place: str, maker: CodeMaker) -> Iterator[RowTarget]:
    """Open a gallery to copy to, until the block ends; it is made for codes of ``maker`` if it is not there."""
    if not is_address(place):
        with FileRows.create(Path(place), maker) as rows:
            yield rows
        return
    made = MilvusGallery.create(place, maker) if _is_milvus(place) else PostgresGallery.create(place, maker)
    with made:
        yield made


def _is_milvus(address: str) -> bool:
    return Address.parse(address).scheme == "milvus"
