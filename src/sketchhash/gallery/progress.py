"""What indexing and watching tell while they run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from sketchhash.gallery.photos import Change, Failure


@dataclass(frozen=True)
class Progress:
    """So many of the files are done; all that was stored for them is on the disk."""

    done: int
    total: int


@dataclass(frozen=True)
class Waiting:
    """Another process is writing to the gallery; this one goes on as soon as it may."""


@dataclass(frozen=True)
class Watching:
    """Nothing has changed for a moment."""


@dataclass(frozen=True)
class Summary:
    """What became of the files, at the end."""

    added: int
    updated: int
    moved: int
    unchanged: int
    removed: int
    failed: tuple[Failure, ...]


Event = Progress | Waiting | Watching | Failure | Summary


@dataclass
class Tally:
    """Counts what happens until there is a `Summary`."""

    changes: Counter[Change] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    def count(self, outcomes: Iterable[Change | Failure]) -> None:
        """Count what became of some files."""
        for outcome in outcomes:
            if isinstance(outcome, Failure):
                self.failures.append(outcome)
            else:
                self.changes[outcome] += 1

    def summary(self) -> Summary:
        """Give the numbers so far."""
        return Summary(
            added=self.changes[Change.ADDED],
            updated=self.changes[Change.UPDATED],
            moved=self.changes[Change.MOVED],
            unchanged=self.changes[Change.UNCHANGED],
            removed=self.changes[Change.REMOVED],
            failed=tuple(self.failures),
        )
