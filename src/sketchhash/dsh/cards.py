"""What a training run can say about itself on a model card, and what only its maker can add.

The maker's part is a TOML file: a ``summary``, ``limits``, and for every dataset by name what it really is::

    summary = "Finds photos of everyday things."
    limits = ["It does not know buildings."]

    [data.berlin]
    title = "TU-Berlin sketches"
    licence = "CC BY 4.0"
    link = "https://example.org"
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sketchhash.datasets import collection
from sketchhash.dsh.runs import Job
from sketchhash.errors import BadArgument
from sketchhash.model import CardFacts, DataSource


@dataclass(frozen=True)
class Origin:
    """What a dataset is and who may use it."""

    title: str
    licence: str
    link: str = ""


@dataclass(frozen=True)
class Notes:
    """What the maker of a model adds to its card."""

    summary: str = ""
    limits: tuple[str, ...] = ()
    data: Mapping[str, Origin] = field(default_factory=dict)


def read_notes(path: Path) -> Notes:
    """Read the maker's part of a card from a TOML file."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        data = {name: Origin(**origin) for name, origin in table.pop("data", {}).items()}
        return Notes(**{**table, "limits": tuple(table.get("limits", ())), "data": data})
    except OSError as problem:
        raise BadArgument(f"The notes {path} cannot be read: {problem.strerror}.") from problem
    except (ValueError, TypeError) as problem:
        raise BadArgument(
            f"The notes {path} cannot be used: {problem}. They hold summary, limits, and title, licence and link "
            "below [data.NAME]."
        ) from problem


def describe(job: Job, notes: Notes | None = None) -> CardFacts:
    """Describe a job's data and protocol; licences are not known from files, and the card says so."""
    notes = notes or Notes()
    parts, split, dataset = job.split.apply(job.dataset), job.split, job.dataset
    protocol = (
        f"{len(parts.queries):,} query sketches, none of them trained on, search {len(parts.gallery):,} photos. "
        f"Split drawn with seed {split.seed}, hash {split.hash}."
    )
    if split.held_out_photos or split.unseen_categories:
        protocol += " The photos searched were kept out of training."
    else:
        protocol += " As in the paper, the photos searched were also trained on."
    if split.unseen_categories:
        protocol += f" So was everything of: {', '.join(split.unseen_categories)}."
    sketches, photos = (
        Counter(collection(dataset, item) for item in items)
        for items in (parts.training_sketches, parts.training_photos)
    )
    unknown = Origin("", "that of the dataset; ask its authors")
    sources = [(name, notes.data.get(name, unknown)) for name in sorted({*sketches, *photos})]
    return CardFacts(
        summary=notes.summary or f"Trained with the recipe *{job.recipe.name}*. {job.recipe.description}",
        data=[
            DataSource(
                name=origin.title or name,
                used_for="training and measuring",
                sketches=sketches[name],
                photos=photos[name],
                licence=origin.licence,
                link=origin.link,
            )
            for name, origin in sources
        ],
        protocol=protocol,
        limits=notes.limits,
    )
