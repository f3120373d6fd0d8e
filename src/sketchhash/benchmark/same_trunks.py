"""What Deep Sketch Hashing and plain methods make of the same frozen trunks, in every setting of a run.

Each method is scored twice: by its codes, and by the real values before their signs, which is its ceiling.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sketchhash.benchmark.references import CCA, RIDGE, TRIPLET, reference
from sketchhash.codes import pack
from sketchhash.datasets import Dataset
from sketchhash.dsh.inputs import NetworkInputs
from sketchhash.dsh.runs import Job
from sketchhash.errors import BadArgument
from sketchhash.evaluation.metrics import mean_average_precision
from sketchhash.evaluation.ranking import Encoder, labels, rank_codes, rank_cosine
from sketchhash.evaluation.settings import Setting

DSH = "Deep Sketch Hashing"
METHODS = (DSH, RIDGE, CCA, TRIPLET)


@dataclass(frozen=True)
class Line:
    """A method at a code length in one setting: tie-aware mAP of codes, and of cosines of real values."""

    setting: str
    bits: int
    method: str
    codes: float
    values: float


def compare(job: Job, inputs: NetworkInputs, settings: Sequence[Setting]) -> Iterator[Line]:
    """Fit every method to what the run's own layers learned from, and score it in each setting."""
    if not job.recipe.frozen_trunks:
        raise BadArgument(f"The recipe {job.recipe.name} trains its trunks: nothing else can start from the same ones.")
    parts = job.split.apply(job.dataset)
    settings = [_as_in(job.dataset, setting) for setting in settings]
    for method in METHODS:
        fitted = inputs if method == DSH else reference(method, inputs, parts, job.bits, job.hashing_seed)
        for setting in settings:
            yield _line(method, fitted, setting, job.bits)


def table(lines: Sequence[Line]) -> str:
    """Set a line for each setting and code length, and a column for each method: codes, then real values."""
    rows: dict[tuple[str, int], dict[str, Line]] = {}
    for line in lines:
        rows.setdefault((line.setting, line.bits), {})[line.method] = line
    heading = f"| setting | bits | {' | '.join(METHODS)} |"
    rule = "|---" * (2 + len(METHODS)) + "|"
    return "\n".join([heading, rule, *(_row(*place, found) for place, found in sorted(rows.items()))])


def _as_in(dataset: Dataset, setting: Setting) -> Setting:
    """Give the ids that the items have in the run's dataset: where it stands alone, they do not name it."""
    prefix = f"{dataset.name}: "
    queries, gallery = (
        tuple(replace(item, id=item.id.removeprefix(prefix)) for item in items)
        for items in (setting.queries, setting.gallery)
    )
    return replace(setting, queries=queries, gallery=gallery)


def _line(method: str, encoder: Encoder, setting: Setting, bits: int) -> Line:
    sketches, photos = encoder.sketch_values(setting.queries), encoder.photo_values(setting.gallery)
    sides = labels(setting.queries), labels(setting.gallery)
    codes = mean_average_precision(rank_codes(pack(sketches), pack(photos), *sides)).value
    values = mean_average_precision(rank_cosine(sketches, photos, *sides)).value
    return Line(setting.title, bits, method, codes, values)


def _row(setting: str, bits: int, found: Mapping[str, Line]) -> str:
    cells = (f"{line.codes:.3f} ({line.values:.3f})" for line in (found[method] for method in METHODS))
    return f"| {setting} | {bits} | {' | '.join(cells)} |"
