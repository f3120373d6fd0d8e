"""What is measured about large galleries, and how it is kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from sketchhash.errors import BadArgument


@dataclass(frozen=True)
class IndexConstants:
    """One index over the codes of one shard, on one core, the 100 nearest.

    Attributes:
        query_seconds: One query; processor time, median.
        batch_seconds: A query among 32 that are searched together; likewise.
        build_seconds: From codes in memory to an index; processor time.
        nbytes: Memory.
    """

    query_seconds: float
    batch_seconds: float
    build_seconds: float
    nbytes: int


@dataclass(frozen=True)
class Constants:
    """Both indexes over clustered codes of one width."""

    bits: int
    codes: int
    scan: IndexConstants
    pruned: IndexConstants


@dataclass(frozen=True)
class Simulation:
    """Clustered codes in shards on disk, searched through memory maps, the 100 nearest.

    Attributes:
        codes: How many.
        bits: Of each.
        shards: How many files they are in.
        disk_bytes: What those take, ids included.
        write_seconds: Making codes and writing them.
        cold_seconds: The first query, when nothing is in memory, on all cores.
        query_seconds: One query on one core, when all is in memory; processor time, median.
        spread_seconds: One query on all cores, by the clock; the best.
        batch_seconds: A query among 32 that are searched together, on one core; processor time.
        merge_seconds: Making one list of the hits of all shards.
        cores: How many there were.
        own_bytes: Memory of the process that is not a map of files.
        checked: Queries whose hits were compared with brute force over all codes.
        is_exact: Whether all of those were equal, id by id.
    """

    codes: int
    bits: int
    shards: int
    disk_bytes: int
    write_seconds: float
    cold_seconds: float
    query_seconds: float
    spread_seconds: float
    batch_seconds: float
    merge_seconds: float
    cores: int
    own_bytes: int
    checked: int
    is_exact: bool


@dataclass(frozen=True)
class ScaleFigures:
    """All that was measured."""

    constants: tuple[Constants, ...]
    simulation: Simulation

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read what ``sketchhash bench scale --json`` printed."""
        try:
            kept = json.loads(path.read_bytes())
            constants = (
                Constants(each["bits"], each["codes"], IndexConstants(**each["scan"]), IndexConstants(**each["pruned"]))
                for each in kept["constants"]
            )
            return cls(tuple(constants), Simulation(**kept["simulation"]))
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise BadArgument(
                f"{path} is not a record of large galleries ({problem}). "
                "Make one with: sketchhash bench scale --json > FILE"
            ) from problem
