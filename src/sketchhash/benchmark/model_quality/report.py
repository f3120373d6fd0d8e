"""A judgement as files: every number as JSON, and tables to read."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

from sketchhash.benchmark.metrics import Score
from sketchhash.benchmark.model_quality.judging import CategoryVerdict, Verdict
from sketchhash.benchmark.model_quality.settings import Most
from sketchhash.files import replacing

_PACKAGES = ("numpy", "onnxruntime", "pillow", "sketchhash")
_UNREADABLE_SHOWN = 20
_LEGEND = """\
mAP is over the whole ranking, and expected over the orders of tied photos. *chance* is that of a ranking without sense.
*one-sided* ranks by the real values of a sketch and the photos' codes, *cosine* by real values on both sides. A dash is
a depth that the gallery does not have."""


@dataclass(frozen=True)
class Judgement:
    """What a model came to, and on what.

    Attributes:
        model: Its name.
        bits: The length of its codes.
        fingerprint: Identifies the networks and all that decides a code.
        data: The datasets that its settings are drawn from.
        split_hash: Identifies the split; None if everything asked and everything was searched.
        searched: Other collections that were searched.
        most: How many photos a category were searched at most.
        unreadable: Items that could not be read, and why.
        verdicts: One a setting.
    """

    model: str
    bits: int
    fingerprint: str
    data: str
    split_hash: str | None
    searched: tuple[str, ...]
    most: Most | None
    unreadable: Mapping[str, str]
    verdicts: tuple[Verdict, ...]

    def to_json(self) -> str:
        """Write everything as JSON, with the versions of what computed it."""
        versions = {package: version(package) for package in _PACKAGES} | {"python": platform.python_version()}
        return json.dumps({**asdict(self), "versions": versions}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def write(judgement: Judgement, folder: Path) -> None:
    """Write ``scores.json`` and ``scores.md``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("scores.json", judgement.to_json()), ("scores.md", page(judgement))):
        with replacing(folder / name) as file:
            file.write(text.encode())


def page(judgement: Judgement) -> str:
    """Set everything as Markdown."""
    split = f"split {judgement.split_hash[:16]}" if judgement.split_hash else "no split: every sketch asked"
    capped = f", at most {judgement.most.photos} photos a category" if judgement.most else ""
    parts = [
        f"# {judgement.model}, judged",
        f"{judgement.bits} bits, fingerprint {judgement.fingerprint[:16]}. Data: {judgement.data}; {split}{capped}.",
        settings_table(judgement.verdicts),
        _LEGEND,
        *(_category_section(verdict) for verdict in judgement.verdicts),
    ]
    if judgement.unreadable:
        parts.append(_unreadable_section(judgement.unreadable))
    return "\n\n".join(parts) + "\n"


def settings_table(verdicts: Sequence[Verdict]) -> str:
    """Set one line a setting."""
    heading = "sketches|photos|setting|queries|gallery|categories|chance|mAP|P@10|P@200|one-sided|cosine"
    return _table(
        heading.split("|"),
        (
            (
                verdict.sketches,
                verdict.photos,
                verdict.kind,
                f"{verdict.queries:,}",
                f"{verdict.gallery:,}",
                _categories(verdict),
                f"{verdict.chance:.3f}",
                _number(verdict.codes.mean_average_precision),
                _number(verdict.precision_at_10),
                _number(verdict.codes.precision_at_200),
                _number(verdict.one_sided),
                _number(verdict.cosine),
            )
            for verdict in verdicts
        ),
    )


def _categories(verdict: Verdict) -> str:
    among = verdict.gallery_categories
    searched = f" of {among}" if among != verdict.categories else ""
    unlearnt = f" ({verdict.unlearnt} not learnt)" if verdict.unlearnt else ""
    return f"{verdict.categories}{searched}{unlearnt}"


def _number(score: Score) -> str:
    return "–" if score.is_short else f"{score.value:.3f}"


def _category_section(verdict: Verdict) -> str:
    title = f"## {verdict.sketches} → {verdict.photos}, {verdict.kind}"
    heading = ("category", "queries", "photos", "mAP", "P@10", "found instead, share of the first 10 places")
    rows = (
        (
            each.category,
            each.queries,
            each.photos,
            f"{each.mean_average_precision:.3f}",
            f"{each.precision_at_10:.2f}",
            _mistakes(each),
        )
        for each in verdict.by_category
    )
    return f"{title}\n\n{_table(heading, rows)}"


def _mistakes(verdict: CategoryVerdict) -> str:
    return ", ".join(f"{mistake.category} {mistake.share:.2f}" for mistake in verdict.mistakes)


def _unreadable_section(unreadable: Mapping[str, str]) -> str:
    shown = [f"- {item}: {reason}" for item, reason in sorted(unreadable.items())[:_UNREADABLE_SHOWN]]
    return "\n".join([f"## {len(unreadable)} items could not be read", "", *shown])


def _table(heading: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", r"\|") for cell in line) + " |" for line in lines)
