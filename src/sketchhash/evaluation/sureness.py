"""Measure how sure a model's answers are, and whether their chances mean what they say.

sureness.json   every number
sureness.md     the same as tables
sureness.png    the reliability diagram

The expected calibration error (ECE) is the mean difference between the chances that were named and the share that came
true, over ten bins of equal width. Kinds of searches count as they did when the calibration was fitted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from sketchhash.errors import BadArgument, require
from sketchhash.evaluation.trials import Kind, Material, kind_weights, searches
from sketchhash.files import replacing
from sketchhash.model import Calibration, Model, QueryKind, Verdict
from sketchhash.model.calibration import Floats, Judgement
from sketchhash.results import compact_json, markdown_table

_BINS = 10
_VERDICTS: tuple[Verdict, ...] = ("sure", "unsure", "unknown")


@dataclass(frozen=True)
class Bin:
    """Chances between two bounds: their mean, the share that came true, and how many there are."""

    chance: float
    came_true: float
    count: int


@dataclass(frozen=True)
class Reliability:
    """How chances compare with what came true."""

    error: float
    bins: tuple[Bin, ...]


@dataclass(frozen=True)
class KindSureness:
    """The answers to one kind of query: how many, the share that was right, and the share of each verdict."""

    searches: int
    right: float
    sure: float
    unsure: float
    unknown: float


@dataclass(frozen=True)
class Sureness:
    """How sure a model was of searches that its calibration was not fitted on.

    Attributes:
        model: Its name.
        fingerprint: Identifies the networks.
        split_hash: Identifies the split that kept what is measured on out of training; None if nothing did.
        kinds: The answers to drawings, by kind.
        answers: Of the chance that the first hits are right.
        guesses: Of the chance of the best guess.
        hits: Of the chance of each hit.
        other_queries: The answers to photos and to categories, by kind, and the ECE of their chances.
    """

    model: str
    fingerprint: str
    split_hash: str | None
    kinds: Mapping[str, KindSureness]
    answers: Reliability
    guesses: Reliability
    hits: Reliability
    other_queries: Mapping[str, tuple[Mapping[str, KindSureness], float]]

    def to_json(self) -> str:
        """Return everything as JSON."""
        return compact_json(asdict(self)) + "\n"

    def table(self) -> str:
        """Return the verdicts on drawings by kind, as a Markdown table."""
        return _kinds_table(self.kinds)

    def markdown(self) -> str:
        """Return everything as Markdown."""
        source = (
            f"split {self.split_hash[:16]}" if self.split_hash else "no split: the model may have been trained on it"
        )
        errors = (("answers", self.answers), ("guesses", self.guesses), ("hits", self.hits))
        parts = [
            f"# Sureness of {self.model}",
            f"Fingerprint {self.fingerprint[:16]}; {source}. What is measured on was not fitted on.",
            "## Drawings",
            self.table(),
            "## Expected calibration error",
            markdown_table(("chance", "ECE"), [(name, f"{each.error:.3f}") for name, each in errors]),
        ]
        for name, (kinds, error) in self.other_queries.items():
            parts += [f"## Search by {name}", _kinds_table(kinds), f"ECE of the answers: {error:.3f}"]
        return "\n\n".join(parts) + "\n"

    def write(self, folder: Path) -> None:
        """Write ``sureness.json``, ``sureness.md`` and the diagram."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in (("sureness.json", self.to_json()), ("sureness.md", self.markdown())):
            with replacing(folder / name) as file:
                file.write(text.encode())
        self.draw(folder / "sureness.png")

    def draw(self, path: Path) -> None:
        """Draw the reliability diagram: the share that came true over the chance that was named."""
        require("matplotlib", "bench")
        from matplotlib.figure import Figure

        figure = Figure(figsize=(4.5, 4.5), layout="constrained")
        axes = figure.add_subplot()
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        for name, each in (("first hits", self.answers), ("best guess", self.guesses), ("each hit", self.hits)):
            chances, shares = zip(*((bin_.chance, bin_.came_true) for bin_ in each.bins), strict=True)
            axes.plot(chances, shares, marker="o", markersize=4, label=f"{name}, ECE {each.error:.3f}")
        axes.set(xlabel="chance that was named", ylabel="share that came true", xlim=(0, 1), ylim=(0, 1))
        axes.legend(frameon=False)
        figure.savefig(path, dpi=110)


def measure_sureness(model: Model, material: Material) -> Sureness:
    """Judge searches of the half that was not fitted on, just as a gallery judges them; see `Sureness`."""
    calibration = model.calibration
    if calibration is None:
        raise BadArgument("This model has no calibration to measure.")
    found = {asked: _judge_all(calibration, material, asked) for asked in QueryKind}
    drawings = found[QueryKind.SKETCH]
    return Sureness(
        model=model.manifest.name,
        fingerprint=model.fingerprint,
        split_hash=material.split_hash,
        kinds=drawings.by_kind(),
        answers=drawings.answers(),
        guesses=drawings.guesses(),
        hits=drawings.hits(),
        other_queries={
            asked.value: (found[asked].by_kind(), found[asked].answers().error)
            for asked in QueryKind
            if asked is not QueryKind.SKETCH
        },
    )


@dataclass(frozen=True, eq=False)
class _Judged:
    kinds: list[Kind]
    judgements: list[Judgement]
    right: list[bool]
    guessed_right: list[bool]
    relevant: list[list[bool]]

    def by_kind(self) -> dict[str, KindSureness]:
        return {kind.value: self._of(kind) for kind in Kind if kind in self.kinds}

    def answers(self) -> Reliability:
        return reliability([each.chance or 0.0 for each in self.judgements], self.right, self._weights)

    def guesses(self) -> Reliability:
        best = [each.guesses[0].chance if each.guesses else 0.0 for each in self.judgements]
        return reliability(best, self.guessed_right, self._weights)

    def hits(self) -> Reliability:
        pairs = list(zip(self.judgements, self.relevant, self._weights.tolist(), strict=True))
        return reliability(
            [chance for judgement, _, _ in pairs for chance in judgement.hit_chances],
            [is_relevant for _, relevant, _ in pairs for is_relevant in relevant],
            np.array([weight / len(relevant) for _, relevant, weight in pairs for _ in relevant]),
        )

    @property
    def _weights(self) -> Floats:
        return kind_weights(self.kinds)

    def _of(self, kind: Kind) -> KindSureness:
        rows = [row for row, each in enumerate(self.kinds) if each is kind]
        verdicts = [self.judgements[row].verdict for row in rows]
        sure, unsure, unknown = (verdicts.count(verdict) / len(rows) for verdict in _VERDICTS)
        return KindSureness(len(rows), float(np.mean([self.right[row] for row in rows])), sure, unsure, unknown)


def _judge_all(calibration: Calibration, material: Material, asked: QueryKind) -> _Judged:
    judged = _Judged([], [], [], [], [])
    names = calibration.categories
    for search in searches(material.halves["measure"], len(names), asked, calibration.shown):
        if asked is QueryKind.CATEGORY:
            judgement = calibration.judge_category(names[search.label], search.codes)
        else:
            judgement = calibration.judge(search.values, search.codes, asked)
        drawn = names[search.label] if 0 <= search.label < len(names) else None
        judged.kinds.append(search.kind)
        judged.judgements.append(judgement)
        judged.right.append(search.is_right)
        judged.guessed_right.append(bool(judgement.guesses) and judgement.guesses[0].category == drawn)
        judged.relevant.append(search.relevant.tolist())
    return judged


def reliability(chances: Sequence[float], came_true: Sequence[bool], weights: Floats) -> Reliability:
    """Compare chances with what came true.

    >>> reliability([0.1, 0.9], [False, True], np.array([0.5, 0.5])).error
    0.1
    """
    named, truth = np.array(chances), np.array(came_true, dtype=np.float64)
    places = np.minimum((named * _BINS).astype(int), _BINS - 1)
    error, bins = 0.0, []
    for place in range(_BINS):
        inside = places == place
        if weight := float(weights[inside].sum()):
            chance, share = (float(np.average(some[inside], weights=weights[inside])) for some in (named, truth))
            error += weight / float(weights.sum()) * abs(chance - share)
            bins.append(Bin(chance, share, int(inside.sum())))
    return Reliability(round(error, 12), tuple(bins))


def _kinds_table(kinds: Mapping[str, KindSureness]) -> str:
    rows = (
        (name, f"{each.searches:,}", *(f"{share:.1%}" for share in (each.right, each.sure, each.unsure, each.unknown)))
        for name, each in kinds.items()
    )
    return markdown_table(("what was asked for", "searches", "first hits right", *_VERDICTS), rows)
