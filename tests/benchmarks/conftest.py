"""Ways to run the scripts, a tiny model that looks at contours, made-up search times, and clustered codes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import search
from sketchhash.model import TokenInput
from sketchhash.tokens import TokenStyle, detector
from timing import Timing

SCRIPTS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def run(model_folder, monkeypatch):
    """Return a function that runs the command of a script with the tiny model as the default one."""
    monkeypatch.setenv("SKETCHHASH_MODEL", str(model_folder))

    def invoke(script, *arguments, code=0):
        app = typer.Typer()
        app.command()(script.main)
        result = CliRunner().invoke(app, [str(each) for each in arguments])
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return invoke


@pytest.fixture
def run_process():
    """Return a function that runs a script in a process of its own."""

    def start(name, *arguments):
        command = [sys.executable, str(SCRIPTS / f"{name}.py"), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=600)

    return start


@pytest.fixture(scope="session")
def token_model_folder(make_model_folder) -> Path:
    style = TokenStyle()
    return make_model_folder(
        tokens=TokenInput(
            "gradient", detector("gradient").fingerprint, style.threshold, style.floor, style.most_ink, style.fewest
        )
    )


@pytest.fixture(scope="session")
def timed() -> Callable[..., search.SearchTimes]:
    """Return a function that makes search times from the milliseconds of each engine; a batch takes half of them."""

    def make(
        kind: str, size: int, bits: int, read: float, *, has_reference_hits: bool = True, **milliseconds: float
    ) -> search.SearchTimes:
        def result(engine: str, value: float) -> search.Result:
            is_ours = engine in ("scan", "pruned")
            return search.Result(
                engine=engine,
                build_seconds=0.25,
                load_seconds=0.5,
                nbytes=3 * 2**20,
                one=Timing(value / 1000, value / 2000, 9),
                batch_queries=1000,
                per_second=2000 / value,
                per_second_on_all_cores=4000 / value if is_ours else None,
                has_reference_hits=has_reference_hits if is_ours else None,
            )

        results = tuple(result(engine, value) for engine, value in milliseconds.items())
        return search.SearchTimes(kind, size, bits, Timing(read / 1000, read / 1000, 9), results)

    return make
