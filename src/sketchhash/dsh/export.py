"""From a trained network to a model folder: two ONNX graphs that take raw pixels, a manifest and a card.

Half-precision graphs store large weights in 16 bits, each followed by a cast to 32. onnxruntime computes what depends
on constants alone while it loads, so the graph runs as fast as before and in the same arithmetic; only the rounding of
the weights remains.

A run describes its data and protocol on the card by itself. What only its maker can add is a TOML file: a
``summary``, ``limits``, and for every dataset by name what it really is::

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
from copy import deepcopy
from dataclasses import dataclass, field
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import ModelProto, NodeProto, TensorProto, helper, numpy_helper
from torch import Tensor, nn

from sketchhash.datasets import Partition, Split, collection
from sketchhash.dsh.networks import HashNetwork, Net
from sketchhash.dsh.runs import Job
from sketchhash.dsh.tracing import trace
from sketchhash.errors import BadArgument
from sketchhash.imaging import InkStyle
from sketchhash.model import (
    CardFacts,
    DataSource,
    InkInput,
    MadeWith,
    Manifest,
    Model,
    PhotoInput,
    TokenInput,
    model_card,
    write_model,
)
from sketchhash.model.card import NOTHING_KEPT_OUT
from sketchhash.model.manifest import TOKEN_WEIGHTS
from sketchhash.tokens import WEIGHTS, WORKING_SIDE, TokenStyle, detector

_PACKAGES = ("numpy", "onnx", "onnxruntime", "onnxscript", "pillow", "torch")


class Weights(StrEnum):
    """How the graphs store their weights; both kinds compute in ``float32``, at the same speed."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"


# Measured, not proved. The largest difference from torch's values was 1e-6 and 1e-3 in tiny networks fitted to a
# few pictures. Where random layers were only scaled to give values about 1 in size it was 5e-5 and up to 9e-2.
SIGN_MARGIN: Mapping[Weights, float] = {Weights.FLOAT32: 1e-4, Weights.FLOAT16: 2e-2}
"""How far from zero a value of a trained network, about 1 in size, is expected to keep the sign torch gives."""


def export_model(
    network: HashNetwork,
    job: Job,
    folder: Path,
    facts: CardFacts,
    scores: Mapping[str, float],
    weights: Weights = Weights.FLOAT32,
) -> Model:
    """Write the model folder and open it, which proves that it can be opened; the network stays as it is."""
    network = deepcopy(network).cpu().eval()
    manifest = _manifest(network, job, folder.resolve().name, scores)
    image, sketch = (_trace(view, weights) for view in (_ImageView(network), _SketchView(network)))
    card = model_card(manifest, facts)
    write_model(folder, manifest, image_onnx=image, sketch_onnx=sketch, card=card, extra_files=_weights(manifest))
    return Model.load(folder)


class _View(nn.Module):
    """A network as a model folder shows it; ``inputs`` are the shapes of one row, by name."""

    inputs: dict[str, tuple[int, ...]]

    def __init__(self, network: HashNetwork) -> None:
        super().__init__()
        self.network = network


class _ImageView(_View):
    """Takes photos, their token maps or both: an input that the network does not look at does not exist."""

    def __init__(self, network: HashNetwork) -> None:
        super().__init__(network)
        spec, self.inputs = network.spec, {}
        if spec.branches.has_photos:
            self.inputs["photos"] = (spec.photo_side, spec.photo_side, 3)
        if spec.branches.has_tokens:
            self.inputs["tokens"] = (spec.ink_side, spec.ink_side)

    def forward(self, photos: Tensor | None = None, tokens: Tensor | None = None) -> Tensor:
        absent = torch.empty(0)
        photo_pool3 = absent if photos is None else self.network.photo_features(photos.permute(0, 3, 1, 2))
        token_pool3 = absent if tokens is None else self.network.token_features(tokens.unsqueeze(1))
        return self.network.photo_values(photo_pool3, token_pool3)


class _SketchView(_View):
    def __init__(self, network: HashNetwork) -> None:
        super().__init__(network)
        self.inputs = {"sketches": (network.spec.ink_side, network.spec.ink_side)}

    def forward(self, sketches: Tensor) -> Tensor:
        return self.network.encode_sketches(sketches.unsqueeze(1))


def _trace(view: _View, weights: Weights) -> bytes:
    """Return a graph from ``uint8`` pixels to ``values``."""
    examples = {name: torch.zeros(2, *shape, dtype=torch.uint8) for name, shape in view.inputs.items()}
    traced = trace(view, examples, "values")
    return halve(traced) if weights is Weights.FLOAT16 else traced


def _manifest(network: HashNetwork, job: Job, name: str, scores: Mapping[str, float]) -> Manifest:
    spec, ink, backbone = network.spec, InkStyle(), network.c2.backbone
    return Manifest(
        name=name,
        bits=spec.bits,
        categories=_taught(job),
        photos=_photo_input(network.c1, spec.photo_side) if network.c1 is not None else None,
        ink=InkInput(spec.ink_side, backbone.offset, backbone.scale, ink.line_width, ink.margin),
        tokens=_token_input(job.recipe.detector) if spec.branches.has_tokens else None,
        made_with=MadeWith(
            sketchhash=version("sketchhash"),
            recipe=job.recipe.name,
            recipe_sha256=job.recipe.hash,
            seed=job.seed,
            data_sha256=job.split.inventory,
            packages={package: version(package) for package in _PACKAGES},
        ),
        scores=dict(scores),
    )


def _taught(job: Job) -> tuple[str, ...]:
    """Name the categories that the model has seen both drawn and photographed."""
    parts = job.split.apply(job.dataset)
    drawn, shown = ({item.label for item in items} for items in (parts.training_sketches, parts.training_photos))
    return tuple(job.dataset.categories[label] for label in sorted(drawn & shown))


def _photo_input(net: Net, side: int) -> PhotoInput:
    offset, scale = net.backbone.offset, net.backbone.scale
    return PhotoInput(side, (offset, offset, offset), (scale, scale, scale), decoded=max(WORKING_SIDE, side))


def _weights(manifest: Manifest) -> dict[str, bytes]:
    """Return the weights of a learned token detector: without them the folder could not be used elsewhere."""
    source = WEIGHTS.get(manifest.tokens.detector) if manifest.tokens else None
    return {TOKEN_WEIGHTS: source.read_bytes()} if source else {}


def _token_input(name: str) -> TokenInput:
    style = TokenStyle()
    return TokenInput(
        detector=name,
        fingerprint=detector(name).fingerprint,
        threshold=style.threshold,
        floor=style.floor,
        most_ink=style.most_ink,
        fewest=style.fewest,
    )


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
    protocol = _protocol(parts, split) if split.query_sketches else NOTHING_KEPT_OUT
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


def _protocol(parts: Partition, split: Split) -> str:
    """Say what searched what when the model was measured."""
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
    return protocol


# Smaller tensors (biases, shapes) are too few bytes to be worth rounding.
_FEWEST_WEIGHTS = 1024
_LARGEST_HALF = float(np.finfo(np.float16).max)


def halve(graph: bytes) -> bytes:
    """Return an ONNX graph that stores its large ``float32`` weights as ``float16``.

    A tensor with a weight too large for ``float16`` stays as it is.
    """
    model: ModelProto = onnx.load_model_from_string(graph)
    casts = [_halve_in_place(weights) for weights in model.graph.initializer if _can_be_halved(weights)]
    nodes = [*casts, *model.graph.node]
    model.graph.ClearField("node")
    model.graph.node.extend(nodes)
    halved: bytes = model.SerializeToString()
    return halved


def _can_be_halved(weights: TensorProto) -> bool:
    if weights.data_type != TensorProto.FLOAT or np.prod(weights.dims) < _FEWEST_WEIGHTS:
        return False
    return bool(np.abs(numpy_helper.to_array(weights)).max() <= _LARGEST_HALF)


def _halve_in_place(weights: TensorProto) -> NodeProto:
    """Store the weights under another name, and return the cast that restores them under their own."""
    name, stored = weights.name, f"{weights.name}.half"
    weights.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(weights).astype(np.float16), stored))
    return helper.make_node("Cast", [stored], [name], name=f"{name}.widen", to=TensorProto.FLOAT)
