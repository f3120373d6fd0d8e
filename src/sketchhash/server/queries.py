"""Read what a client asks for: strokes as JSON, or a picture in a form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from starlette.datastructures import UploadFile
from starlette.requests import Request

from sketchhash.errors import BadArgument
from sketchhash.server.failures import UnsupportedContent, invalid
from sketchhash.server.schemas import DrawingQuery, PictureQuery

_FIELDS = 8
_FIELD_BYTES = 10_000


@dataclass(frozen=True)
class Upload:
    """A picture, and what to find by it."""

    content: bytes
    query: PictureQuery


async def read_query(request: Request) -> DrawingQuery | Upload:
    """Read the body of a search; which of the two it is, its type tells."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if content_type == "application/json":
            return DrawingQuery.model_validate_json(await request.body())
        if content_type == "multipart/form-data":
            return await _read_form(request)
    except ValidationError as problem:
        raise invalid(problem.errors(include_url=False, include_input=False, include_context=False)) from problem
    raise UnsupportedContent(
        "A search is application/json with strokes, or multipart/form-data with a picture. "
        "What they hold is in /openapi.json."
    )


async def _read_form(request: Request) -> Upload:
    async with request.form(max_files=1, max_fields=_FIELDS, max_part_size=_FIELD_BYTES) as form:
        picture = form.get("picture")
        if not isinstance(picture, UploadFile):
            raise BadArgument("The form has no file in its field picture. Attach one.")
        # What is left empty in a form was not asked for.
        fields = {name: value for name, value in form.items() if name != "picture" and value != ""}
        return Upload(await picture.read(), PictureQuery.model_validate(fields))


def _form_schema() -> dict[str, Any]:
    schema = PictureQuery.model_json_schema()
    schema["properties"]["picture"] = {"type": "string", "format": "binary", "description": "A photo or a sketch."}
    return {**schema, "required": ["picture"]}


REQUEST_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": DrawingQuery.model_json_schema()},
            "multipart/form-data": {"schema": _form_schema()},
        },
    }
}
"""For the OpenAPI document, which FastAPI cannot write for a body of two types."""
