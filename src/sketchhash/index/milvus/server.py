"""A connection to Milvus, and what its errors mean.

The client reconnects by itself, and tries again while a server is away until the time for one call is over. What
it then raises, whatever it is, becomes one error that says which server, what happened and what is safe.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from sketchhash.errors import BadArgument, EngineProblem, require
from sketchhash.index.addresses import Address

PATIENCE = 10.0
"""Seconds for one call, unless the address says ``timeout=``."""

_PORT = 19530


class MilvusServer:
    """An open connection; safe to use from many threads."""

    def __init__(self, address: Address) -> None:
        """Connect to the server of an ``address``.

        Raises:
            EngineProblem: If it does not answer, or does not know the user.
        """
        pymilvus = require("pymilvus", "milvus")
        logging.getLogger("pymilvus").setLevel(logging.CRITICAL)  # it logs a traceback beside each error it raises
        if not address.host:
            raise BadArgument(f"The address {address.shown} names no server. Write milvus://host:port/collection")
        self.address = address
        self.timeout = address.seconds("timeout", PATIENCE)
        self._errors: tuple[type[Exception], ...] = (pymilvus.MilvusException, require("grpc", "milvus").RpcError)
        self.types: Any = pymilvus.DataType
        scheme = "https" if address.options.get("tls") else "http"
        with self.explained():
            self.client: Any = pymilvus.MilvusClient(
                uri=f"{scheme}://{address.host}:{address.port or _PORT}",
                user=address.user,
                password=address.password,
                db_name=address.options.get("database", ""),
                timeout=self.timeout,
            )

    def __enter__(self) -> Self:
        """Close the connection at the end of the ``with`` block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the connection."""
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.client.close()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn what the client raises into an error that says what to do."""
        try:
            yield
        except self._errors as problem:
            raise EngineProblem("Milvus", self.address.shown, _reason(problem)) from problem


def _reason(problem: Exception) -> str:
    """Give the first sentence of what may be a page."""
    text = str(getattr(problem, "message", "") or problem).strip()
    return text.splitlines()[0][:200] if text else type(problem).__name__
