"""What is trained, and the folder its training lives in.

run.json         what was asked for: recipe, bits, seed, data, versions
split.json       who trains, who asks and who is searched
log.jsonl        a line an epoch: the loss, every term of the objective, and how many distinct codes there are
checkpoint.pt    networks, optimiser and codes after the last finished epoch
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from math import nan
from pathlib import Path
from typing import Any

from sketchhash.codes import MAX_BITS
from sketchhash.datasets import Dataset, Split
from sketchhash.dsh.checkpoints import read_checkpoint, write_checkpoint, write_text
from sketchhash.dsh.networks import HashNetwork, build_network
from sketchhash.dsh.optimisation import Processes
from sketchhash.dsh.recipe import Recipe, parse_recipe
from sketchhash.errors import BadArgument, require
from sketchhash.model import read_manifest

_NEXT_REPEAT = 7919  # far from the seeds that people give
_PACKAGES = ("numpy", "pillow", "sketchhash", "torch")


@dataclass(frozen=True)
class Job:
    """What to train, and on what.

    A ``repeat`` above 0 is the same job with other random numbers in Algorithm 1 alone: it starts from the same split
    and the same pre-trained nets. With ``start``, a model folder, C2 learns on from that model's sketch net. With
    ``keep_pixels``, pixels of photos are kept on disk (`pixels`), which changes nothing but the time it takes.
    """

    dataset: Dataset
    split: Split
    recipe: Recipe
    bits: int
    seed: int = 0
    repeat: int = 0
    start: Path | None = None
    keep_pixels: bool = False

    def __post_init__(self) -> None:
        """Refuse a code length that cannot be packed into bytes."""
        if self.bits not in range(8, MAX_BITS + 1, 8):
            raise BadArgument(f"bits must be a multiple of 8 up to {MAX_BITS}, not {self.bits}.")

    @property
    def hashing_seed(self) -> int:
        """Seed the codes and the epochs of Algorithm 1."""
        return self.seed + _NEXT_REPEAT * self.repeat

    def network(self, pretrained: bool = True) -> HashNetwork:
        """Build the network that is to be trained; trunks start from published weights when ``pretrained``."""
        return build_network(self.recipe.network_spec(self.bits), self.seed, pretrained)

    def facts(self) -> dict[str, object]:
        """Describe the job for its run record."""
        return {
            "recipe": {**asdict(self.recipe), "hash": self.recipe.hash},
            "bits": self.bits,
            "seed": self.seed,
            "repeat": self.repeat,
            "dataset": self.dataset.name,
            "data_hash": self.split.inventory,
            "split_hash": self.split.hash,
            "versions": {package: version(package) for package in _PACKAGES},
            **({} if self.start is None else {"start": read_manifest(self.start).fingerprint}),
        }


class Run:
    """The folder of a run."""

    def __init__(self, folder: Path, job: Job, network: HashNetwork) -> None:
        """Name the folder; nothing is written yet."""
        self.folder, self.job = folder, job
        self.history: list[dict[str, float]] = []
        self._bytes = sum(tensor.nbytes for tensor in network.state_dict().values())

    @property
    def checkpoint(self) -> Path:
        """Where the state after the last epoch is."""
        return self.folder / "checkpoint.pt"

    def open(self, resume: bool, processes: Processes) -> None:
        """Begin a new run, or make sure that the one in the folder is the one to go on with."""
        record = self.folder / "run.json"
        text = json.dumps(self.job.facts(), indent=2, ensure_ascii=False) + "\n"
        if resume:
            if not record.exists():
                raise BadArgument(f"{self.folder} holds no run to resume. Leave --resume out to begin one.")
            if _deciding(record.read_text(encoding="utf-8")) != _deciding(text):
                raise BadArgument(
                    f"The run in {self.folder} was begun with other settings, data or versions than these "
                    "(see its run.json). Give the same ones, or another --out."
                )
            return
        if record.exists() or self.checkpoint.exists():
            raise BadArgument(
                f"{self.folder} already holds a run. Add --resume to go on with it, or give another --out."
            )
        self._check_room()
        processes.wait()  # until all have looked
        if processes.is_first:
            self.folder.mkdir(parents=True, exist_ok=True)
            self.job.split.write(self.folder / "split.json")
            write_text(record, text)

    def keep(self, state: Mapping[str, object], entry: dict[str, float]) -> None:
        """Keep the state after an epoch, and its line of the log."""
        self.history.append(entry)
        # The log first: killed in between, the resumed run repeats this epoch and writes the same line again.
        write_text(self.folder / "log.jsonl", "".join(json.dumps(line) + "\n" for line in self.history))
        write_checkpoint(self.checkpoint, {**state, "history": self.history})

    def last_state(self) -> dict[str, Any] | None:
        """Return the state after the last finished epoch, if there is one."""
        if not self.checkpoint.exists():
            return None
        state = read_checkpoint(self.checkpoint)
        self.history = state.pop("history")
        return state

    def _check_room(self) -> None:
        """Refuse a disk that two checkpoints do not fit on: the old one stays until the new one is whole."""
        needed = 6 * self._bytes  # each holds the weights and the optimiser's two moments
        there = next(place for place in (self.folder, *self.folder.absolute().parents) if place.exists())
        free = shutil.disk_usage(there).free
        if free < needed:
            raise BadArgument(
                f"{there} has {free / 1e6:.0f} MB free; a run of this network needs {needed / 1e6:.0f} MB."
            )


def reopen(folder: Path, dataset: Dataset) -> tuple[Job, HashNetwork]:
    """Return the job of a run on ``dataset``, and its network as the last finished epoch left it."""
    record, checkpoint = folder / "run.json", folder / "checkpoint.pt"
    if not record.exists() or not checkpoint.exists():
        raise BadArgument(f"{folder} holds no run with a finished epoch. Train one with: sketchhash train")
    facts = json.loads(record.read_text(encoding="utf-8"))
    recipe = parse_recipe({key: value for key, value in facts["recipe"].items() if key != "hash"})
    job = Job(dataset, Split.read(folder / "split.json"), recipe, facts["bits"], facts["seed"], facts["repeat"])
    job.split.apply(dataset)  # refuses another dataset than the run's
    network = job.network(pretrained=False)
    network.load_state_dict(read_checkpoint(checkpoint)["weights"])
    return job, network


def write_scores(folder: Path, scores: Mapping[str, float]) -> None:
    """Keep what a run's networks reach."""
    write_text(folder / "scores.json", json.dumps(dict(scores), indent=2) + "\n")


def read_scores(folder: Path) -> dict[str, float]:
    """Return the scores of a run's networks; nothing if that was not measured."""
    path = folder / "scores.json"
    scores: dict[str, float] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return scores


def _deciding(record: str) -> dict[str, object]:
    """Return what a run record says, and of its recipe only the hash: names and fields added later decide nothing."""
    try:
        facts = json.loads(record)
        return {**facts, "recipe": facts["recipe"]["hash"]}
    except (ValueError, KeyError, TypeError):
        return {}  # damaged: equal to no run's record


_TERMS = {
    "pairwise": "pairwise, Eq. 1",
    "semantic_photos": "semantic, photos, Eq. 2",
    "semantic_sketches": "semantic, sketches, Eq. 2",
    "basis": "size of the basis, ||D||²",
    "quantisation_photos": "quantisation, photos",
    "quantisation_sketches": "quantisation, sketches",
    "total": "whole objective J, Eq. 4",
}


def draw_log(run: Path) -> Path:
    """Draw every term of the objective over the epochs of a run, from its log, and return the picture's path."""
    require("matplotlib", "train")
    from matplotlib.figure import Figure

    lines = [json.loads(line) for line in (run / "log.jsonl").read_text(encoding="utf-8").splitlines()]
    epochs = [line["epoch"] for line in lines]
    figure = Figure(figsize=(13, 5), layout="constrained")
    *panels, unused = figure.subplots(2, 4).flat
    unused.set_axis_off()
    for axes, (term, title) in zip(panels, _TERMS.items(), strict=True):
        values = [line.get(term, nan) for line in lines]  # a log begun before a term was added has none of it
        axes.plot(epochs, values, marker=".", color="tab:blue")
        axes.set_title(title, fontsize=10)
        axes.set_xlabel("epoch")
        axes.ticklabel_format(axis="y", useOffset=False)
        axes.grid(alpha=0.3)
    path = run / "objective.png"
    figure.savefig(path, dpi=110)
    return path
