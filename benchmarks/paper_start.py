"""Why pre-training of the paper's C1 diverged, and what mends it.

    python benchmarks/paper_start.py --data BERLIN --out results/paper-start.json

Random convolutions turn all photos into nearly the same long vector. The script measures that, and lets the short layer
of category scores learn from it at the recipe's rate, with the convolutions held fixed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Self

import torch
import typer
from torch import Generator, Tensor, nn
from torch.nn.functional import cross_entropy

from paper_recipe import reduced
from sketchhash.datasets import Dataset, open_dataset
from sketchhash.dsh.inputs import Reader
from sketchhash.dsh.networks import PHOTO_CHANNELS, Classifier, Net, network_spec
from sketchhash.dsh.optimisation import Descent
from sketchhash.dsh.recipe import load_recipe
from sketchhash.evaluation import labels
from sketchhash.results import markdown_table
from timing import RecordFile, ShownRecord, finish, read_record, run, say

VARIANTS = ("as it was", "input and weights scaled", "and pool3 normalised")
STEPS = 100
_SHOWN = 20


@dataclass(frozen=True)
class Start:
    """A variant's pool3 before any step, and the loss of the short layer at each step.

    Attributes:
        length: Mean squared length of pool3.
        common: Squared length of its mean over all photos.
        losses: Of each batch, in order.
    """

    length: float
    common: float
    losses: Sequence[float]


def page(starts: Mapping[str, Start]) -> str:
    """Return a table of the variants."""
    rows = [
        (
            name,
            f"{start.length:,.0f}",
            f"{start.common:,.0f}",
            *(f"{loss:.2f}" for loss in _shown(start.losses)),
            f"{max(start.losses):,.1f}",
        )
        for name, start in starts.items()
    ]
    shown = _shown(range(1, STEPS + 1))
    heading = ("start", "length² of pool3", "common to all", *(f"loss at step {step}" for step in shown), "highest")
    return markdown_table(heading, rows)


def _shown(values: Sequence[Any]) -> list[Any]:
    return [values[0], *values[_SHOWN - 1 :: _SHOWN]]


def measure(dataset: Dataset) -> dict[str, Start]:
    """Let the short layer of each variant learn the photos of a dataset."""
    reader = Reader.for_network(network_spec("paper", bits=64), "gradient", Path())
    pictures, named = torch.from_numpy(reader.photos(dataset.photos)), torch.from_numpy(labels(dataset.photos))
    starts = {}
    for name in VARIANTS:
        net = _net(as_it_was=name == VARIANTS[0])
        with torch.no_grad():
            pool3 = torch.cat([net.pool3(some) for some in pictures.split(64)])
        starts[name] = Start(
            length=float(pool3.square().sum(dim=1).mean()),
            common=float(pool3.mean(dim=0).square().sum()),
            losses=_learn(net, pool3, named, is_normalised=name == VARIANTS[2]),
        )
        say(f"{name}: the loss ends at {starts[name].losses[-1]:.2f}")
    return starts


def _net(as_it_was: bool) -> Net:
    torch.manual_seed(0)
    spec = replace(network_spec("paper", bits=64), fc_a=1, fc_b=1)  # what is above pool3 is not looked at
    net = Net(spec, "paper-c1", PHOTO_CHANNELS, pretrained=False)
    if as_it_was:
        net.backbone = replace(net.backbone, scale=1.0)
        for layer in net.trunk.children():
            if isinstance(layer, nn.Conv2d) and layer.bias is not None:
                nn.init.normal_(layer.weight, std=0.01)
                nn.init.constant_(layer.bias, 1.0 if layer.groups == 2 else 0.0)
    return net


def _learn(net: Net, pool3: Tensor, named: Tensor, is_normalised: bool) -> list[float]:
    steps = replace(load_recipe("paper").pretrain_photos, epochs=1, longest_gradient=0.0)  # the bare layer
    classifier = Classifier(net, int(named.max()) + 1, normalised_short=is_normalised)
    generator = Generator().manual_seed(0)
    batches = [torch.randint(len(named), (steps.batch,), generator=generator) for _ in range(STEPS)]
    losses: list[float] = []

    def loss(rows: Tensor) -> Tensor:
        value = cross_entropy(classifier.short_logits(pool3[rows]), named[rows])
        losses.append(float(value.detach()))
        return value

    Descent(classifier, steps).epoch(0, batches, loss, lambda: None)
    return losses


@dataclass(frozen=True)
class Record:
    """What was measured, on how many photos."""

    photos: int
    starts: Mapping[str, Start]

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        """Parse a record."""
        return cls(record["photos"], {name: Start(**start) for name, start in record["starts"].items()})


def main(
    data: Annotated[Path | None, typer.Option(metavar="DIR", help="A dataset's folder.")] = None,
    photos: Annotated[int, typer.Option(min=1, help="Photos a category, at most.")] = 3,
    out: RecordFile = None,
    show: ShownRecord = None,
) -> None:
    """Measure why pre-training of the paper's C1 diverged, and that its short layer learns now."""
    if show is not None:
        typer.echo(page(read_record(show, Record.from_record).starts))
        return
    if data is None:
        raise typer.BadParameter("name a dataset's folder", param_hint="--data")
    dataset = reduced(open_dataset(data), photos, sketches=1)
    record = Record(len(dataset.photos), measure(dataset))
    finish(page(record.starts), asdict(record), out)


if __name__ == "__main__":
    run(main)
