"""Which requests the service answers.

The service reads a person's photos, so it answers that person only:

- ``Host`` must be an address or an allowed name. A hostile site that points its own name at this machine (DNS
  rebinding) gets no answer.
- Pages of other sites may not send requests to ``/api`` at all, whether or not they could read the response. Browsers
  say by ``Sec-Fetch-Site`` who sends a request; older ones only by ``Origin``, and not with every ``GET``.
- If a token is set, everything but the page itself and ``/health`` requires it, either as a bearer token or as the
  session cookie that ``POST /api/session`` sets: images on a page cannot send headers.
"""

from __future__ import annotations

import hmac
import os
import secrets
import socket
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import ip_address
from typing import Self

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sketchhash.errors import BadArgument, SketchHashError
from sketchhash.server.errors import ForeignPage, Unauthorised, UnknownHost, error_response

SHORTEST_TOKEN = 16
_WILDCARDS = ("0.0.0.0", "::")
_ANYWHERE = ("192.0.2.1", 9)  # an address of the documentation, which no machine has
_OTHER_SITES = ("cross-site", "same-site")
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
_DEFAULT_PORTS = {"http": ":80", "https": ":443"}

_FOREIGN_PAGE = "Pages of other sites may not search this gallery. Open its own page."


@dataclass(frozen=True)
class Access:
    """The token that clients must send, if any, and the host names that the service accepts."""

    token: str | None = None
    hosts: frozenset[str] = frozenset({"localhost"})

    def __post_init__(self) -> None:
        """Refuse a token that could be guessed or that does not fit into a header."""
        if self.token is not None and not (len(self.token) >= SHORTEST_TOKEN and _is_plain(self.token)):
            raise BadArgument(
                f"A token is at least {SHORTEST_TOKEN} letters, digits and signs, without spaces. "
                "Type: export SKETCHHASH_TOKEN=$(openssl rand -hex 32)"
            )

    @classmethod
    def for_host(cls, host: str, names: Iterable[str] = ()) -> Self:
        """Return the access to a service that listens on ``host``, which clients may also know by ``names``.

        The token is that of the environment (``SKETCHHASH_TOKEN``); without one, a new token is made where other
        machines can reach the service.
        """
        token = os.environ.get("SKETCHHASH_TOKEN") or (None if _is_loopback(host) else secrets.token_urlsafe(32))
        own_name = socket.gethostname() if host in _WILDCARDS else host
        return cls(token, frozenset({"localhost", own_name.lower(), *map(str.lower, names)}))

    def address(self, host: str, port: int) -> str:
        """Return the page's address on this machine; after the ``#``, the token stays in browsers and out of logs."""
        return self._page("localhost" if host in _WILDCARDS else host, port)

    def addresses_elsewhere(self, host: str, port: int) -> list[str]:
        """Return the page's addresses on other machines, such as a phone in the same network; the likeliest first."""
        if _is_loopback(host):
            return []
        names = (own_addresses() or [socket.gethostname()]) if host in _WILDCARDS else [host]
        return [self._page(name, port) for name in names]

    def _page(self, name: str, port: int) -> str:
        page = f"http://{f'[{name}]' if ':' in name else name}:{port}/"
        return page if self.token is None else f"{page}#token={self.token}"

    def check(self, request: HTTPConnection) -> None:
        """Raise an error unless the request may be answered."""
        host = request.headers.get("host", "")
        if not self._accepts_host(_host_name(host)):
            raise UnknownHost(f"This service does not go by the name {host!r}. Start it with: --allow-host NAME")
        is_unsafe = request.scope["method"] not in _SAFE_METHODS
        if is_unsafe and not all(self._is_own_origin(origin, host) for origin in request.headers.getlist("origin")):
            raise ForeignPage(_FOREIGN_PAGE)
        if not _is_guarded(request.scope["path"]):
            return
        if request.headers.get("sec-fetch-site") in _OTHER_SITES:
            raise ForeignPage(_FOREIGN_PAGE)
        if self.token is not None and not _is_authorised(request, self.token):
            raise Unauthorised("This gallery asks for its token. Open the address that its service printed at start.")

    def open_session(self, response: Response) -> None:
        """Set a session cookie on ``response``, which lets that browser in until it is closed."""
        if self.token is not None:
            name, value = _session_cookie(self.token)
            response.set_cookie(name, value, httponly=True, samesite="strict")

    def _accepts_host(self, name: str) -> bool:
        if not _is_address(name):
            return name in self.hosts
        address = ip_address(name)
        # Rebinding needs a name. But 0.0.0.0 is no address to ask for: it leads to this machine past the rules by
        # which browsers keep pages of the internet from it.
        return not (getattr(address, "ipv4_mapped", None) or address).is_unspecified

    def _is_own_origin(self, origin: str, host: str) -> bool:
        """Return whether an ``Origin`` is the page of this service, which the client calls ``host``."""
        scheme, _, place = origin.lower().partition("://")
        if scheme not in _DEFAULT_PORTS:
            return False
        place, host = (each.removesuffix(_DEFAULT_PORTS[scheme]) for each in (place, host.lower()))
        # A proxy may replace the host by its own name for this service; the page has the name that was allowed.
        return place == host or (place in self.hosts and place != "localhost" and not _is_address(place))


def own_addresses() -> list[str]:
    """Return the addresses of this machine in its networks, that of the way to other networks first."""
    found = []
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(_ANYWHERE)  # sends nothing, but chooses the way
        found.append(str(probe.getsockname()[0]))
    with suppress(OSError):
        found += [str(place[0]) for *_, place in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)]
    return [each for each in dict.fromkeys(found) if not ip_address(each).is_loopback]


class AccessMiddleware:
    """Middleware that refuses what `Access` does not allow."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        """Wrap ``app``."""
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass an allowed request on, and respond to any other with the reason."""
        app: ASGIApp = self._app
        if scope["type"] == "http":
            try:
                self._access.check(HTTPConnection(scope))
            except SketchHashError as refusal:
                app = error_response(refusal)
        await app(scope, receive, send)


def _is_guarded(path: str) -> bool:
    return path.startswith("/api/") or path == "/metrics"


def _is_authorised(request: HTTPConnection, token: str) -> bool:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return hmac.compare_digest(given.strip().encode(), token.encode())
    name, value = _session_cookie(token)
    return hmac.compare_digest(request.cookies.get(name, "").encode(), value.encode())


def _session_cookie(token: str) -> tuple[str, str]:
    """Return the cookie's name and value; browsers share cookies among ports, so each token has its own name."""
    name = sha256(token.encode()).hexdigest()[:8]
    return f"sketchhash-{name}", hmac.new(token.encode(), b"session", sha256).hexdigest()


def _is_loopback(host: str) -> bool:
    return ip_address(host).is_loopback if _is_address(host) else host == "localhost"


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _is_plain(token: str) -> bool:
    return token.isascii() and token.isprintable() and " " not in token


def _host_name(host: str) -> str:
    """Remove the port: ``[::1]:8765`` becomes ``::1``."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower().removesuffix(".")
