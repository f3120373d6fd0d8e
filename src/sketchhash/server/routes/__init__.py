"""The routes, a module for each thing that they are about."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path

from sketchhash.server.schemas import ProblemAnswer

_DESCRIPTIONS = {
    400: "The request is not for this service, or cannot be read.",
    401: "The token is missing or wrong.",
    404: "There is no such photo.",
    408: "The request took too long to arrive.",
    413: "The request is too large.",
    415: "The body is of another type.",
    422: "Something in the request cannot be used.",
    503: "The service is busy: try again after as many seconds as Retry-After says.",
}

PhotoId = Annotated[int, Path(ge=1, le=2**63 - 1)]


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Describe the errors of a route for the OpenAPI document; some may happen anywhere."""
    return {
        status: {"model": ProblemAnswer, "description": _DESCRIPTIONS[status]}
        for status in sorted({400, 401, 422, 503, *statuses})
    }
