"""How fast codes are searched: our indexes beside faiss, usearch and NumPy, in one run.

galleries ──► engines ──► comparison (timing) ──► report, aims, plot
"""

from sketchhash.benchmark.search_speed.aims import Verdict, judge
from sketchhash.benchmark.search_speed.comparison import Comparison, Result, compare
from sketchhash.benchmark.search_speed.engines import available_engines
from sketchhash.benchmark.search_speed.galleries import (
    TestGallery,
    clustered_gallery,
    random_gallery,
    stored_gallery,
)
from sketchhash.benchmark.search_speed.plot import plot
from sketchhash.benchmark.search_speed.report import aims_list, paper_table, speed_table

__all__ = [
    "Comparison",
    "Result",
    "TestGallery",
    "Verdict",
    "aims_list",
    "available_engines",
    "clustered_gallery",
    "compare",
    "judge",
    "paper_table",
    "plot",
    "random_gallery",
    "speed_table",
    "stored_gallery",
]
