"""Milvus: a connection, and a collection of rows by id that are read and written in batches.

The client reconnects by itself, and tries again while a server is away until the time for one call is over. What it
then raises, whatever it is, becomes one error that says which server, what happened and what is safe.

Milvus has no transactions: a call is done when it returns, and a batch that was interrupted may be there in whole, in
part or not at all. Rows are put by id, so putting a batch again ends the same.

Needs ``pip install 'sketchhash[milvus]'``; the package is imported when a server is opened, not before.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from sketchhash.engines.addresses import Address
from sketchhash.errors import BadArgument, EngineProblem, require

Kind = Literal["BIN_FLAT", "BIN_IVF_FLAT"]
Row = Mapping[str, Any]

# Strong: a reader sees all that was acknowledged before it asked. Bounded: it may be some seconds behind, and
# does not wait for the server's next tick, which is most of a search's time.
Consistency = Literal["Strong", "Bounded"]

LONGEST = 65_535
"""Bytes of text in one field of a row."""

MOST = 16_384
"""The most rows that Milvus returns at once."""

_LISTED_AT_ONCE = 10_000
_FEWEST_INDEXED = 1024
_PAGE = 1000

TIMEOUT = 10.0
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
        self.timeout = address.seconds("timeout", TIMEOUT)
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


@dataclass(frozen=True)
class CollectionLayout:
    """What a collection holds beside ``id`` and ``code``, and how codes are indexed.

    Args:
        bits: The width of the codes.
        texts: Further columns of text, and their longest length in bytes.
        numbers: Further columns of whole numbers.
        reals: Further columns of real numbers.
        about: A description that is kept with the collection.
        kind: ``BIN_FLAT`` compares every code, ``BIN_IVF_FLAT`` those of the nearest clusters.
        clusters: Of ``BIN_IVF_FLAT``.
    """

    bits: int
    texts: Mapping[str, int] = field(default_factory=dict)
    numbers: Sequence[str] = ()
    reals: Sequence[str] = ()
    about: str = ""
    kind: Kind = "BIN_FLAT"
    clusters: int = 128


class Collection:
    """A collection that is there, and loaded to be searched."""

    def __init__(self, server: MilvusServer, name: str, consistency: Consistency = "Strong") -> None:
        """Open the collection ``name``.

        Raises:
            BadArgument: If there is none.
        """
        self.server = server
        self.name = name
        self.consistency = consistency
        with server.explained():
            if not server.client.has_collection(name, timeout=server.timeout):
                raise BadArgument(
                    f"There is no collection {name!r} on {server.address.shown}. "
                    "Make one with: sketchhash index FOLDER --gallery ADDRESS"
                )
            described = server.client.describe_collection(name, timeout=server.timeout)
            self.about = str(described["description"])
            fields = {each["name"]: each["params"] for each in described["fields"]}
            if "id" not in fields or "dim" not in fields.get("code", {}):
                raise BadArgument(f"The collection {name!r} on {server.address.shown} was not made by sketchhash.")
            self.columns = frozenset(fields)
            self.bits = int(fields["code"]["dim"])
            index = server.client.describe_index(name, "code", timeout=server.timeout)
            if index is None:
                unfinished = f"The collection {name!r} on {server.address.shown} is not finished"
                raise BadArgument(f"{unfinished}. Run again what began it: sketchhash index, or gallery copy")
            self.clusters = int(index["nlist"]) if index["index_type"] == "BIN_IVF_FLAT" else 0
            server.client.load_collection(name, timeout=server.timeout)

    @classmethod
    def create(
        cls, server: MilvusServer, name: str, layout: CollectionLayout, consistency: Consistency = "Strong"
    ) -> Collection:
        """Open the collection ``name``, which is made if it is not there.

        A collection is there before its index is: another may be making both just now, or was stopped in between.
        """
        with server.explained():
            index = server.client.prepare_index_params()
            clusters = {"nlist": layout.clusters} if layout.kind == "BIN_IVF_FLAT" else {}
            index.add_index("code", index_type=layout.kind, metric_type="HAMMING", params=clusters)
            if not server.client.has_collection(name, timeout=server.timeout):
                schema = server.client.create_schema(auto_id=False, description=layout.about)
                schema.add_field("id", server.types.INT64, is_primary=True)
                schema.add_field("code", server.types.BINARY_VECTOR, dim=layout.bits)
                for column, longest in layout.texts.items():
                    schema.add_field(column, server.types.VARCHAR, max_length=longest)
                for column in layout.numbers:
                    schema.add_field(column, server.types.INT64)
                for column in layout.reals:
                    schema.add_field(column, server.types.DOUBLE)
                server.client.create_collection(name, schema=schema, timeout=server.timeout)
            if server.client.describe_index(name, "code", timeout=server.timeout) is None:
                server.client.create_index(name, index, timeout=server.timeout)
        return cls(server, name, consistency)

    def __len__(self) -> int:
        """Count the rows."""
        return self.count("")

    def put(self, rows: Sequence[Row]) -> None:
        """Write rows; those whose id is there are replaced."""
        if rows:
            with self.server.explained():
                self.server.client.upsert(self.name, list(rows), timeout=self.server.timeout)

    def remove(self, ids: Sequence[int]) -> None:
        """Remove rows by id; ids that are not there do not matter."""
        for some in _chunks(ids):
            with self.server.explained():
                self.server.client.delete(self.name, ids=list(some), timeout=self.server.timeout)

    def about_now(self) -> str:
        """Return the description of the collection that has the name now: it may have been made anew."""
        with self.server.explained():
            return str(self.server.client.describe_collection(self.name, timeout=self.server.timeout)["description"])

    def drop(self) -> None:
        """Remove the collection itself."""
        with self.server.explained():
            self.server.client.drop_collection(self.name, timeout=self.server.timeout)

    def settle(self) -> None:
        """Make Milvus index new rows now, not some seconds later: until then it searches them slowly."""
        if len(self) >= _FEWEST_INDEXED:
            with self.server.explained():
                self.server.client.flush(self.name, timeout=self.server.timeout)

    def rows(self, ids: Sequence[int], columns: Sequence[str]) -> dict[int, Row]:
        """Return the rows of some ids, by id; an id that is not there has none."""
        found: dict[int, Row] = {}
        for some in _chunks(ids):
            with self.server.explained():
                for row in self._query(f"id in {list(some)}", ["id", *columns]):
                    found[row["id"]] = row
        return found

    def count(self, condition: str) -> int:
        """Count the rows that fulfil a condition; "" is none."""
        with self.server.explained():
            (counted,) = self._query(condition, ["count(*)"])
        return int(counted["count(*)"])

    def selected(self, condition: str, columns: Sequence[str]) -> Iterator[list[Row]]:
        """Yield the rows that fulfil a condition, by id, in pages."""
        for ids in self._all_ids(condition):
            for start in range(0, len(ids), _PAGE):
                rows = self.rows(ids[start : start + _PAGE], columns)
                yield [rows[each] for each in sorted(rows)]

    def pages(self, columns: Sequence[str]) -> Iterator[list[Row]]:
        """Yield all rows, by id, in pages.

        Not over the client's own iterator: against servers that tell it no time it takes its own clock's, and may
        miss what was acknowledged a moment ago, whatever the consistency.
        """
        yield from self.selected("", columns)

    def _all_ids(self, condition: str) -> Iterator[list[int]]:
        """Yield all ids that fulfil a condition in ascending order, some at a time.

        A query returns any of its rows, and no more than a limit: while there may be more, the ids are divided at the
        middle of those returned.
        """
        ranges: list[tuple[int | None, int | None]] = [(None, None)]
        while ranges:
            above, most = ranges.pop()
            bounds = [condition] if condition else []
            bounds += [f"id > {above}"] * (above is not None) + [f"id <= {most}"] * (most is not None)
            with self.server.explained():
                ids = sorted(row["id"] for row in self._query(" and ".join(bounds), ["id"], limit=MOST))
            if len(ids) < MOST:
                yield ids
            else:
                middle = ids[len(ids) // 2 - 1]
                ranges += [(middle, most), (above, middle)]

    def search(
        self, queries: NDArray[np.uint8], limit: int, condition: str, probes: int
    ) -> list[tuple[NDArray[np.int64], NDArray[np.uint16]]]:
        """Return the ``limit`` nearest of each query as Milvus has them: ties are in no order, and cut anywhere."""
        with self.server.explained():
            found = self.server.client.search(
                self.name,
                data=[query.tobytes() for query in queries],
                anns_field="code",
                limit=limit,
                filter=condition,
                search_params={"metric_type": "HAMMING", "params": {"nprobe": probes} if self.clusters else {}},
                timeout=self.server.timeout,
                consistency_level=self.consistency,
            )
        return [
            (
                np.array([hit["id"] for hit in hits], dtype=np.int64),
                np.array([hit["distance"] for hit in hits], dtype=np.uint16),
            )
            for hits in found
        ]

    def _query(self, condition: str, columns: list[str], limit: int | None = None) -> list[Row]:
        return list(
            self.server.client.query(
                self.name,
                filter=condition,
                output_fields=columns,
                **({} if limit is None else {"limit": limit}),
                timeout=self.server.timeout,
                consistency_level=self.consistency,
            )
        )


def code_of(row: Row) -> bytes:
    """Return the packed code of a row that was read with it."""
    (code,) = row["code"]
    return bytes(code)


def _chunks(ids: Sequence[int]) -> Iterable[Sequence[int]]:
    return (ids[start : start + _LISTED_AT_ONCE] for start in range(0, len(ids), _LISTED_AT_ONCE))


def _reason(problem: Exception) -> str:
    """Return the first line of a message, which may be long."""
    text = str(getattr(problem, "message", "") or problem).strip()
    return text.splitlines()[0][:200] if text else type(problem).__name__
