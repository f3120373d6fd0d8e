"""Find near codes, exactly, by bits or by values: a scan, a pruned index for codes that cluster, all near pairs."""

from sketchhash.index.choice import INDEXES, build_index, scan_index
from sketchhash.index.pairs import near_pairs
from sketchhash.index.protocol import Hits, Index, WeighingIndex
from sketchhash.index.reranking import RankedHits, rerank

__all__ = [
    "INDEXES",
    "Hits",
    "Index",
    "RankedHits",
    "WeighingIndex",
    "build_index",
    "near_pairs",
    "rerank",
    "scan_index",
]
