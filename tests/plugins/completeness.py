"""Fail a run of the whole suite that left something out.

Every verb of the command line must be run by some test in its own process. With ``--nothing-missing``, as in CI, no
test may be skipped because a program, a package or a kernel is missing: only for the reasons listed here.
"""

from __future__ import annotations

import inspect
import re
import shutil
from collections.abc import Iterable, Iterator

import pytest
import typer
from typer.core import TyperCommand

from sketchhash.cli import app

GOOD_REASONS = (
    r"\broot\b|on this processor|on Windows|always have a desktop|has no IPv6|no pipes here|needs more pictures"
    r"|libtiff itself|efficientnet_lite_pytorch"
)

_functions_run: set[str] = set()
_skips: set[str] = set()
_invoke = TyperCommand.invoke


def verbs(command=None, name: str = "") -> Iterator[tuple[str, str]]:
    """Yield every verb in full, such as ``gallery copy``, and the function that it runs."""
    command = command or typer.main.get_command(app)
    if children := getattr(command, "commands", None):
        for child, below in children.items():
            yield from verbs(below, f"{name} {child}".strip())
    else:
        yield name, _function(command)


def never_run(run: Iterable[str]) -> list[str]:
    """Return the verbs whose functions are not among those that were run."""
    done = set(run)
    return sorted(verb for verb, function in verbs() if function not in done)


def skipped_for_want(skips: Iterable[str]) -> list[str]:
    """Return the skips whose reason could be mended by installing something."""
    good = f"{GOOD_REASONS}|by tsc|onnxruntime-web" if shutil.which("npm") is None else GOOD_REASONS
    return sorted(skip for skip in skips if not re.search(good, skip))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--nothing-missing", action="store_true", help="Fail if a test misses what it needs.")


def pytest_configure(config: pytest.Config) -> None:
    def recording(command, ctx):
        _functions_run.add(_function(command))
        return _invoke(command, ctx)

    TyperCommand.invoke = recording


def pytest_unconfigure() -> None:
    TyperCommand.invoke = _invoke


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _note_skip(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    _note_skip(report)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node, error) -> None:
    """Collect what a worker of pytest-xdist has seen."""
    seen = getattr(node, "workeroutput", {})
    _functions_run.update(seen.get("functions", ()))
    _skips.update(seen.get("skips", ()))


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput.update(functions=sorted(_functions_run), skips=sorted(_skips))
    elif session.exitstatus == pytest.ExitCode.OK and any(_complaints(session.config).values()):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    for heading, lines in _complaints(config).items():
        if lines:
            terminalreporter.section(heading, red=True)
            terminalreporter.line("\n".join(lines))


def _complaints(config: pytest.Config) -> dict[str, list[str]]:
    return {
        "verbs that no test has run": never_run(_functions_run) if _is_whole_suite(config) else [],
        "skipped for want of something": skipped_for_want(_skips) if config.option.nothing_missing else [],
    }


def _function(command: TyperCommand) -> str:
    """Name the function of a command: tests also run verbs in applications of their own."""
    function = inspect.unwrap(command.callback)
    return f"{function.__module__}.{function.__qualname__}"


def _note_skip(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.skipped and isinstance(report.longrepr, tuple):
        _skips.add(f"{report.nodeid}: {report.longrepr[2]}")


def _is_whole_suite(config: pytest.Config) -> bool:
    options = config.option
    is_chosen = any(getattr(options, name, None) for name in ("collectonly", "keyword", "lf", "markexpr", "maxfail"))
    return config.args_source is pytest.Config.ArgsSource.TESTPATHS and not is_chosen
