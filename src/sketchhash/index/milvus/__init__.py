"""Search on Milvus: binary vectors, ``BIN_FLAT`` or ``BIN_IVF_FLAT``, by Hamming distance.

    server (connection, errors) ──► collection (rows, batches) ──► exact (ties settled) ──► index (the contract)

Needs ``pip install 'sketchhash[milvus]'``; the package is loaded when a server is asked for, not before.
"""

from sketchhash.index.milvus.collection import Collection, Layout
from sketchhash.index.milvus.index import MilvusIndex
from sketchhash.index.milvus.server import MilvusServer

__all__ = ["Collection", "Layout", "MilvusIndex", "MilvusServer"]
