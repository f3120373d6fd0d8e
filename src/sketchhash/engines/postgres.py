"""PostgreSQL with pgvector: connections, the table of codes, and the contract of every index over it.

Codes are ``bit(n)`` columns, compared by the Hamming operator ``<~>``, over HNSW if wanted.

Needs ``pip install 'sketchhash[postgres]'``; the package is imported when a database is opened, not before.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode, urlsplit, urlunsplit

import numpy as np
from numpy.typing import NDArray

from sketchhash.engines.addresses import Address
from sketchhash.errors import BadArgument, BusyGallery, EngineProblem, require
from sketchhash.index.protocol import (
    Hits,
    Wanted,
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

TIMEOUT = 10.0
"""Seconds for one connection or statement, unless the address says ``timeout=``."""

_SCHEMA = "sketchhash"
_CONNECTIONS = 16

# The pool waits twice as long before each further attempt: after that much it gives up, and the next call begins anew.
_RECONNECTING = 2.0

_OURS = ("gallery", "timeout", "hnsw")

# An HNSW search returns at most 1,000 at once; pgvector then continues by itself.
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
_ALONE = "LOCK TABLE codes IN SHARE ROW EXCLUSIVE MODE"
_AMONG = "WHERE id = ANY(%s::bigint[])"


class Database:
    """A pool of connections; safe to use from many threads. A broken one is replaced when the next is needed.

    All tables lie in one schema, which the address names with ``gallery=``: a database may hold many galleries.
    """

    def __init__(self, address: Address) -> None:
        """Connect to the server of an ``address``.

        Raises:
            EngineProblem: If it does not answer, or does not know the user.
        """
        psycopg, pools = require("psycopg", "postgres"), require("psycopg_pool", "postgres")
        self.sql: Any = require("psycopg.sql", "postgres")
        # It logs every attempt to connect; the error at the end says as much.
        logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
        self.address = address
        self.schema = address.options.get("gallery", _SCHEMA)
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", self.schema):
            raise BadArgument(f"A gallery in PostgreSQL has a name of a-z, 0-9 and _, not {self.schema!r}.")
        self.timeout = address.seconds("timeout", TIMEOUT)
        self._broken: tuple[type[Exception], ...] = (psycopg.Error, pools.PoolTimeout)
        # The server undid the transaction in favour of another one, and expects to be asked again.
        self._yielded: tuple[type[Exception], ...] = (
            psycopg.errors.LockNotAvailable,
            psycopg.errors.DeadlockDetected,
            psycopg.errors.SerializationFailure,
        )
        settings = {"connect_timeout": max(int(self.timeout), 2), "autocommit": True}
        with self.explained(), psycopg.connect(_without(address, _OURS), **settings):
            pass  # a pool would try again until the time is over, and not say why
        self._pool = pools.ConnectionPool(
            _without(address, _OURS),
            kwargs=settings,
            min_size=1,
            max_size=_CONNECTIONS,
            timeout=self.timeout,
            reconnect_timeout=_RECONNECTING,
            configure=self._configure,
            check=pools.ConnectionPool.check_connection,
            open=True,
        )

    def __enter__(self) -> Self:
        """Close all connections at the end of the ``with`` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close all connections."""
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """Take a connection, on which each statement is a transaction of its own."""
        with self.explained(), self._pool.connection() as connection:
            yield connection

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """Take a connection: all that is done in the block is kept at its end, or none of it."""
        with self.connection() as connection, connection.transaction():
            yield connection

    def rows(self, query: str, *values: object) -> list[Any]:
        """Return all rows that an SQL ``query`` finds."""
        with self.connection() as connection:
            return list(connection.execute(query, values).fetchall())

    def lock_making(self, connection: Any) -> None:  # noqa: ANN401 - a connection in a transaction
        """Wait until no other process makes tables: several may begin at once."""
        connection.execute("SELECT pg_advisory_xact_lock(hashtext('sketchhash'))")

    def names(self, connection: Any) -> set[str]:  # noqa: ANN401
        """Return the names of all tables and indexes of the schema."""
        query = "SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace WHERE nspname = %s"
        return {name for (name,) in connection.execute(query, [self.schema]).fetchall()}

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn what the driver raises into an error that says what to do."""
        try:
            yield
        except self._yielded as problem:
            raise BusyGallery(
                f"Another process is writing to {self.address.shown} ({self.schema}). Try again when it has finished."
            ) from problem
        except self._broken as problem:
            reason = (str(problem).strip() or type(problem).__name__).splitlines()[0][:300]
            raise EngineProblem("PostgreSQL", self.address.shown, reason) from problem

    def _configure(self, connection: Any) -> None:  # noqa: ANN401 - psycopg is not loaded until it is needed
        path = self.sql.SQL("SET search_path TO {}, public").format(self.sql.Identifier(self.schema))
        connection.execute(path)
        connection.execute(f"SET statement_timeout = {int(self.timeout * 1000)}")


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
        self._database.lock_making(connection)
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector SCHEMA public")
        connection.execute(self._database.sql.SQL("CREATE SCHEMA IF NOT EXISTS {}").format(name))
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS codes (id bigint PRIMARY KEY, code bit({int(self.bits)}) NOT NULL)"
        )
        if self._hnsw and "codes_by_hnsw" not in self._database.names(connection):
            connection.execute("CREATE INDEX codes_by_hnsw ON codes USING hnsw (code bit_hamming_ops)")

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
                # An HNSW index that another process made would answer too, and not exactly.
                connection.execute("SET LOCAL enable_indexscan = off")
            statement = (_NEAREST_BY_HNSW if self._hnsw else _NEAREST).format(bits=int(self.bits), among=among)
            last = (most,) if self._hnsw else (wanted.radius, most)
            return [
                _hits(connection.execute(statement, (query, *values, *last)).fetchall())
                for query in bit_strings(queries)
            ]


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
            connection.execute(_ALONE)
            there = connection.execute(f"SELECT id FROM codes {_AMONG}", [ids.tolist()]).fetchall()
            check_absent(np.isin(ids, np.array(there, dtype=np.int64).reshape(-1)), ids)
            self._codes.write(connection, ids.tolist(), codes)

    def put(self, ids: NDArray[np.int64], codes: NDArray[np.uint8]) -> None:
        """Add codes ``(ids, bits // 8)``, and replace those whose ids are there."""
        check_addition(ids, codes, self.bits)
        with self._database.transaction() as connection:
            connection.execute(_ALONE)
            connection.execute(f"DELETE FROM codes {_AMONG}", [ids.tolist()])
            self._codes.write(connection, ids.tolist(), codes)

    def remove(self, ids: NDArray[np.int64]) -> None:
        """Remove codes."""
        check_ids(ids)
        with self._database.transaction() as connection:
            connection.execute(_ALONE)
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


def bit_strings(codes: NDArray[np.uint8]) -> list[str]:
    """Write packed codes ``(codes, bits // 8)`` as PostgreSQL does.

    >>> bit_strings(np.array([[5]], dtype=np.uint8))
    ['00000101']
    """
    digits = (np.unpackbits(codes, axis=1) + ord("0")).astype(np.uint8)
    return [row.tobytes().decode("ascii") for row in digits]


def packed(bits: str) -> bytes:
    r"""Return the packed code of a bit string of PostgreSQL.

    >>> packed("00000101")
    b'\x05'
    """
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


def _hits(rows: Sequence[tuple[int, int]]) -> Hits:
    table = np.array(rows, dtype=np.int64).reshape(-1, 2)
    return Hits(table[:, 0].copy(), table[:, 1].astype(np.uint16))


def _without(address: Address, options: tuple[str, ...]) -> str:
    """Return the address without options that are not PostgreSQL's own."""
    parts = urlsplit(address.text)
    own = {name: value for name, value in address.options.items() if name not in options}
    return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(own), ""))
