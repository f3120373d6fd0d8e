"""Two processes on one machine learn what one process learns."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sketchhash.dsh.checkpoints import read_checkpoint

# Learns in two ways, and writes what each process sees: the files it wrote, its codes and a hash of its weights.
SCRIPT = """
import json, sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

torch.set_num_threads(1)

from sketchhash.datasets import draw_split, open_dataset
from sketchhash.dsh import runs, checkpoints, training
from sketchhash.dsh.optimisation import started
from sketchhash.dsh.progress import Silent
from sketchhash.dsh.recipe import load_recipe
from sketchhash.dsh.sources import weights_hash
from sketchhash.tokens import cache as token_cache

written = []
for module in (checkpoints, token_cache):
    def write(path, content, original=module._write):
        written.append(str(path))
        original(path, content)
    module._write = write
training.words.embed = lambda categories, source, path: np.eye(len(categories), 8)

def learn(dataset, out, frozen, processes):
    written.clear()
    recipe = load_recipe("tiny")
    steps = replace(recipe.hashing, epochs=3, batch=8, learning_rate=0.01)
    # A frozen C1 is pre-trained behind its trunk alone; C2 is not, so it stays as it is for the exact comparison.
    photos, sketches = replace(steps, epochs=2, scores_first=True), replace(steps, epochs=0 if frozen else 2)
    recipe = replace(recipe, pretrain_photos=photos, pretrain_sketches=sketches, hashing=steps, frozen_trunks=frozen)
    job = runs.Job(dataset, draw_split(dataset, queries=1), recipe, bits=16)
    inputs = training.train(job, out / "run", out / "cache", Silent(), processes)
    (out / f"{processes.rank}.json").write_text(json.dumps({
        "count": processes.count,
        "written": written,
        "weights": weights_hash(inputs.network),
        "photos": inputs.photo_values(dataset.photos).tolist(),
        "sketches": inputs.sketch_values(dataset.sketches).tolist(),
    }))

dataset, out = open_dataset(Path(sys.argv[1])), Path(sys.argv[2])
with started() as processes:
    for way in ("frozen", "whole"):
        (out / way).mkdir(exist_ok=True)
        learn(dataset, out / way, way == "frozen", processes)
"""


@pytest.fixture(scope="module")
def learnt(shapes, tmp_path_factory) -> dict[int, Path]:
    """Learn in one process and in two; return the folder of each."""
    return {count: launch(tmp_path_factory.mktemp("processes"), shapes, count) for count in (1, 2)}


def launch(folder: Path, data: Path, processes: int) -> Path:
    script = folder / "script.py"
    script.write_text(SCRIPT)
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    command = [sys.executable, *(launcher if processes > 1 else []), str(script), str(data), str(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=480, check=False)
    assert ended.returncode == 0, ended.stderr
    return folder


def told(folder: Path, way: str) -> list[dict]:
    return [json.loads(path.read_text()) for path in sorted((folder / way).glob("*.json"))]


def values(process: dict) -> np.ndarray:
    return np.array(process["photos"] + process["sketches"])


def check_that_processes_agree_and_the_first_writes(first: dict, second: dict) -> None:
    assert (first["count"], second["count"]) == (2, 2)
    assert first["weights"] == second["weights"]
    np.testing.assert_array_equal(values(first), values(second))
    assert first["written"]
    # What is asked for after training, each process reads and keeps for itself: the same bytes.
    assert not [path for path in second["written"] if "/cache/sketches/" not in path]


@pytest.mark.slow
def test_two_processes_take_the_steps_of_one(learnt):
    """Behind frozen trunks nothing depends on how a batch is divided: only sums are rounded otherwise."""
    (alone,), (first, second) = (told(folder, "frozen") for folder in learnt.values())
    check_that_processes_agree_and_the_first_writes(first, second)
    np.testing.assert_allclose(values(first), values(alone), atol=1e-3)
    one, two = (folder / "frozen" / "run" for folder in learnt.values())
    assert codes(two) == codes(one)
    logs = [(run / "log.jsonl").read_text().splitlines() for run in (one, two)]
    for line, other in zip(*logs, strict=True):
        assert json.loads(line) == pytest.approx(json.loads(other), rel=1e-3)


@pytest.mark.slow
def test_two_processes_learn_nearly_what_one_learns_with_all_weights(learnt):
    """Each process normalises its half of a batch by itself and augments it in its own way: bits may differ."""
    (alone,), (first, second) = (told(folder, "whole") for folder in learnt.values())
    check_that_processes_agree_and_the_first_writes(first, second)
    assert ((values(first) >= 0) == (values(alone) >= 0)).mean() > 0.8  # by chance: 0.5
    assert any(".safetensors" in path for path in first["written"])


def codes(run: Path) -> list:
    state = read_checkpoint(run / "checkpoint.pt")
    return [state["photo_codes"].tolist(), state["sketch_codes"].tolist()]
