"""The table of codes: made, written, and asked for its nearest rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sketchhash.index.hits import Hits, Wanted
from sketchhash.index.pgvector.database import Database

# Larger answers to an HNSW search than 1,000 are not to be had at once; pgvector then goes on by itself.
_MOST_LOOKED_AT = 1000

_NEAREST = """
    SELECT id, distance FROM (SELECT id, (code <~> %s::bit({bits}))::integer AS distance FROM codes {among}) AS compared
    WHERE distance <= %s ORDER BY distance, id LIMIT %s
"""
_NEAREST_BY_HNSW = """
    SELECT id, distance::integer FROM (
        SELECT id, code <~> %s::bit({bits}) AS distance FROM codes {among} ORDER BY 2 LIMIT %s
    ) AS nearest ORDER BY distance, id
"""


class CodeTable:
    """A table ``codes (id, code)``. Without HNSW every search is exact; with it, fast and nearly so."""

    def __init__(self, database: Database, bits: int, hnsw: bool = False) -> None:
        """Take the table of a ``database``, and search it over its HNSW index or not."""
        self.bits = bits
        self._database = database
        self._hnsw = hnsw

    def make(self, connection: Any) -> None:  # noqa: ANN401 - a connection in a transaction
        """Make schema and table if they are not there, and the HNSW index if it is wanted."""
        name = self._database.sql.Identifier(self._database.schema)
        # Several who begin at once would meet halfway: they take turns.
        connection.execute("SELECT pg_advisory_xact_lock(hashtext('sketchhash'))")
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        connection.execute(self._database.sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS codes (id bigint PRIMARY KEY, code bit({int(self.bits)}) NOT NULL)"
        )
        if self._hnsw:
            connection.execute("CREATE INDEX IF NOT EXISTS codes_by_hnsw ON codes USING hnsw (code bit_hamming_ops)")

    def write(self, connection: Any, ids: Sequence[int], codes: NDArray[np.uint8]) -> None:  # noqa: ANN401
        """Add rows whose ids are not there."""
        with connection.cursor() as cursor, cursor.copy("COPY codes (id, code) FROM STDIN") as copy:
            for row in zip(ids, bit_strings(codes), strict=True):
                copy.write_row(row)

    def nearest(
        self, queries: NDArray[np.uint8], wanted: Wanted, among: str = "", values: Sequence[object] = ()
    ) -> list[Hits]:
        """Find what is wanted of each query ``(queries, bits // 8)``.

        Args:
            queries: Packed codes.
            wanted: How many, and how near.
            among: An SQL condition on ``codes``, with ``WHERE``.
            values: What the condition's placeholders stand for.
        """
        most = min(wanted.k, np.iinfo(np.int64).max)
        with self._database.transaction() as connection:
            if self._hnsw:
                connection.execute("SET LOCAL hnsw.iterative_scan = strict_order")
                connection.execute(f"SET LOCAL hnsw.ef_search = {min(max(most, 100), _MOST_LOOKED_AT)}")
            else:
                # An HNSW index that others made would answer too, and not exactly.
                connection.execute("SET LOCAL enable_indexscan = off")
            statement = (_NEAREST_BY_HNSW if self._hnsw else _NEAREST).format(bits=int(self.bits), among=among)
            last = (most,) if self._hnsw else (wanted.radius, most)
            return [
                _hits(connection.execute(statement, (query, *values, *last)).fetchall())
                for query in bit_strings(queries)
            ]


def bit_strings(codes: NDArray[np.uint8]) -> list[str]:
    """Write packed codes ``(codes, bits // 8)`` as PostgreSQL does.

    >>> bit_strings(np.array([[5]], dtype=np.uint8))
    ['00000101']
    """
    digits = (np.unpackbits(codes, axis=1) + ord("0")).astype(np.uint8)
    return [row.tobytes().decode("ascii") for row in digits]


def packed(bits: str) -> bytes:
    r"""Give the packed code that PostgreSQL writes like this.

    >>> packed("00000101")
    b'\x05'
    """
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def _hits(rows: Sequence[tuple[int, int]]) -> Hits:
    table = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return Hits(table[:, 0].copy(), table[:, 1].astype(np.uint16))
