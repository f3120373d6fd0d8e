"""Rules that no linter knows: what rooms export, what they may import from each other, and words that do not belong.

Every rule is a function from a folder of sources to a list of complaints, so that each is also shown to fail.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import subprocess
import tomllib
from fnmatch import fnmatch
from pathlib import Path

import pytest
from completeness import never_run, skipped_for_want, verbs

import sketchhash

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "src" / "sketchhash"
ROOMS = [name for _, name, is_package in pkgutil.walk_packages(sketchhash.__path__, "sketchhash.") if is_package]

UNFINISHED = re.compile(rb"\b(TODO|FIXME|XXX|HACK)\b")


def unlisted_exports(package: Path) -> list[str]:
    """Complain of packages whose ``__init__.py`` has no ``__all__``, or one that is not sorted."""
    complaints = []
    for path in sorted(package.rglob("__init__.py")):
        shown = [
            ast.literal_eval(node.value)
            for node in ast.parse(path.read_text(encoding="utf-8")).body
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
        ]
        if len(shown) != 1:
            complaints.append(f"{path}: no __all__")
        elif shown[0] != sorted(shown[0], key=_isort_order):
            complaints.append(f"{path}: __all__ is not sorted")
    return complaints


def private_imports(package: Path) -> list[str]:
    """Complain of private names that one room imports from another."""
    complaints = []
    for path in sorted(package.rglob("*.py")):
        room = path.relative_to(package).parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not (node.module or "").startswith(f"{package.name}."):
                continue
            parts = node.module.split(".")[1:]
            names = [*parts, *(alias.name for alias in node.names)]
            private = [name for name in names if name.startswith("_") and not name.endswith("__")]
            if parts[0] != room.removesuffix(".py") and private:
                complaints.append(f"{path}:{node.lineno}: {', '.join(private)} of {parts[0]}")
    return complaints


def odd_docstrings(package: Path) -> list[str]:
    """Complain of docstrings that begin with "Give": they say what is returned, or done."""
    complaints = []
    for path in sorted(package.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                words = (ast.get_docstring(node) or "").split()
                if words and words[0] in {"Give", "Gives"}:
                    complaints.append(f"{path}: {' '.join(words[:6])} …")
    return complaints


def matches(pattern: re.Pattern[bytes], files: list[Path]) -> list[str]:
    """Return the lines of text files in which a pattern occurs."""
    found = []
    for path in files:
        content = path.read_bytes()
        if b"\0" not in content[:8192]:
            lines = enumerate(content.splitlines(), start=1)
            found += [f"{path}:{number}: {line.decode()}" for number, line in lines if pattern.search(line)]
    return found


@pytest.mark.parametrize("room", ["sketchhash", *ROOMS])
def test_what_a_room_shows_is_there(room):
    module = importlib.import_module(room)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_every_room_lists_what_it_shows_in_order():
    assert unlisted_exports(SOURCES) == []


def test_rooms_import_no_private_names_of_each_other():
    assert private_imports(SOURCES) == []


def test_docstrings_say_what_is_returned_or_done():
    assert odd_docstrings(SOURCES) == []


def test_nothing_is_left_to_do():
    assert matches(UNFINISHED, [path for path in SOURCES.rglob("*") if path.is_file()]) == []


def test_every_data_file_is_in_the_wheel():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["sketchhash"]
    inside = [path.relative_to(SOURCES) for path in tracked_files() if path.is_relative_to(SOURCES)]
    data = [path for path in inside if path.suffix not in {".py", ".c", ".h"}]
    assert data
    # "**/" stands for any number of folders, also none.
    globs = [each for pattern in patterns for each in (pattern, pattern.removeprefix("**/"))]
    assert [str(path) for path in data if not any(fnmatch(path.as_posix(), each) for each in globs)] == []


def test_verbs_that_no_test_runs_are_noticed():
    functions = dict(verbs())
    assert never_run(functions.values()) == []
    assert never_run(function for verb, function in functions.items() if verb != "data check") == ["data check"]


def test_skips_for_want_of_something_are_noticed():
    missing = ["test_a: Skipped: could not import 'ray'", "test_b: the kernel is not built"]
    assert skipped_for_want([*missing, "test_c: Skipped: permissions do not hold for root"]) == missing


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        (unlisted_exports, "'''No list.'''"),
        (unlisted_exports, "__all__ = ['b', 'a']"),
        (unlisted_exports, "__all__ = ['a', 'B']"),
        (private_imports, "from toy.other.inside import _hidden"),
        (private_imports, "from toy.other import _module"),
        (private_imports, "from toy.other._module import name"),
        (odd_docstrings, "def nearest():\n    '''Give the nearest.'''"),
    ],
)
def test_the_rules_notice_what_breaks_them(tmp_path, rule, source):
    room = tmp_path / "toy" / "room"
    room.mkdir(parents=True)
    (room / "__init__.py").write_text(source)
    assert len(rule(tmp_path / "toy")) == 1


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        (unlisted_exports, "__all__ = ['LIMIT', 'Thing', 'make']"),
        (private_imports, "from toy.room.inside import _hidden"),
        (private_imports, "from toy.other import __version__, name"),
        (odd_docstrings, "def nearest():\n    '''Return the nearest.'''"),
    ],
)
def test_the_rules_leave_good_sources_alone(tmp_path, rule, source):
    room = tmp_path / "toy" / "room"
    room.mkdir(parents=True)
    (room / "__init__.py").write_text(source)
    assert rule(tmp_path / "toy") == []


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (UNFINISHED, "# TODO: later"),
        (UNFINISHED, '"""TODO."""'),
    ],
)
def test_words_that_do_not_belong_are_noticed(tmp_path, pattern, line):
    path = tmp_path / "source.py"
    path.write_text(f"'''Fine.'''\n{line}\n")
    assert matches(pattern, [path]) == [f"{path}:2: {line}"]


def tracked_files() -> list[Path]:
    """Return the files of the repository; in a source distribution, all but what was made since."""
    try:
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        made = {"__pycache__", ".venv", "build", "dist"}
        return [path for path in ROOT.rglob("*") if path.is_file() and made.isdisjoint(path.parts)]
    return [path for name in listed.decode().split("\0") if name and (path := ROOT / name).is_file()]


def _isort_order(name: str) -> tuple[bool, bool, str]:
    """Sort constants first, then classes, then functions, as ruff sorts imports."""
    return not name.isupper(), not name[0].isupper(), name
