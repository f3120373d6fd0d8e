"""Search on PostgreSQL with pgvector: ``bit(n)`` columns, the Hamming operator ``<~>``, HNSW if wanted.

    database (connections, errors) ──► codes (a table, its nearest) ──► index (the contract)

Needs ``pip install 'sketchhash[postgres]'``; the package is loaded when a database is asked for, not before.
"""

from sketchhash.index.pgvector.codes import CodeTable, bit_strings, packed
from sketchhash.index.pgvector.database import Database
from sketchhash.index.pgvector.index import PgvectorIndex

__all__ = ["CodeTable", "Database", "PgvectorIndex", "bit_strings", "packed"]
