"""The contract of every index, kept by PostgreSQL."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.index.addresses import Address
from sketchhash.index.arguments import (
    check_absent,
    check_addition,
    check_among,
    check_bits,
    check_codes,
    check_ids,
    check_k,
    check_present,
    check_radius,
)
from sketchhash.index.hits import Hits, Wanted
from sketchhash.index.pgvector.codes import CodeTable
from sketchhash.index.pgvector.database import Database

_AMONG = "WHERE id = ANY(%s::bigint[])"


class PgvectorIndex:
    """Codes in a table of PostgreSQL. Without HNSW it finds what the reference finds, id for id.

    Each change is one transaction: it is kept when the call returns, or did not happen.
    """

    def __init__(self, database: Database, bits: int, hnsw: bool = False) -> None:
        """Take the codes of a ``database``; the table is made if it is not there."""
        check_bits(bits)
        self.bits = bits
        self._database = database
        self._codes = CodeTable(database, bits, hnsw)
        with database.transaction() as connection:
            self._codes.make(connection)

    @classmethod
    def open(cls, address: str, bits: int, hnsw: bool = False) -> Self:
        """Open the index at ``postgresql://host/database?gallery=name``, which is made if it is not there."""
        check_bits(bits)
        return cls(Database(Address.parse(address)), bits, hnsw)

    def __len__(self) -> int:
        """Count the codes."""
        ((count,),) = self._database.rows("SELECT count(*) FROM codes")
        return int(count)

    def add(self, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> None:
        """Add codes ``(ids, bits // 8)``."""
        check_addition(ids, codes, self.bits)
        with self._database.transaction() as connection:
            connection.execute("LOCK TABLE codes IN SHARE ROW EXCLUSIVE MODE")
            there = connection.execute(f"SELECT id FROM codes {_AMONG}", [ids.tolist()]).fetchall()
            check_absent(np.isin(ids, np.array(there, dtype=np.int64).reshape(-1)), ids)
            self._codes.write(connection, ids.tolist(), codes)

    def put(self, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> None:
        """Add codes ``(ids, bits // 8)``, and replace those whose ids are there."""
        check_addition(ids, codes, self.bits)
        with self._database.transaction() as connection:
            connection.execute(f"DELETE FROM codes {_AMONG}", [ids.tolist()])
            self._codes.write(connection, ids.tolist(), codes)

    def remove(self, ids: NDArray[np.int64]) -> None:
        """Remove codes."""
        check_ids(ids)
        with self._database.transaction() as connection:
            gone = connection.execute(f"DELETE FROM codes {_AMONG} RETURNING id", [ids.tolist()]).fetchall()
            check_present(np.isin(ids, np.array(gone, dtype=np.int64).reshape(-1)), ids)

    def search(self, queries: NDArray[np.uint8], k: int, among: NDArray[np.int64] | None = None) -> list[Hits]:
        """Find the ``k`` nearest codes of each query ``(queries, bits // 8)``."""
        check_codes(queries, self.bits)
        check_k(k)
        wanted = Wanted(k, self.bits)
        if among is None:
            return self._codes.nearest(queries, wanted)
        check_among(among)
        return self._codes.nearest(queries, wanted, _AMONG, [among.tolist()])

    def within(self, queries: NDArray[np.uint8], radius: int) -> list[Hits]:
        """Find every code that differs from a query ``(queries, bits // 8)`` in at most ``radius`` bits."""
        check_codes(queries, self.bits)
        check_radius(radius)
        exact = CodeTable(self._database, self.bits)
        return exact.nearest(queries, Wanted(np.iinfo(np.int64).max, min(radius, self.bits)))
