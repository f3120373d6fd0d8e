"""The paper's comparison: every method on one split, and the tables and figures of section 4.

    entries ──► workbench (features) ──► methods ──► runner ──► records ──► tables, figures ──► report

`sketchhash.paper.runner` runs a comparison, `sketchhash.paper.ablations` Table 4 under two protocols, and
`sketchhash.paper.trunks` compares plain methods on the trunks of one training run; these need PyTorch.
"""

from sketchhash.paper.entries import ABLATIONS, DSH, Entry, ablation_plan, method_names, plan
from sketchhash.paper.experiment import PROTOCOLS, Experiment, limit_photos
from sketchhash.paper.records import Records, RunRecord
from sketchhash.paper.report import write_report

__all__ = [
    "ABLATIONS",
    "DSH",
    "PROTOCOLS",
    "Entry",
    "Experiment",
    "Records",
    "RunRecord",
    "ablation_plan",
    "limit_photos",
    "method_names",
    "plan",
    "write_report",
]
