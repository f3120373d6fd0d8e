"""How fast photos are indexed: stage by stage, by several processes, and by more than there are here.

measuring (runs, stages) ──► figures ──► forecast ──► report
"""

from sketchhash.benchmark.index_speed.figures import IndexingFigures, Run
from sketchhash.benchmark.index_speed.forecast import Forecast, forecast
from sketchhash.benchmark.index_speed.measuring import measure
from sketchhash.benchmark.index_speed.report import page

__all__ = ["Forecast", "IndexingFigures", "Run", "forecast", "measure", "page"]
