"""Who may ask.

The service reads a person's photos, so it answers that person only:

- the ``Host`` must be an address, or a name that was allowed: a hostile site that points its own name at this
  machine (DNS rebinding) is not answered;
- pages of other sites may not ask at all, with or without reading the answer;
- where a token is set, everything but the page itself and ``/health`` needs it, as a bearer token or as the session
  cookie that ``POST /api/session`` gives for it: images on a page cannot send headers.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from hashlib import sha256
from ipaddress import ip_address

from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from sketchhash.errors import BadArgument, SketchHashError
from sketchhash.server.errors import ForeignPage, Unauthorised, UnknownHost, failure_answer

SHORTEST_TOKEN = 16
_FOREIGN = ("cross-site", "same-site")


@dataclass(frozen=True)
class Access:
    """The token to ask for, if any, and the names that the service goes by."""

    token: str | None = None
    hosts: frozenset[str] = frozenset({"localhost"})

    def __post_init__(self) -> None:
        """Refuse a token that could be guessed, or that does not fit into a header."""
        if self.token is not None and not (len(self.token) >= SHORTEST_TOKEN and _is_plain(self.token)):
            raise BadArgument(
                f"A token is at least {SHORTEST_TOKEN} letters, digits and signs, without spaces. "
                "Type: export SKETCHHASH_TOKEN=$(openssl rand -hex 32)"
            )

    def check(self, request: HTTPConnection) -> None:
        """Raise an error unless the request may be answered."""
        host = request.headers.get("host", "")
        if not self._goes_by(_host_name(host)):
            raise UnknownHost(f"This service does not go by the name {host!r}. Start it with: --allow-host NAME")
        if not _is_guarded(request.scope["path"]):
            return
        if request.headers.get("sec-fetch-site") in _FOREIGN:
            raise ForeignPage("Pages of other sites may not search this gallery. Open its own page.")
        if self.token is not None and not _knows(self.token, request):
            raise Unauthorised("This gallery asks for its token. Open the address that its service printed at start.")

    def open_session(self, response: Response) -> None:
        """Let the browser that gets ``response`` in without the token, until it is closed."""
        if self.token is not None:
            name, value = _session(self.token)
            response.set_cookie(name, value, httponly=True, samesite="strict")

    def _goes_by(self, name: str) -> bool:
        try:
            ip_address(name)
        except ValueError:
            return name in self.hosts
        return True  # rebinding needs a name


class Doorkeeper:
    """Middleware that lets in what `Access` allows."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        """Stand before ``app``."""
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer why not."""
        answer: ASGIApp = self._app
        if scope["type"] == "http":
            try:
                self._access.check(HTTPConnection(scope))
            except SketchHashError as refusal:
                answer = failure_answer(refusal)
        await answer(scope, receive, send)


def _is_guarded(path: str) -> bool:
    return path.startswith("/api/") or path == "/metrics"


def _knows(token: str, request: HTTPConnection) -> bool:
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return hmac.compare_digest(given.strip().encode(), token.encode())
    name, value = _session(token)
    return hmac.compare_digest(request.cookies.get(name, "").encode(), value.encode())


def _session(token: str) -> tuple[str, str]:
    """Give a cookie's name and value: browsers share cookies among ports, so services must not share names."""
    name = sha256(token.encode()).hexdigest()[:8]
    return f"sketchhash-{name}", hmac.new(token.encode(), b"session", sha256).hexdigest()


def _is_plain(token: str) -> bool:
    return token.isascii() and token.isprintable() and " " not in token


def _host_name(host: str) -> str:
    """Take the port off: ``[::1]:8765`` is ``::1``."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower().removesuffix(".")
