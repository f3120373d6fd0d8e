"""Galleries of a million to ten thousand million photos: what they take, from what is measured here.

constants (one shard), simulation (many shards on disk) ──► figures ──► planning ──► report
"""

from sketchhash.benchmark.scale.constants import measure_constants
from sketchhash.benchmark.scale.figures import Constants, ScaleFigures, Simulation
from sketchhash.benchmark.scale.planning import Machine, Plan, plan
from sketchhash.benchmark.scale.report import page
from sketchhash.benchmark.scale.simulation import simulate

__all__ = [
    "Constants",
    "Machine",
    "Plan",
    "ScaleFigures",
    "Simulation",
    "measure_constants",
    "page",
    "plan",
    "simulate",
]
