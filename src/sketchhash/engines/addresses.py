"""The address of something that an engine holds: ``milvus://`` or ``postgresql://``, a server, a name, options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from sketchhash.errors import BadArgument, UnknownName

SCHEMES = ("milvus", "postgresql", "postgres")


@dataclass(frozen=True)
class Address:
    """The parts of an address; ``text`` holds the password, ``shown`` does not."""

    scheme: str
    host: str
    port: int | None
    user: str
    password: str = field(repr=False)
    name: str
    options: Mapping[str, str]
    text: str = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse an address.

        >>> address = Address.parse("milvus://me:secret@db.example:19530/photos?timeout=5")
        >>> address.name, dict(address.options), address.shown
        ('photos', {'timeout': '5'}, 'milvus://db.example:19530/photos')
        """
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError as problem:
            raise BadArgument(f"The address of the gallery cannot be read: {problem}.") from problem
        if parts.scheme not in SCHEMES:
            raise UnknownName("kind of engine", parts.scheme, SCHEMES)
        return cls(
            scheme=parts.scheme,
            host=parts.hostname or "",
            port=port,
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            name=unquote(parts.path).strip("/"),
            options=_options(parts),
            text=text,
        )

    @property
    def shown(self) -> str:
        """The address for people to read: no password, no options."""
        port = "" if self.port is None else f":{self.port}"
        return f"{self.scheme}://{self.host}{port}/{self.name}"

    def seconds(self, name: str, otherwise: float) -> float:
        """Return an option that is a time in seconds."""
        value = self.options.get(name)
        try:
            seconds = otherwise if value is None else float(value)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds <= 3600:
            raise BadArgument(f"{name}={value} in {self.shown} is no time: give seconds, such as {name}=10.")
        return seconds

    def number(self, name: str, otherwise: int) -> int:
        """Return an option that is a whole number, 1 or more."""
        value = self.options.get(name, str(otherwise))
        if not value.isdecimal() or int(value) < 1:
            raise BadArgument(f"{name}={value} in {self.shown} is no whole number above 0.")
        return int(value)

    def require_options(self, known: Iterable[str]) -> None:
        """Raise if there is an option that is not ``known``."""
        for name in self.options:
            if name not in (names := tuple(known)):
                raise UnknownName("option of a gallery's address", name, names)


def is_address(text: str) -> bool:
    """Tell an engine's address from the name of a file.

    >>> is_address("milvus://127.0.0.1:19530/photos"), is_address("photos.gallery")
    (True, False)
    """
    return "://" in text


def _options(parts: SplitResult) -> dict[str, str]:
    return dict(parse_qsl(parts.query, keep_blank_values=True))
