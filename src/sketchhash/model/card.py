"""The model card: what a model is, what it learnt from, what was measured, and where it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from string import Template

from sketchhash.model.manifest import CONTENTS, Manifest
from sketchhash.results import markdown_table

_CARD = Template("""\
# $name

$summary

Draw something, and this model finds the photos that show it. It turns photos and drawings into codes of
$bits bits; a drawing's code lies few bits away from the codes of photos of the same thing. The method is
Deep Sketch Hashing (Liu, Shen, Shen, Liu and Shao, CVPR 2017). The image network $sees.

## Files

$files

The networks take raw 8-bit pixels and normalise inside; `manifest.json` says which sizes. Bit i of a code
is 1 when value i is at least 0. Nothing here is a pickle.

## Data

$data

## Protocol

$protocol

## Numbers

$numbers

## Limits

$limits

## Made with

$made_with

$categories
""")

_SEES = {
    "full": "sees a photo and the contours found in it",
    "without_tokens": "sees photos alone, without their contours",
    "without_photos": "sees the contours found in a photo, not the photo itself",
}

_ALWAYS_LIMITS = (
    "Every drawing gets an answer, also one of something the model has never seen: a near code is a guess, "
    "not a finding.",
    "It learnt the categories listed below. Others may work when they look alike; nothing was measured "
    "for them unless the numbers above say so.",
    "It learnt from line drawings. Shading, colour, filled areas and writing are outside what it knows.",
    "The numbers hold for the protocol above. Your photos differ from these, so measure on your own before "
    "you rely on it.",
    "It knows categories of things, not individuals: do not use it to identify people.",
)


NOTHING_KEPT_OUT = "It was trained on all sketches and photos below: none were kept out to measure it."
"""The protocol on the card of a model that was trained on everything."""


@dataclass(frozen=True)
class DataSource:
    """One body of sketches or photos that the model learnt from or was measured on."""

    name: str
    used_for: str
    sketches: int
    photos: int
    licence: str
    link: str


@dataclass(frozen=True)
class CardFacts:
    """What a card tells beyond the manifest; ``limits`` are this model's own, the general ones are added."""

    summary: str
    data: Sequence[DataSource]
    protocol: str
    limits: Sequence[str] = ()


def model_card(manifest: Manifest, facts: CardFacts) -> str:
    """Return the card as Markdown; it says so where something is not known."""
    made = manifest.made_with
    provenance = {
        "sketchhash": made.sketchhash,
        "recipe": f"{made.recipe} (sha256 {made.recipe_sha256})",
        "seed": made.seed,
        "data": f"sha256 {made.data_sha256}",
        **dict(sorted(made.packages.items())),
    }
    return _CARD.substitute(
        name=manifest.name,
        summary=facts.summary,
        bits=manifest.bits,
        sees=_SEES[manifest.branches],
        files=markdown_table(("file", "what it is"), CONTENTS.items()),
        data=_data_table(facts.data),
        protocol=facts.protocol,
        numbers=_scores_table(manifest),
        limits="\n".join(f"- {limit}" for limit in (*facts.limits, *_ALWAYS_LIMITS)),
        made_with=markdown_table(("what", "which"), provenance.items()),
        categories=f"Its {len(manifest.categories)} categories: {', '.join(manifest.categories)}.",
    )


def _data_table(sources: Sequence[DataSource]) -> str:
    if not sources:
        return "Not recorded. Treat the licence of this model as unknown."
    heading = ("data", "used for", "sketches", "photos", "licence", "source")
    rows = ((s.name, s.used_for, f"{s.sketches:,}", f"{s.photos:,}", s.licence, s.link) for s in sources)
    return markdown_table(heading, rows)


def _scores_table(manifest: Manifest) -> str:
    if not manifest.scores:
        return "Nothing was measured."
    return markdown_table(("measure", "score"), ((name, f"{score:.4f}") for name, score in manifest.scores.items()))
