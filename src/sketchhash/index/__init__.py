"""Find the nearest codes, exactly, by bits or by real values: a scan, and a pruned index for codes that cluster."""

from sketchhash.index.choice import INDEXES, build_index, scan_index
from sketchhash.index.protocol import Hits, Index, WeighingIndex
from sketchhash.index.reranking import RankedHits, rerank

__all__ = ["INDEXES", "Hits", "Index", "RankedHits", "WeighingIndex", "build_index", "rerank", "scan_index"]
