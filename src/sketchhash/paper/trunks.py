"""Deep Sketch Hashing beside plain methods on the same frozen trunks, in every setting of a training run.

Each method is scored twice: by its codes, and by the real values before their signs, which is its ceiling.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from sketchhash.codes import pack
from sketchhash.datasets import Dataset
from sketchhash.dsh.inputs import NetworkInputs
from sketchhash.dsh.runs import Job
from sketchhash.errors import BadArgument
from sketchhash.evaluation import Encoder, Setting, labels, mean_average_precision, rank_codes, rank_cosine
from sketchhash.paper.entries import TRUNK_METHODS
from sketchhash.paper.methods import fit_on_trunks
from sketchhash.results import markdown_table

DSH = "Deep Sketch Hashing"
METHODS = (DSH, *TRUNK_METHODS.values())


@dataclass(frozen=True)
class TrunkScore:
    """A method at a code length in one setting: tie-aware mAP of codes, and of cosines of real values."""

    setting: str
    bits: int
    method: str
    codes: float
    values: float


def compare_on_trunks(job: Job, inputs: NetworkInputs, settings: Sequence[Setting]) -> Iterator[TrunkScore]:
    """Fit every method to the features that the run's own layers learned from, and score it in each setting."""
    if not job.recipe.frozen_trunks:
        raise BadArgument(f"The recipe {job.recipe.name} trains its trunks: nothing else can start from the same ones.")
    parts = job.split.apply(job.dataset)
    settings = [_as_in(job.dataset, setting) for setting in settings]
    for setting in settings:
        yield _score(DSH, inputs, setting, job.bits)
    for name, title in TRUNK_METHODS.items():
        fitted = fit_on_trunks(name, inputs, parts, job.bits, job.hashing_seed)
        for setting in settings:
            yield _score(title, fitted, setting, job.bits)


def trunk_table(scores: Sequence[TrunkScore]) -> str:
    """Return a row for each setting and code length, and a column for each method: codes, then real values."""
    rows: dict[tuple[str, int], dict[str, TrunkScore]] = {}
    for score in scores:
        rows.setdefault((score.setting, score.bits), {})[score.method] = score
    lines = ((setting, bits, *_cells(found)) for (setting, bits), found in sorted(rows.items()))
    return markdown_table(("setting", "bits", *METHODS), lines)


def _as_in(dataset: Dataset, setting: Setting) -> Setting:
    """Return a setting with the ids of the run's dataset, which do not name it if it is a single one."""
    prefix = f"{dataset.name}: "
    queries, gallery = (
        tuple(replace(item, id=item.id.removeprefix(prefix)) for item in items)
        for items in (setting.queries, setting.gallery)
    )
    return replace(setting, queries=queries, gallery=gallery)


def _score(method: str, encoder: Encoder, setting: Setting, bits: int) -> TrunkScore:
    sketches, photos = encoder.sketch_values(setting.queries), encoder.photo_values(setting.gallery)
    sides = labels(setting.queries), labels(setting.gallery)
    codes = mean_average_precision(rank_codes(pack(sketches), pack(photos), *sides)).value
    values = mean_average_precision(rank_cosine(sketches, photos, *sides)).value
    return TrunkScore(setting.title, bits, method, codes, values)


def _cells(found: Mapping[str, TrunkScore]) -> Iterator[str]:
    for method in METHODS:
        yield f"{found[method].codes:.3f} ({found[method].values:.3f})"
