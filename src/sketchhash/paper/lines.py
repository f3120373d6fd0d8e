"""Files of results that grow by a line at a time: one JSON document a line, named by its kind.

Lines are only appended, so that several processes may fill one file; a line that an interruption cut off is skipped.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from sketchhash.errors import DamagedState
from sketchhash.results import json_line

DIGITS = 8  # so that rounding once more for a table changes nothing


def append_line(path: Path, kind: str, document: Mapping[str, object]) -> None:
    """Add a document to a file, and wait until it is on the disk."""
    line = json_line({kind: document}, DIGITS) + "\n"
    if path.exists() and not path.read_bytes().endswith(b"\n"):
        line = "\n" + line  # after a line that an interruption cut off
    with path.open("ab") as file:
        file.write(line.encode())
        file.flush()
        os.fsync(file.fileno())


def read_lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Read the kind and the document of every line."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            ((kind, document),) = json.loads(line).items()
            yield kind, dict(document)
        except (ValueError, AttributeError, TypeError) as problem:
            if number == len(lines):
                return  # the interrupted last line
            raise damaged(path, f"line {number}: {problem}") from problem


def damaged(path: Path, problem: str) -> DamagedState:
    """Say that a file cannot be read, and what to do."""
    return DamagedState(f"{path} cannot be read: {problem}. Remove the damaged line and run again.")
