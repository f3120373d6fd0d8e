"""All that stands behind the routes, opened and closed as one."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sketchhash.gallery import open_served
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
def open_service(gallery: str | Path, model_folder: Path) -> Iterator[Service]:
    """Load the model, and open the gallery in a file or at an engine's address, until the block ends.

    The codes of a file are loaded too, about a second for a million photos.
    """
    model = Model.load(model_folder)
    with ExitStack() as stack:
        served = stack.enter_context(open_served(gallery, model))
        service = Service(
            finder=Finder(model, served.searched, served.looked_up),
            photos=Photos(served.looked_up),
            census=CensusTaker(served.counted),
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
