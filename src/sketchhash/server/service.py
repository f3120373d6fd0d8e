"""All that stands behind the routes, opened and closed as one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sketchhash.gallery import Gallery, Searcher
from sketchhash.model import Model, layout
from sketchhash.server.census import CensusTaker
from sketchhash.server.finding import Finder
from sketchhash.server.metrics import Metrics
from sketchhash.server.photos import Photos
from sketchhash.server.schemas import ModelAnswer
from sketchhash.server.work import WorkPool

_CORES = os.cpu_count() or 1


def _inference() -> WorkPool:
    # At a few milliseconds a sketch, the last in the queue waits for a tenth of a second.
    return WorkPool("inference", threads=_CORES, queue=16 * _CORES)


def _reading() -> WorkPool:
    # Each may hold a photo of 100 MB; thumbnails come by the dozen, and go as fast.
    return WorkPool("reading", threads=4, queue=500)


@dataclass(frozen=True)
class Service:
    """One gallery, one model, and the threads that work for them; ``edition`` is new each time."""

    finder: Finder
    photos: Photos
    census: CensusTaker
    model: ModelAnswer
    inference: WorkPool = field(default_factory=_inference)
    reading: WorkPool = field(default_factory=_reading)
    metrics: Metrics = field(default_factory=Metrics)
    edition: str = field(default_factory=lambda: secrets.token_hex(4))


@contextmanager
def open_service(gallery: Path, model_folder: Path) -> Iterator[Service]:
    """Load the model and the gallery's codes, about a second for a million photos, until the block ends."""
    model = Model.load(model_folder)
    with ExitStack() as stack:
        # Threads take turns on an open gallery, so searching, looking up and counting have one each.
        searched, looked_up, counted = (stack.enter_context(Gallery.open(gallery, model)) for _ in range(3))
        service = Service(
            finder=Finder(model, Searcher(searched, lasting=True), looked_up),
            photos=Photos(looked_up),
            census=CensusTaker(counted),
            model=_describe(model, model_folder),
        )
        stack.callback(service.reading.close)
        stack.callback(service.inference.close)
        yield service


def _describe(model: Model, folder: Path) -> ModelAnswer:
    return ModelAnswer(
        name=model.manifest.name,
        categories=model.manifest.categories,
        card=(folder / layout.CARD).read_text(encoding="utf-8"),
        scores=dict(model.manifest.scores),
    )
