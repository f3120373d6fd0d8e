"""Every error a caller may want to catch.

    SketchHashError
    ├── BadArgument          a value that cannot be used; nothing was started
    │   └── UnknownName      a name that is not in its table, with the nearest one
    ├── MissingExtra         an optional package is not installed, with the command that installs it
    ├── UnreadableImage      a picture that cannot be decoded safely
    ├── DatasetProblem       files on disk that do not form the dataset they should
    │   └── SplitProblem     a split that does not fit its dataset, or breaks the protocol
    ├── DamagedState         a stored file cannot be read any more
    ├── UnwritableState      a file could not be written; what was there before is unchanged
    │   └── BusyGallery      another process is writing to the gallery
    ├── EngineProblem        a search engine that does not answer, or refuses
    ├── IncompatibleGallery  a gallery made with another model, or by a newer version
    ├── NotFitted            a method asked to encode before it was fitted
    ├── IncompatibleModel    a model folder that is damaged, incomplete or made for another version
    ├── TrainingDiverged     a loss that is not a finite number
    └── UnknownWords         category names without a word vector

The text of an error says what happened, what was found and what to type next.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any


class SketchHashError(Exception):
    """Base class of every error that sketchhash raises on purpose."""


class BadArgument(SketchHashError):
    """A value that cannot be used; nothing was started."""


class UnknownName(BadArgument):
    """A name that is not in its table; the text suggests the nearest."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        """Describe the ``kind`` of thing, the ``name`` that was given and the ``known`` names."""
        names = sorted(str(name) for name in known)
        nearest = get_close_matches(name, names, n=1)
        hint = f" Did you mean {nearest[0]!r}?" if nearest else f" Known: {', '.join(names)}." if names else ""
        super().__init__(f"There is no {kind} named {name!r}.{hint}")


class MissingExtra(SketchHashError):
    """An optional package is not installed."""

    def __init__(self, package: str, extra: str) -> None:
        """Describe which ``package`` is missing and which ``extra`` installs it."""
        super().__init__(f"This needs {package}, which is not installed. Type: {install_command(extra)}")


class UnreadableImage(SketchHashError):
    """A picture that cannot be decoded safely."""


class DatasetProblem(SketchHashError):
    """Files on disk that do not form the dataset they should."""


class SplitProblem(DatasetProblem):
    """A split that does not fit its dataset, or breaks the protocol."""


class IncompatibleModel(SketchHashError):
    """A model folder that is damaged, incomplete or made for another version."""


class DamagedState(SketchHashError):
    """A stored file cannot be read any more."""


class UnwritableState(SketchHashError):
    """A file could not be written; what was there before is unchanged."""


class BusyGallery(UnwritableState):
    """Another process is writing to the gallery."""


class EngineProblem(SketchHashError):
    """A search engine that does not answer, or refuses."""

    def __init__(self, engine: str, place: str, reason: str) -> None:
        """Describe the ``engine``, the ``place`` where it should be, and the ``reason`` in its own words."""
        super().__init__(
            f"{engine} at {place} could not do what was asked: {reason.rstrip('.')}. What it had acknowledged is kept: "
            "see that it runs and can be reached, then run the same command again."
        )


class IncompatibleGallery(SketchHashError):
    """A gallery made with another model, or by a newer version."""


class NotFitted(SketchHashError):
    """A method cannot encode before it is fitted."""


class TrainingDiverged(SketchHashError):
    """A loss that is not a finite number: every later step would be wasted."""


class UnknownWords(SketchHashError):
    """Category names without a word vector."""


def install_command(extra: str) -> str:
    """Return the command that adds an ``extra`` to this installation, however it was made.

    An installer writes down where a package came from, if not from an index (PEP 610): a folder or a repository.
    """
    from urllib.parse import urlsplit  # imported here: `import sketchhash` is quick
    from urllib.request import url2pathname

    what, option = f"sketchhash[{extra}]", ""
    origin = _origin()
    address = origin.get("url", "")
    if "vcs_info" in origin:
        what += f" @ {origin['vcs_info']['vcs']}+{address}"
    elif address.startswith("file:") and "dir_info" in origin:
        what = f"{url2pathname(urlsplit(address).path)}[{extra}]"
        option = "--editable " if origin["dir_info"].get("editable") else ""
    place = Path(sys.prefix).parts
    if "pipx" in place:
        return f"pipx install --force {option}'{what}'"
    if place[-3:-1] == ("uv", "tools"):
        return f"uv tool install --force {option}'{what}'"
    found = shutil.which("pip")
    is_own = found is not None and Path(found).parent == Path(sys.executable).parent
    return f"{'pip' if is_own else f'{sys.executable} -m pip'} install {option}'{what}'"


def _origin() -> dict[str, Any]:
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        text = distribution("sketchhash").read_text("direct_url.json")
        return dict(json.loads(text)) if text else {}
    except (PackageNotFoundError, ValueError):
        return {}


def require(module: str, extra: str) -> ModuleType:
    """Import an optional ``module``, or raise `MissingExtra` with the command that installs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name and module.split(".")[0] == missing.name.split(".")[0]:
            raise MissingExtra(missing.name, extra) from missing
        raise


def require_torch() -> ModuleType:
    """Import torch, with threads that sleep while they wait for each other.

    By default they spin, which costs nothing on an idle machine but made a training step four times slower on a
    shared one.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # read once, when torch is imported
    return require("torch", "train")
