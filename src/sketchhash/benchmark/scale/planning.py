"""How many machines a gallery takes, how long a query, and what it costs: measured constants, assumed machines.

A scan takes time in proportion to the codes, up to the speed of memory. A pruned index is planned as shards of the
size that was measured, one beside the other: larger ones would do better, and how much better depends on the photos.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal

from sketchhash.benchmark.scale.figures import Constants, Simulation

Kind = Literal["scan", "pruned"]

AIM_SECONDS = 0.1  # a person who draws notices more
USABLE = 0.75  # of a machine's memory
_MONTH = 30 * 24 * 3600


@dataclass(frozen=True)
class Machine:
    """What is assumed of a rented machine, and of the network between several."""

    cores: int = 16
    memory_bytes: float = 128e9
    bytes_per_second: float = 100e9
    price: float = 600.0
    round_trip_seconds: float = 0.0005


@dataclass(frozen=True)
class Plan:
    """A gallery on machines that hold all codes and answer in time.

    Attributes:
        nbytes: Memory for codes and ids, on all machines together.
        machines: As many as memory and time ask for.
        seconds: One query, when nobody else asks.
        per_second: Queries a second when many ask at once.
        price: A month, in whatever the price of a machine is in.
        price_a_million: Of a million queries, when there are always enough.
    """

    nbytes: float
    machines: int
    seconds: float
    per_second: float
    price: float
    price_a_million: float


def plan(photos: float, kind: Kind, constants: Constants, simulation: Simulation, machine: Machine) -> Plan:
    """Plan for so many photos."""
    index = constants.scan if kind == "scan" else constants.pruned
    nbytes = photos * index.nbytes / constants.codes
    shards = ceil(photos / constants.codes)
    whole_shards = photos / constants.codes if kind == "scan" else shards
    cores = min(machine.cores, shards)
    query = whole_shards * index.query_seconds / cores
    batch = whole_shards * index.batch_seconds / machine.cores
    if kind == "scan":  # a batch of 32 reads the codes once
        read = photos * constants.bits / 8 / machine.bytes_per_second
        query, batch = max(query, read), max(batch, read / 32)
    machines = max(ceil(nbytes / (USABLE * machine.memory_bytes)), ceil(query / AIM_SECONDS))
    merge = simulation.merge_seconds / simulation.shards * max(shards / machines, machines)
    seconds = query / machines + merge + (machine.round_trip_seconds if machines > 1 else 0)
    per_second = machines / batch
    price = machines * machine.price
    return Plan(nbytes, machines, seconds, per_second, price, 1e6 * price / (per_second * _MONTH))
