"""Two processes on one machine learn what one process learns."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from sketchhash.dsh.checkpoints import read_checkpoint

# Writes what each process sees: the files it wrote, its codes and a hash of its weights.
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

data, out, frozen = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3] == "frozen"
written = []
for module in (checkpoints, token_cache):
    def write(path, content, original=module._write):
        written.append(str(path))
        original(path, content)
    module._write = write
training.words.embed = lambda categories, source, path: np.eye(len(categories), 8)

recipe = load_recipe("tiny")
steps = replace(recipe.hashing, epochs=3, batch=8, learning_rate=0.01)
# A frozen C1 is pre-trained behind its trunk alone; C2 is not, so it stays as it is for the exact comparison.
photos, sketches = replace(steps, epochs=2, scores_first=True), replace(steps, epochs=0 if frozen else 2)
recipe = replace(recipe, pretrain_photos=photos, pretrain_sketches=sketches, hashing=steps, frozen_trunks=frozen)
dataset = open_dataset(data)
job = runs.Job(dataset, draw_split(dataset, queries=1), recipe, bits=16)
with started() as processes:
    inputs = training.train(job, out / "run", out / "cache", Silent(), processes)
    (out / f"{processes.rank}.json").write_text(json.dumps({
        "count": processes.count,
        "written": written,
        "weights": weights_hash(inputs.network),
        "photos": inputs.photo_values(dataset.photos).tolist(),
        "sketches": inputs.sketch_values(dataset.sketches).tolist(),
    }))
"""


def launch(folder: Path, data: Path, processes: int, mode: str) -> list[dict]:
    folder.mkdir()
    script = folder / "script.py"
    script.write_text(SCRIPT)
    launcher = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    command = [sys.executable, *(launcher if processes > 1 else []), str(script), str(data), str(folder)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    ended = subprocess.run([*command, mode], env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert ended.returncode == 0, ended.stderr
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(processes)]


def values(told: dict) -> np.ndarray:
    return np.array(told["photos"] + told["sketches"])


def check_that_processes_agree_and_the_first_writes(first: dict, second: dict) -> None:
    assert (first["count"], second["count"]) == (2, 2)
    assert first["weights"] == second["weights"]
    np.testing.assert_array_equal(values(first), values(second))
    assert first["written"]
    # What is asked for after training, each process reads and keeps for itself: the same bytes.
    assert not [path for path in second["written"] if "/cache/sketches/" not in path]


@pytest.mark.slow
def test_two_processes_take_the_steps_of_one(shapes, tmp_path):
    """Behind frozen trunks nothing depends on how a batch is divided: only sums are rounded otherwise."""
    (alone,) = launch(tmp_path / "one", shapes, 1, "frozen")
    first, second = launch(tmp_path / "two", shapes, 2, "frozen")
    check_that_processes_agree_and_the_first_writes(first, second)
    np.testing.assert_allclose(values(first), values(alone), atol=1e-3)
    assert codes(tmp_path / "two") == codes(tmp_path / "one")
    logs = [(tmp_path / name / "run" / "log.jsonl").read_text().splitlines() for name in ("one", "two")]
    for one, two in zip(*logs, strict=True):
        assert json.loads(one) == pytest.approx(json.loads(two), rel=1e-3)


@pytest.mark.slow
def test_two_processes_learn_nearly_what_one_learns_with_all_weights(shapes, tmp_path):
    """Each process normalises its half of a batch by itself and augments it in its own way: bits may differ."""
    (alone,) = launch(tmp_path / "one", shapes, 1, "whole")
    first, second = launch(tmp_path / "two", shapes, 2, "whole")
    check_that_processes_agree_and_the_first_writes(first, second)
    assert ((values(first) >= 0) == (values(alone) >= 0)).mean() > 0.8  # by chance: 0.5
    assert any(".safetensors" in path for path in first["written"])


def codes(folder: Path) -> list:
    state = read_checkpoint(folder / "run" / "checkpoint.pt")
    return [state["photo_codes"].tolist(), state["sketch_codes"].tolist()]
