"""What a training would take with as much data as the paper's: time and memory on a card of a given speed.

    python benchmarks/full_size.py --recipe paper --teraflops 10 --out results/full-size.json

Nothing is trained. The networks' operations and memory are counted on tensors without content; what the processor does
is measured on this machine, with photos and sketches of the synthetic world: finding contours, reading batches as
training reads them for a card, which augments them itself, from files and from kept pixels, and one round of code
learning at full size. Files are in the memory of the system when they are read.

Pictures are counted by the second of the clock and by the second of processor time. Hours are of the latter, on all
cores: what else runs on this machine does not change it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from typing import Annotated, Any, Self

import torch
import typer
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

import codes
from sketchhash.datasets import open_dataset, synthetic
from sketchhash.dsh.inputs import NetworkInputs
from sketchhash.dsh.networks import INK_CHANNELS, PHOTO_CHANNELS, HashNetwork, build_network, network_spec
from sketchhash.dsh.progress import Silent
from sketchhash.dsh.recipe import Recipe, Steps, load_recipe
from sketchhash.dsh.sources import Source
from sketchhash.results import markdown_table
from timing import RecordFile, ShownRecord, finish, read_record, run, say

_BACKWARD = 3  # a step of learning, in forward passes
_FLOAT = 4
_TIMES = 3  # that pictures are read
_COPIES = {"sgd": 3, "adamw": 4}  # of each weight on the card: itself, its gradient, what the optimiser keeps


@dataclass(frozen=True)
class Networks:
    """Operations of one picture in thousand millions (a multiplication and an addition are two), and bytes.

    Attributes:
        photo: Operations of C1's trunk and its layers on a photo with its token map.
        ink: Operations of C2 on a sketch or a token map.
        weights: Bytes of all weights.
        activations: Bytes that a photo, its token map and a sketch leave behind for the backward pass.
    """

    photo: float
    ink: float
    weights: int
    activations: int


@dataclass(frozen=True)
class Rate:
    """Pictures a second of the clock, as busy as the machine was, and a second of processor time."""

    clock: float
    processor: float


@dataclass(frozen=True)
class Speeds:
    """What this machine does.

    Attributes:
        cores: How many it has.
        contours: Photos whose contours are found.
        photos: Photos that are read from files.
        tokens: Token maps that are read from the cache.
        sketches: Sketches, once they have been brought into their normal form.
        kept_photos: Photos that are read from kept pixels.
        kept_tokens: Token maps that are read from kept pixels.
        code_seconds: Seconds of a round of code learning at full size.
        code_bytes: Its peak memory.
    """

    cores: int
    contours: Rate
    photos: Rate
    tokens: Rate
    sketches: Rate
    kept_photos: Rate
    kept_tokens: Rate
    code_seconds: float
    code_bytes: int

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Parse a part of a record."""
        fields: dict[str, Any] = {
            name: Rate(**value) if isinstance(value, dict) else value for name, value in record.items()
        }
        return cls(**fields)

    def seconds(self, rate: Rate, pictures: int) -> float:
        """Return how long all cores take for some pictures."""
        return pictures / (rate.processor * self.cores)


@dataclass(frozen=True)
class Plan:
    """All that was counted and measured, and for what."""

    recipe: str
    size: codes.Size
    teraflops: float
    share: float
    batch: int
    epochs: dict[str, int]
    rounds: int
    copies: int
    networks: Networks
    speeds: Speeds

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Parse a record."""
        names = ("recipe", "teraflops", "share", "batch", "epochs", "rounds", "copies")
        return cls(
            **{name: record[name] for name in names},
            size=codes.Size(**record["size"]),
            networks=Networks(**record["networks"]),
            speeds=Speeds.from_record(record["speeds"]),
        )

    def stages(self) -> list[tuple[str, float, float, float]]:
        """Name each stage with seconds of the card, and of this machine's cores: from files, and from kept pixels."""
        photos, sketches, nets, speeds = self.size.photos, self.size.sketches, self.networks, self.speeds
        files, kept = (
            (speeds.seconds(of_photos, photos), speeds.seconds(of_tokens, photos))
            for of_photos, of_tokens in ((speeds.photos, speeds.tokens), (speeds.kept_photos, speeds.kept_tokens))
        )
        ink = speeds.seconds(speeds.sketches, sketches)
        contours = speeds.seconds(speeds.contours, photos)
        codes_seconds = self.epochs["hashing"] * self.rounds * speeds.code_seconds
        pretraining = self.epochs["pretrain_photos"]
        # An epoch of Algorithm 1 first computes the values of everything, then learns from everything.
        passes = self.epochs["hashing"] * (1 + _BACKWARD)
        readings = 2 * self.epochs["hashing"]
        return [
            ("contours, once", 0.0, contours, contours),
            ("keeping pixels, once", 0.0, 0.0, sum(files)),
            (
                "pre-training of C1",
                self._card(_BACKWARD * pretraining * photos * (nets.photo - nets.ink)),
                pretraining * files[0],
                pretraining * kept[0],
            ),
            (
                "pre-training of C2",
                self._card(_BACKWARD * self.epochs["pretrain_sketches"] * sketches * nets.ink),
                self.epochs["pretrain_sketches"] * ink,
                self.epochs["pretrain_sketches"] * ink,
            ),
            (
                "Algorithm 1, networks",
                self._card(passes * (photos * nets.photo + sketches * nets.ink)),
                readings * (sum(files) + ink),
                readings * (sum(kept) + ink),
            ),
            ("Algorithm 1, codes", 0.0, codes_seconds, codes_seconds),
        ]

    def card_bytes(self) -> int:
        """Return the memory of weights, their copies and a batch's activations."""
        return self.copies * self.networks.weights + self.batch * self.networks.activations

    def _card(self, operations: float) -> float:
        return operations * 1e9 / (self.teraflops * 1e12 * self.share)


def page(plan: Plan) -> str:
    """Return the stages and the memory as Markdown."""
    times = [(name, card, files, kept, max(card, files), max(card, kept)) for name, card, files, kept in plan.stages()]
    rows = [(name, *map(_hours, seconds)) for name, *seconds in times]
    rows.append(("all", *(_hours(sum(column)) for column in list(zip(*times, strict=True))[1:])))
    columns = ("stage", "card", "machine, files", "machine, kept pixels", "slower, files", "slower, kept pixels")
    table = markdown_table(columns, rows)
    size, speeds = plan.size, plan.speeds
    text = (
        f"Recipe {plan.recipe}, {size.photos:,} photos, {size.sketches:,} sketches of {size.classes} categories, "
        f"{size.bits} bits; a card of {plan.teraflops:g} TFLOPS, of which {plan.share:.0%} are used, and which "
        f"augments pictures beside. This machine has {speeds.cores} cores, all of them for this; where it is the "
        "slower one, a card waits for it."
    )
    read = [
        ("photos, from files", speeds.photos),
        ("token maps, from the cache", speeds.tokens),
        ("sketches", speeds.sketches),
        ("photos, kept pixels", speeds.kept_photos),
        ("token maps, kept pixels", speeds.kept_tokens),
    ]
    rates = markdown_table(
        ("read, not augmented", "a second of one core", "a second of the clock"),
        [(name, f"{rate.processor:,.0f}", f"{rate.clock:,.0f}") for name, rate in read],
    )
    memory = (
        f"Memory: {plan.card_bytes() / 1e9:.1f} GB on the card with batches of {plan.batch}, "
        f"{speeds.code_bytes / 1e9:.1f} GB of the machine while codes are learned. A photo with its token map takes "
        f"{plan.networks.photo:.2f} thousand million operations, a sketch {plan.networks.ink:.2f}."
    )
    return f"{table}\n\n{text}\n\n{rates}\n\n{memory}"


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:.2f} h"


def count(size: str, bits: int) -> Networks:
    """Count the operations and bytes of a network on tensors without content."""
    spec = network_spec(size, bits)
    with torch.device("meta"):
        network = HashNetwork(spec)
        photo = torch.empty(1, PHOTO_CHANNELS, spec.photo_side, spec.photo_side)
        ink = torch.empty(1, INK_CHANNELS, spec.ink_side, spec.ink_side)
        network.eval()
        photo_operations = _operations(lambda: network.encode_photos(photo, ink))
        ink_operations = _operations(lambda: network.encode_sketches(ink))
        outputs = _outputs(network, lambda: network(photo, ink, ink))
    weights = _FLOAT * sum(each.numel() for each in network.parameters())
    return Networks(photo_operations, ink_operations, weights, _FLOAT * outputs)


def _operations(call: Callable[[], Tensor]) -> float:
    with FlopCounterMode(display=False) as counter:
        call()
    return float(counter.get_total_flops()) / 1e9


def _outputs(network: nn.Module, call: Callable[[], object]) -> int:
    """Count the numbers that the layers put out in a call: about what a backward pass needs."""
    total = 0

    def add(layer: nn.Module, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        nonlocal total
        total += 0 if getattr(layer, "inplace", False) else output.numel()

    layers = [layer for layer in network.modules() if not list(layer.children())]
    hooks = [layer.register_forward_hook(add) for layer in layers]
    call()
    for hook in hooks:
        hook.remove()
    return total


def measure(recipe: Recipe, size: codes.Size, pictures: int, batch: int) -> Speeds:
    """Measure contours, reading and a round of code learning on all cores."""
    network = build_network(network_spec(recipe.size, size.bits, recipe.branches), seed=0, pretrained=False)
    with TemporaryDirectory() as name:
        each = max(1, pictures // len(synthetic.CATEGORIES))
        for _ in synthetic.write(Path(name, "world"), synthetic.load(each, each, seed=0)):
            pass
        dataset = open_dataset(Path(name, "world"))
        files, kept = (
            NetworkInputs(dataset, network, recipe, 0, Path(name, "cache"), Silent(), keep_pixels)
            for keep_pixels in (False, True)
        )
        say(f"Finding contours of {len(dataset.photos)} photos ...")
        contours = _rate(files.prepare_photos, len(dataset.photos))
        kept.prepare_photos()
        say("Reading batches ...")
        photos, tokens, kept_photos, kept_tokens = (
            _reading(source, len(dataset.photos), batch)
            for inputs in (files, kept)
            for source in (inputs.photos(dataset.photos), inputs.tokens(dataset.photos))
        )
        sketches = _reading(files.sketches(dataset.sketches), len(dataset.sketches), batch)
    say(f"One round of code learning for {size.photos:,} photos and {size.sketches:,} sketches ...")
    learned = codes.measure(size)
    rates = (contours, photos, tokens, sketches, kept_photos, kept_tokens)
    return Speeds(os.cpu_count() or 1, *rates, learned.seconds, learned.peak_bytes)


def _reading(source: Source, count: int, batch: int) -> Rate:
    """Return how many pictures a second a source gives, as they are, after a first time that does not count."""
    parts = torch.arange(count).split(batch)

    def read() -> None:
        for _ in range(_TIMES):
            for rows in parts:
                source.batch(rows, None)

    source.batch(torch.arange(count), None)
    return _rate(read, _TIMES * count)


def _rate(work: Callable[[], object], count: int) -> Rate:
    clock, processor = perf_counter(), process_time()
    work()
    return Rate(count / (perf_counter() - clock), count / (process_time() - processor))


def main(
    recipe: Annotated[str, typer.Option(help="A recipe that trains all weights.")] = "paper",
    photos: Annotated[int, typer.Option(min=1, help="Photos to train on.")] = codes.TU_BERLIN.photos,
    sketches: Annotated[int, typer.Option(min=1, help="Sketches to train on.")] = codes.TU_BERLIN.sketches,
    categories: Annotated[int, typer.Option(min=2, help="Their categories.")] = codes.TU_BERLIN.classes,
    bits: Annotated[int, typer.Option(min=8, help="The length of the codes.")] = codes.TU_BERLIN.bits,
    teraflops: Annotated[float, typer.Option(min=0.001, help="The card's speed, in TFLOPS.")] = 10.0,
    share: Annotated[float, typer.Option(min=0.01, max=1, help="The share of it that training uses.")] = 0.3,
    pictures: Annotated[int, typer.Option(min=1, help="Photos and sketches to measure this machine with.")] = 1000,
    show: ShownRecord = None,
    out: RecordFile = None,
) -> None:
    """Say what a training would take at the size of the paper's data, without training."""
    if show is not None:
        typer.echo(page(read_record(show, Plan.from_record)))
        return
    chosen = load_recipe(recipe)
    if chosen.frozen_trunks:
        raise typer.BadParameter(
            f"{recipe} keeps its trunks frozen; name one that trains all weights", param_hint="--recipe"
        )
    size = codes.Size(photos, sketches, bits, categories)
    stages: dict[str, Steps] = {
        name: getattr(chosen, name) for name in ("pretrain_photos", "pretrain_sketches", "hashing")
    }
    plan = Plan(
        chosen.name,
        size,
        teraflops,
        share,
        chosen.hashing.batch,
        {name: steps.epochs for name, steps in stages.items()},
        chosen.objective.rounds,
        _COPIES[chosen.hashing.optimiser],
        count(chosen.size, bits),
        measure(chosen, size, pictures, chosen.hashing.batch),
    )
    finish(page(plan), asdict(plan), out)


if __name__ == "__main__":
    run(main)
