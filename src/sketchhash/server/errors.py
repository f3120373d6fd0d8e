"""What the service refuses, and how every error becomes an answer.

Errors are translated here and nowhere else: `STATUS` says which HTTP status an error has, its class name says the
``kind``, its text is the message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from sketchhash.errors import (
    BadArgument,
    BusyGallery,
    EngineProblem,
    IncompatibleGallery,
    SketchHashError,
    UnreadableImage,
)

RETRY_SECONDS = 1


class Unauthorised(SketchHashError):
    """A request without the token, or with a wrong one."""


class UnknownHost(SketchHashError):
    """A request for a host that this service does not go by."""


class ForeignPage(SketchHashError):
    """A request that a page of another site has made."""


class NoSuchPhoto(SketchHashError):
    """A photo that is not in the gallery, or whose file is not what was indexed."""


class TooSlow(SketchHashError):
    """A request that took too long to arrive."""


class TooLarge(SketchHashError):
    """A request with more bytes than are read."""


class UnsupportedContent(SketchHashError):
    """A request body of a type that is not understood."""


class TooBusy(SketchHashError):
    """More work than the service takes on at once."""


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
    TooBusy: 503,
    BusyGallery: 503,
    EngineProblem: 503,
    IncompatibleGallery: 503,
    SketchHashError: 500,
}

_HEADERS = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": str(RETRY_SECONDS)}}


def failure_answer(error: SketchHashError) -> JSONResponse:
    """Give the answer for an error."""
    status = next(STATUS[each] for each in type(error).__mro__ if each in STATUS)
    return error_answer(status, kind_of(type(error)), str(error))


def error_answer(status: int, kind: str, message: str) -> JSONResponse:
    """Give the one form that every error has on the wire."""
    return JSONResponse({"error": {"kind": kind, "message": message}}, status, _HEADERS.get(status))


def explain_errors(app: FastAPI) -> None:
    """Give every error that a route of ``app`` raises that form."""

    @app.exception_handler(SketchHashError)
    async def explain(_: Request, error: SketchHashError) -> Response:
        return failure_answer(error)

    @app.exception_handler(RequestValidationError)
    async def explain_invalid(_: Request, error: RequestValidationError) -> Response:
        return failure_answer(invalid(error.errors()))

    @app.exception_handler(HTTPException)
    async def explain_http(_: Request, error: HTTPException) -> Response:
        kind = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
        answer = error_answer(
            error.status_code, kind, f"{error.detail.rstrip('.')}. What can be asked is in /openapi.json."
        )
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(ClientDisconnect)
    async def note_client_gone(_: Request, __: ClientDisconnect) -> Response:
        # Nobody reads this; without it, whoever draws on while the last drawing is being sent fills the log.
        return error_answer(400, "client_gone", "The client went away before its request had arrived.")

    @app.exception_handler(Exception)
    async def explain_defect(_: Request, __: Exception) -> Response:
        return error_answer(500, "internal_error", "Something is wrong inside the service. Its log says what.")


def kind_of(error: type[SketchHashError]) -> str:
    """Give the name that programs know an error by.

    >>> kind_of(UnreadableImage)
    'unreadable_image'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", error.__name__).lower()


def invalid(problems: Sequence[Any]) -> BadArgument:
    """Tell the first of the problems that pydantic found with a request."""
    first = problems[0]
    place = ".".join(str(part) for part in first["loc"])
    others = f" ({len(problems) - 1:,} more like it)" if len(problems) > 1 else ""
    return BadArgument(f"{place or 'The request'}: {first['msg']}{others}. What is expected is in /openapi.json.")
