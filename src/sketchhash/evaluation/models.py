"""Evaluate a model folder on datasets, as users meet it: files, ONNX networks, codes.

scores.json     every number
scores.md       the same as tables
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from sketchhash.datasets import Dataset, Split, as_datasets
from sketchhash.errors import BadArgument, SplitProblem
from sketchhash.evaluation.encodings import Encodings, Medium
from sketchhash.evaluation.metrics import Interval, Score
from sketchhash.evaluation.quality import CategoryQuality, SettingQuality, score_setting
from sketchhash.evaluation.settings import EvaluationData, PhotoLimit
from sketchhash.files import replacing, user_cache
from sketchhash.model import Model
from sketchhash.results import NO_VALUE, compact_json, markdown_table

Progress = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
"""Shows a stage of so many steps; the function that it yields is called once a step."""

_PACKAGES = ("numpy", "onnxruntime", "pillow", "sketchhash")
_UNREADABLE_SHOWN = 20
_LEGEND = """\
mAP is over the whole ranking, and expected over the orders of tied photos; in brackets its 95 % interval when queries
are resampled. *chance* is the mAP of a random ranking. *one-sided* ranks by the real values of a sketch and the photos'
codes, *cosine* by real values on both sides. A dash is a depth that the gallery does not have."""


@dataclass(frozen=True)
class ModelEvaluation:
    """The quality of a model in every setting, and the data it was measured on.

    Attributes:
        model: Its name.
        bits: The length of its codes.
        fingerprint: Identifies the networks and all that decides a code.
        data: The datasets of the settings.
        split_hash: Identifies the split; None if every sketch was a query and every photo was searched.
        searched: Other datasets that were searched.
        limit: The largest number of photos a category that were searched.
        unreadable: Items that could not be read, and why.
        settings: The quality in each setting, the paper's first: seen photos of the first dataset.
    """

    model: str
    bits: int
    fingerprint: str
    data: str
    split_hash: str | None
    searched: tuple[str, ...]
    limit: PhotoLimit | None
    unreadable: Mapping[str, str]
    settings: tuple[SettingQuality, ...]

    @property
    def map(self) -> float:
        """Tie-aware mAP@all in the first setting."""
        return self.settings[0].codes.mean_average_precision.value

    @property
    def interval(self) -> Interval:
        """The 95 % interval of `map`, by resampling the queries."""
        return self.settings[0].interval

    @property
    def chance(self) -> float:
        """The mAP of a random ranking in the first setting."""
        return self.settings[0].chance

    @property
    def precision(self) -> float:
        """Precision at 200 in the first setting, divided by 200 even if the gallery is smaller."""
        return self.settings[0].codes.precision_at_200.value

    def to_json(self) -> str:
        """Return everything as JSON, with the versions of the packages that computed it."""
        versions = {package: version(package) for package in _PACKAGES} | {"python": platform.python_version()}
        return compact_json({**asdict(self), "versions": versions}) + "\n"

    def table(self) -> str:
        """Return one row for each setting, as a Markdown table."""
        heading = "sketches|photos|setting|queries|gallery|categories|chance|mAP|P@10|P@200|one-sided|cosine"
        return markdown_table(heading.split("|"), map(_setting_row, self.settings))

    def markdown(self) -> str:
        """Return everything as Markdown."""
        split = f"split {self.split_hash[:16]}" if self.split_hash else "no split: every sketch is a query"
        limit = f", at most {self.limit.photos} photos a category" if self.limit else ""
        parts = [
            f"# Quality of {self.model}",
            f"{self.bits} bits, fingerprint {self.fingerprint[:16]}. Data: {self.data}; {split}{limit}.",
            self.table(),
            _LEGEND,
            *map(_category_section, self.settings),
        ]
        if self.unreadable:
            parts.append(_unreadable_section(self.unreadable))
        return "\n\n".join(parts) + "\n"

    def write(self, folder: Path) -> None:
        """Write ``scores.json`` and ``scores.md``."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in (("scores.json", self.to_json()), ("scores.md", self.markdown())):
            with replacing(folder / name) as file:
                file.write(text.encode())


def evaluate(
    model: Model | Path | str,
    data: Dataset | Path | str | Sequence[Dataset],
    *,
    split: Split | None = None,
    searched: Iterable[Dataset] = (),
    limit: PhotoLimit | None = None,
    cache: Path | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> ModelEvaluation:
    """Measure how well a model finds photos; encodings are cached, so a second evaluation of the same data is fast.

    Args:
        model: A model, or its folder.
        data: A dataset, its folder or the word ``synthetic``, or several datasets to join.
        split: The split of the model's training. Without one the split that training left in ``MODEL.run`` is used if
            it was drawn from this data; otherwise every sketch is a query, also those the model was trained on.
        searched: Other datasets whose photos are searched too.
        limit: Search at most so many photos a category.
        cache: Where encodings are kept; by default the user's cache folder.
        threads: Pictures to encode at once; by default one a core.
        progress: Shows a bar a stage.

    Raises:
        BadArgument: If no sketch has a photo of its category to find.
    """
    collections = as_datasets(data)
    others = list(searched)
    split = split or _training_split(model, collections)
    loaded = model if isinstance(model, Model) else Model.load(Path(model).expanduser())
    material = EvaluationData(collections, split, limit)
    settings = material.settings(others)
    if not settings:
        raise BadArgument("No sketch here can find a photo: give data with sketches, and photos of the same things.")
    encodings = Encodings(loaded, cache or user_cache(), threads)
    for medium, items in (
        (Medium.SKETCH, [item for setting in settings for item in setting.queries]),
        (Medium.PHOTO, [item for setting in settings for item in setting.gallery]),
    ):
        missing = encodings.missing(medium, items)
        with (progress or silent)(f"encoding {medium}s", len(missing)) as advance:
            encodings.encode(medium, missing, advance)
    scored = (score_setting(setting, encodings, material.categories) for setting in settings)
    found = tuple(quality for quality in scored if quality is not None)
    if not found:
        raise BadArgument("No picture of this data could be read: check the files.")
    return ModelEvaluation(
        model=loaded.manifest.name,
        bits=loaded.bits,
        fingerprint=loaded.fingerprint,
        data=material.whole.name,
        split_hash=split.hash if split else None,
        searched=tuple(other.name for other in others),
        limit=limit,
        unreadable=encodings.unreadable,
        settings=found,
    )


def _training_split(model: Model | Path | str, collections: Sequence[Dataset]) -> Split | None:
    """Return the split that `sketchhash train` left beside a model folder, if it was drawn from this data."""
    if isinstance(model, Model):
        return None
    folder = Path(model).expanduser()
    path = folder.with_name(f"{folder.name}.run") / "split.json"
    if not path.exists():
        return None
    split = Split.read(path)
    try:
        EvaluationData(collections, split)
    except SplitProblem:
        return None
    return split


@contextmanager
def silent(_stage: str, _steps: int) -> Iterator[Callable[[], None]]:
    """Show no progress."""
    yield lambda: None


def _setting_row(quality: SettingQuality) -> tuple[str, ...]:
    return (
        quality.sketches,
        quality.photos,
        quality.kind,
        f"{quality.queries:,}",
        f"{quality.gallery:,}",
        _categories(quality),
        f"{quality.chance:.3f}",
        f"{_number(quality.codes.mean_average_precision)} ({quality.interval.low:.3f}–{quality.interval.high:.3f})",
        _number(quality.precision_at_10),
        _number(quality.codes.precision_at_200),
        _number(quality.one_sided),
        _number(quality.cosine),
    )


def _categories(quality: SettingQuality) -> str:
    among = quality.gallery_categories
    searched = f" of {among}" if among != quality.categories else ""
    unlearnt = f" ({quality.unlearnt} not learnt)" if quality.unlearnt else ""
    return f"{quality.categories}{searched}{unlearnt}"


def _number(score: Score) -> str:
    return NO_VALUE if score.is_short else f"{score.value:.3f}"


def _category_section(quality: SettingQuality) -> str:
    title = f"## {quality.sketches} → {quality.photos}, {quality.kind}"
    heading = ("category", "queries", "photos", "mAP", "P@10", "found instead, share of the first 10 ranks")
    rows = (
        (
            each.category,
            each.queries,
            each.photos,
            f"{each.mean_average_precision:.3f}",
            f"{each.precision_at_10:.2f}",
            _mistakes(each),
        )
        for each in quality.by_category
    )
    return f"{title}\n\n{markdown_table(heading, rows)}"


def _mistakes(quality: CategoryQuality) -> str:
    return ", ".join(f"{mistake.category} {mistake.share:.2f}" for mistake in quality.mistakes)


def _unreadable_section(unreadable: Mapping[str, str]) -> str:
    shown = [f"- {item}: {reason}" for item, reason in sorted(unreadable.items())[:_UNREADABLE_SHOWN]]
    return "\n".join([f"## {len(unreadable)} items could not be read", "", *shown])
