"""Connections to one schema of a PostgreSQL database, and what its errors mean."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode, urlsplit, urlunsplit

from sketchhash.errors import BadArgument, EngineProblem, require
from sketchhash.index.addresses import Address

PATIENCE = 10.0
"""Seconds for one connection or statement, unless the address says ``timeout=``."""

_SCHEMA = "sketchhash"
_CONNECTIONS = 16

# The pool waits twice as long before each further attempt: after that much it gives up, and who asks next begins anew.
_RECONNECTING = 2.0

_OURS = ("gallery", "timeout", "hnsw")


class Database:
    """A pool of connections; safe to use from many threads. One that broke is replaced when the next is asked for.

    All tables lie in one schema, which the address names with ``gallery=``: a database may hold many galleries.
    """

    def __init__(self, address: Address) -> None:
        """Connect to the server of an ``address``.

        Raises:
            EngineProblem: If it does not answer, or does not know the user.
        """
        psycopg, pools = require("psycopg", "postgres"), require("psycopg_pool", "postgres")
        self.sql: Any = require("psycopg.sql", "postgres")
        self.errors: Any = psycopg.errors
        # It logs every attempt to connect; the error that ends them says as much.
        logging.getLogger("psycopg.pool").setLevel(logging.CRITICAL)
        self.address = address
        self.schema = address.options.get("gallery", _SCHEMA)
        if not re.fullmatch(r"[a-z_][a-z0-9_]{0,62}", self.schema):
            raise BadArgument(f"A gallery in PostgreSQL has a name of a-z, 0-9 and _, not {self.schema!r}.")
        self.timeout = address.seconds("timeout", PATIENCE)
        self._broken: tuple[type[Exception], ...] = (psycopg.Error, pools.PoolTimeout)
        settings = {"connect_timeout": max(int(self.timeout), 2), "autocommit": True}
        with self.explained(), psycopg.connect(_without(address, _OURS), **settings):
            pass  # a pool would try again in silence until the time is over, and not say why
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
        """Give all rows that an SQL ``query`` finds."""
        with self.connection() as connection:
            return list(connection.execute(query, values).fetchall())

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn what the driver raises into an error that says what to do."""
        try:
            yield
        except self._broken as problem:
            reason = (str(problem).strip() or type(problem).__name__).splitlines()[0][:300]
            raise EngineProblem("PostgreSQL", self.address.shown, reason) from problem

    def _configure(self, connection: Any) -> None:  # noqa: ANN401 - psycopg is not loaded until it is needed
        path = self.sql.SQL("SET search_path TO {}, public").format(self.sql.Identifier(self.schema))
        connection.execute(path)
        connection.execute(f"SET statement_timeout = {int(self.timeout * 1000)}")


def _without(address: Address, options: tuple[str, ...]) -> str:
    """Give the address without options that are not PostgreSQL's own."""
    parts = urlsplit(address.text)
    own = {name: value for name, value in address.options.items() if name not in options}
    return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(own), ""))
