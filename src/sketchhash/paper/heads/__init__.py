"""Every method on equal features: those of DSH's own frozen trunks, with choices made on a validation part.

    split, trunks ──► bench (features) ──► methods ──► runner (choose, then test) ──► records ──► tables

A *head* is all that a method puts behind the trunks. The comparison asks what a head is worth, and not what its
features are worth. `sketchhash paper heads` runs it, `sketchhash paper report` writes its tables.
"""

from sketchhash.paper.heads.records import FILE, HeadRecords
from sketchhash.paper.heads.tables import write_heads_report

__all__ = ["FILE", "HeadRecords", "write_heads_report"]
