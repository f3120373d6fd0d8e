"""Errors of the service, and how every error becomes a response.

Errors are translated here and nowhere else: `STATUS` maps an error to its HTTP status, the class name gives the
``kind``, and the text is the message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from sketchhash.errors import (
    BadArgument,
    DamagedState,
    EngineProblem,
    IncompatibleGallery,
    SketchHashError,
    UnreadableImage,
    UnwritableState,
)

RETRY_SECONDS = 1


class Unauthorised(SketchHashError):
    """The request has no token, or a wrong one."""


class UnknownHost(SketchHashError):
    """The request names a host that the service does not accept."""


class ForeignPage(SketchHashError):
    """The request was sent by a page of another site."""


class NoSuchPhoto(SketchHashError):
    """The photo is not in the gallery, or its file is not what was indexed."""


class TooSlow(SketchHashError):
    """The request took too long to arrive."""


class TooLarge(SketchHashError):
    """The request has more bytes than the service reads."""


class HeadTooLarge(SketchHashError):
    """The request line and the headers have more bytes than the service reads."""


class UnsupportedContent(SketchHashError):
    """The request body has a type that the service does not understand."""


class TooBusy(SketchHashError):
    """The service has no room for more work."""


STATUS: Mapping[type[SketchHashError], int] = {
    UnknownHost: 400,
    ForeignPage: 400,
    Unauthorised: 401,
    NoSuchPhoto: 404,
    TooSlow: 408,
    TooLarge: 413,
    UnsupportedContent: 415,
    BadArgument: 422,
    UnreadableImage: 422,
    HeadTooLarge: 431,
    TooBusy: 503,
    DamagedState: 503,
    EngineProblem: 503,
    IncompatibleGallery: 503,
    UnwritableState: 503,
    SketchHashError: 500,
}

_HEADERS = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": str(RETRY_SECONDS)}}


def error_response(error: SketchHashError) -> JSONResponse:
    """Return the response for an error."""
    status = next(STATUS[each] for each in type(error).__mro__ if each in STATUS)
    return _json_error(status, error_kind(type(error)), str(error))


def error_kind(error: type[SketchHashError]) -> str:
    """Return the name by which programs know an error.

    >>> error_kind(UnreadableImage)
    'unreadable_image'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", error.__name__).lower()


def validation_error(error: ValidationError | RequestValidationError) -> BadArgument:
    """Return an error that reports the first of those that pydantic found."""
    if isinstance(error, ValidationError):
        details: Sequence[Any] = error.errors(include_url=False, include_input=False, include_context=False)
    else:
        details = error.errors()
    first = details[0]
    place = ".".join(str(part) for part in first["loc"])
    others = f" ({len(details) - 1:,} more like it)" if len(details) > 1 else ""
    return BadArgument(f"{place or 'The request'}: {first['msg']}{others}. What is expected is in /openapi.json.")


def add_error_handlers(app: FastAPI) -> None:
    """Let every error that a route of ``app`` raises become a response of the same form."""

    @app.exception_handler(SketchHashError)
    async def on_error(_: Request, error: SketchHashError) -> Response:
        return error_response(error)

    @app.exception_handler(RequestValidationError)
    async def on_invalid_request(_: Request, error: RequestValidationError) -> Response:
        return error_response(validation_error(error))

    @app.exception_handler(HTTPException)
    async def on_http_error(_: Request, error: HTTPException) -> Response:
        kind = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
        message = f"{error.detail.rstrip('.')}. What can be asked is in /openapi.json."
        response = _json_error(error.status_code, kind, message)
        response.headers.update(error.headers or {})
        return response

    @app.exception_handler(ClientDisconnect)
    async def on_disconnect(_: Request, __: ClientDisconnect) -> Response:
        # The client is gone and reads no response. Without this, clients that drop a drawing for a newer one would fill
        # the log with tracebacks.
        return _json_error(400, "client_gone", "The client went away before its request had arrived.")

    @app.exception_handler(Exception)
    async def on_defect(_: Request, __: Exception) -> Response:
        return _json_error(500, "internal_error", "Something is wrong inside the service. Its log says what.")


def _json_error(status: int, kind: str, message: str) -> JSONResponse:
    return JSONResponse({"error": {"kind": kind, "message": message}}, status, _HEADERS.get(status))
