"""Find the nearest codes, exactly: one small protocol, a scan, and a pruned index for codes that cluster."""

from sketchhash.index.choice import INDEXES, build_index, scan_index
from sketchhash.index.protocol import Hits, Index
from sketchhash.index.reranking import ScoredHits, rerank

__all__ = ["INDEXES", "Hits", "Index", "ScoredHits", "build_index", "rerank", "scan_index"]
