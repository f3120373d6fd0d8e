"""How well detectors find the contours that people see: the benchmark of BSDS500.

    photo ──► detector ──► scores ──► counting (thin, sweep thresholds, match) ──► summary (ODS, OIS, AP)

See Arbeláez, Maire, Fowlkes and Malik, "Contour detection and hierarchical image segmentation", PAMI 2011.
"""

from sketchhash.benchmark.contours.counting import Counts, Sweep, count
from sketchhash.benchmark.contours.evaluation import Evaluation
from sketchhash.benchmark.contours.summary import Summary, summarise

__all__ = ["Counts", "Evaluation", "Summary", "Sweep", "count", "summarise"]
