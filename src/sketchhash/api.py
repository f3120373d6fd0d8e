"""The front door: search galleries, train models and evaluate them, each in one call.

The names here are what ``import sketchhash`` shows. The command line is a thin layer over them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from sketchhash.engines import create_gallery, is_address
from sketchhash.errors import require_torch
from sketchhash.files import user_cache
from sketchhash.gallery import (
    COPY_RADIUS,
    Answer,
    CopyGroup,
    Event,
    Filter,
    GalleryInfo,
    GalleryModel,
    Hit,
    Labels,
    Query,
    Searcher,
    Summary,
    TakenAs,
    Workers,
    find_copies,
    index,
    index_events,
    watch_folders,
)
from sketchhash.imaging.details import Details
from sketchhash.model import Model
from sketchhash.model.folder import default_model_folder

if TYPE_CHECKING:
    from sketchhash.datasets import Dataset, Partition, Split
    from sketchhash.dsh.progress import Progress


class Gallery:
    """Photos that can be found by drawing, in one file or on an engine; safe to use from many threads.

    Use it in a ``with`` block, or call `close`.
    """

    def __init__(self, place: str | Path, model: Model | str | Path | None = None, *, reindex: bool = False) -> None:
        """Open the gallery at ``place``, a file or an engine's address; it is created if it does not exist.

        Args:
            place: A file such as ``photos.gallery``, ``milvus://host:port/name`` or ``postgresql://host/database``.
            model: A loaded model or a model folder; by default the shipped one.
            reindex: If the gallery was made with another model, remove all its photos instead of raising.

        Raises:
            IncompatibleGallery: If the gallery was made with another model: the codes would not compare.
        """
        self.model = model if isinstance(model, Model) else load_model(model)
        self.place = str(place) if is_address(str(place)) else Path(place).expanduser()
        self._gallery = create_gallery(self.place, GalleryModel.of(self.model))
        try:
            if reindex and self._gallery.model.fingerprint != self.model.fingerprint:
                with self._gallery.writing() as writer:
                    writer.start_over(self.model)
                self._gallery.close()
                self._gallery = create_gallery(self.place, GalleryModel.of(self.model))
            self._gallery.require(self.model)
        except BaseException:
            self._gallery.close()
            raise

    def __len__(self) -> int:
        """Return the number of photos."""
        return self.info().photos

    def __enter__(self) -> Self:
        """Close the gallery at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the gallery."""
        self.close()

    def close(self) -> None:
        """Close the gallery."""
        self._gallery.close()

    def info(self) -> GalleryInfo:
        """Return how many photos the gallery has, with which labels, and which model encoded them."""
        return self._gallery.info()

    def count_without_shape(self) -> int:
        """Count the photos that were indexed before shapes were kept; `sketchhash.gallery.fill_shapes` completes them.

        A model that knows no contours gives no photo a shape, and none counts as missing.
        """
        return self._gallery.count_without_shape() if self.model.manifest.tokens else 0

    def index(
        self,
        *places: str | Path,
        labels: Labels | None = None,
        prune: bool = False,
        workers: Workers | None = None,
        progress: Callable[[Event], None] | None = None,
        taken_as: TakenAs = "auto",
    ) -> Summary:
        """Encode the photos in and below ``places`` that are new or changed, and return what was done.

        Every photo is kept as soon as its batch is done: an interrupted call continues when it is repeated.

        Args:
            places: Folders or photos.
            labels: "folder" labels each photo with the name of its folder; otherwise labels stay as they are.
            prune: Remove photos below ``places`` whose file is gone.
            workers: Where photos are encoded; by default on threads of this process.
            progress: Called with each event; `index_events` yields them instead.
            taken_as: What the files are: "photos", "drawings", such as icons, or "auto" to tell by their content.
        """
        return index(self._gallery, self.model, _expand(places), labels, prune, workers, progress, taken_as)

    def index_events(
        self,
        *places: str | Path,
        labels: Labels | None = None,
        prune: bool = False,
        workers: Workers | None = None,
        taken_as: TakenAs = "auto",
    ) -> Generator[Event, None, None]:
        """Index as `index` does, and yield events; work is done only while the events are consumed."""
        return index_events(self._gallery, self.model, _expand(places), labels, prune, workers, taken_as)

    def watch(
        self,
        *places: str | Path,
        labels: Labels | None = None,
        prune: bool = False,
        workers: Workers | None = None,
        taken_as: TakenAs = "auto",
    ) -> Generator[Event, None, None]:
        """Index as `index_events` does, then go on with what changes, for as long as the events are consumed."""
        return watch_folders(self._gallery, self.model, _expand(places), labels, prune, workers, taken_as)

    def search(
        self,
        query: Query | str,
        k: int = 20,
        *,
        kind: Literal["sketch", "photo"] = "sketch",
        folder: str | Path | None = None,
        label: str | None = None,
        after: str | date | None = None,
        before: str | date | None = None,
        near: str | None = None,
        rerank: bool = True,
    ) -> Answer:
        """Return the ``k`` nearest photos, best first, with a ``verdict``, its ``chance`` and ``guesses``.

        Args:
            query: A `Drawing`, strokes as lists of points, or a picture: a path, bytes, an array or a PIL image.
                A file or bytes may also hold strokes as JSON.
            k: How many hits; fewer are returned only if there are fewer photos.
            kind: What a picture shows: a "sketch", or a "photo" to find its like.
            folder: Only photos at any depth below this folder.
            label: Only photos with this label.
            after: Only photos taken in this year, month or day, or later: ``"2023"``, ``"2023-06"``, a `date`. Photos
                without a date are left out; ``left_out`` of the answer counts them.
            before: Only photos taken in this year, month or day, or earlier.
            near: Only photos taken within a distance of a place: ``"48.1,11.6,20km"``, latitude first.
            rerank: Order photos by the query's real values instead of their signs alone. Otherwise hits are ordered by
                distance, and equal distances by id.
        """
        return self._searcher.search(
            Path(query).expanduser() if isinstance(query, str) else query,
            k,
            kind=kind,
            only=_filter(folder, label, after, before, near),
            rerank=rerank,
        )

    def search_category(
        self,
        category: str,
        k: int = 20,
        *,
        folder: str | Path | None = None,
        label: str | None = None,
        after: str | date | None = None,
        before: str | date | None = None,
        near: str | None = None,
    ) -> Answer:
        """Return the ``k`` photos that most likely show a kind of thing that the model knows, such as ``"cat"``.

        Args:
            category: One of ``model.manifest.categories``.
            k: How many hits.
            folder: Only photos at any depth below this folder.
            label: Only photos with this label.
            after: Only photos taken then or later; see `search`.
            before: Only photos taken then or earlier.
            near: Only photos taken near a place.

        Raises:
            UnknownName: If the model does not know the category.
        """
        return self._searcher.by_category(category, k, only=_filter(folder, label, after, before, near))

    def similar(
        self,
        photo_id: int,
        k: int = 20,
        *,
        after: str | date | None = None,
        before: str | date | None = None,
        near: str | None = None,
    ) -> Answer:
        """Return the ``k`` photos most like one of the gallery's photos, without itself; filters as in `search`."""
        return self._searcher.similar(photo_id, k, only=_filter(None, None, after, before, near))

    def details(self, photo_id: int) -> Details:
        """Return when, where and with what a photo was taken, as far as that is known."""
        return self._gallery.details([photo_id]).get(photo_id) or Details()

    def copies(self, radius: int | None = COPY_RADIUS) -> list[CopyGroup]:
        """Return the groups of photos that are copies of one another, each with the one to keep; nothing is changed.

        Args:
            radius: In how many bits of 64 the perceptual hashes of copies may differ; None for equal files alone.
        """
        return find_copies(self._gallery, radius)

    def copies_of(self, photo_id: int) -> list[Hit]:
        """Return the copies of one of the gallery's photos, the nearest first, at most 200."""
        return self._searcher.copies(photo_id)

    def thumbnail(self, photo_id: int) -> bytes:
        """Return the thumbnail of a photo, a JPEG."""
        return self._gallery.thumbnail(photo_id)

    def serve(
        self,
        host: str = "127.0.0.1",
        port: int = 8765,
        *,
        allowed_hosts: Iterable[str] = (),
        ready: Callable[[str], None] = print,
    ) -> None:
        """Serve a page to draw on, until Ctrl-C.

        Args:
            host: The address to listen on. If others than this machine can connect, they need a token, which is part
                of the address: the environment variable ``SKETCHHASH_TOKEN``, or a random one.
            port: The port; 0 is any that is free.
            allowed_hosts: Names, beside addresses, that clients may know this machine by.
            ready: Called with the address to open, once the service listens.
        """
        from sketchhash.server import Access, listen, searcher_service, serve

        access = Access.for_host(host, allowed_hosts)
        self._gallery.prepare_search(lasting=True)
        with listen(host, port) as listener, searcher_service(self._searcher) as service:
            ready(access.address(host, listener.getsockname()[1]))
            serve(service, access, listener)

    def serve_assistant(self) -> None:
        """Let an assistant search over standard input and output (Model Context Protocol), until it closes them."""
        from sketchhash.server import serve_assistant

        serve_assistant(self._searcher)

    @cached_property
    def _searcher(self) -> Searcher:
        return Searcher(self.model, self._gallery)


@dataclass(frozen=True)
class Trained:
    """A finished training: its model folder, and its scores on the split's queries by their names on the card.

    There are no scores if the split has no queries, and in all but the first of several processes. ``chance`` is about
    the mAP of a random ranking: the share of photos that are right, on average over the queries. A recipe that does
    not learn codes gives a folder that cannot search: other trainings start from its sketch network.
    """

    folder: Path
    scores: Mapping[str, float]
    chance: float | None = None
    is_first_process: bool = True
    learns_codes: bool = True


def train(
    data: str | Path | Dataset | Sequence[Dataset],
    *,
    out: str | Path,
    recipe: str = "tuned",
    bits: int = 64,
    seed: int = 0,
    split: Split | None = None,
    start: str | Path | None = None,
    notes: str | Path | None = None,
    resume: bool = False,
    cache: str | Path | None = None,
    device: str | None = None,
    keep_pixels: bool = False,
    progress: Progress | None = None,
) -> Trained:
    """Train Deep Sketch Hashing on a dataset and write a model folder.

    Args:
        data: A dataset, its folder or the word "synthetic", or several datasets to join.
        out: The model folder to write; the state of the run is kept beside it in ``OUT.run``.
        recipe: The name of a recipe, or a TOML file.
        bits: The length of the codes, a multiple of 8.
        seed: The seed of everything random.
        split: What is trained on and what is asked; by default the paper's split is drawn.
        start: A model folder whose sketch network is trained further, instead of one trained on ImageNet alone.
        notes: A TOML file with what the model card says of the data.
        resume: Continue the run in ``OUT.run``.
        cache: Where token maps, features and pre-trained networks are kept; by default the user's cache folder.
        device: Where to compute: ``cpu``, ``cuda``, ``cuda:1`` or ``mps``; by default on CUDA if there is any.
        keep_pixels: Keep resized photos in the cache, for recipes that train all weights.
        progress: Shows stages and epochs.
    """
    require_torch()
    from sketchhash import datasets
    from sketchhash.devices import using
    from sketchhash.dsh import export, optimisation, runs, training
    from sketchhash.dsh.progress import Silent
    from sketchhash.dsh.recipe import load_recipe
    from sketchhash.evaluation import calibrate_export, card_scores

    folder = Path(out).expanduser()
    state = folder.with_name(f"{folder.name}.run")
    collections = datasets.as_datasets(data)
    dataset = datasets.join(collections)
    drawn = split or datasets.draw_joined_split(collections, seed=seed)
    begun_from = Path(start) if start else None
    job = runs.Job(dataset, drawn, load_recipe(recipe), bits, seed, start=begun_from, keep_pixels=keep_pixels)
    card = export.describe(job, export.read_notes(Path(notes)) if notes else None)
    with using(device), optimisation.started() as group:
        shown = progress if progress is not None and group.is_first else Silent()
        inputs = training.train(job, state, Path(cache) if cache else user_cache(), shown, group, resume)
        if not group.is_first:
            return Trained(folder, {}, is_first_process=False)
        if not job.recipe.learns_codes:
            export.export_model(inputs.network, job, folder, card, {})
            return Trained(folder, {}, learns_codes=False)
        parts = drawn.apply(dataset)
        scores = card_scores(inputs, parts) if drawn.query_sketches else {}
        runs.write_scores(state, scores)
        runs.draw_log(state)
        exported = export.export_model(inputs.network, job, folder, card, scores)
        calibrate_export(exported, collections, drawn, Path(cache) if cache else user_cache())
        return Trained(folder, scores, _share_of_right_photos(parts))


def load_model(folder: str | Path | None = None) -> Model:
    """Load the model in ``folder``; by default the one named by ``SKETCHHASH_MODEL``, or the shipped one."""
    return Model.load(default_model_folder() if folder is None else Path(folder).expanduser())


def _share_of_right_photos(parts: Partition) -> float | None:
    photos = Counter(photo.label for photo in parts.gallery)
    if not parts.queries:
        return None
    return sum(photos[query.label] for query in parts.queries) / len(parts.queries) / len(parts.gallery)


def _expand(places: Sequence[str | Path]) -> list[Path]:
    return [Path(place).expanduser() for place in places]


def _filter(
    folder: str | Path | None, label: str | None, after: str | date | None, before: str | date | None, near: str | None
) -> Filter:
    below = None if folder is None else Path(folder).expanduser()
    start, end = (None if each is None else str(each) for each in (after, before))
    return Filter.parse(below, label, start, end, near)
