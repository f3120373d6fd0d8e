"""Read JSON into frozen dataclasses: every field present, none unknown, each of its declared type.

A problem is a `ValueError` that names the field as a reader would find it (``ink.size``).
"""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, NoReturn, get_args, get_origin, get_type_hints

_KINDS = {str: "text", int: "a whole number", float: "a number", NoneType: "null"}


def loads(text: str) -> object:
    """Parse JSON, refusing what its standard leaves open: repeated keys, ``NaN`` and ``Infinity``."""
    return json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)


def conform(value: object, shape: Any, where: str) -> Any:  # noqa: ANN401 - the shape decides the type
    """Give parsed JSON the declared ``shape``: a dataclass, tuple, mapping, ``X | None`` or plain type.

    >>> conform([1, 2.5], tuple[float, ...], "scale")
    (1.0, 2.5)
    """
    if is_dataclass(shape):
        return _record(value, shape, where)
    parts = get_args(shape)
    match get_origin(shape):
        case None:
            return _plain(value, shape, where)
        case origin if origin is UnionType:
            return None if value is None else conform(value, parts[0], where)
        case origin if origin is tuple:
            return _row(value, parts, where)
        case _:
            table = _expect(value, dict, "an object", where)
            return {key: conform(item, parts[1], f"{where}[{key!r}]") for key, item in table.items()}


def _record(value: object, shape: Any, where: str) -> Any:  # noqa: ANN401
    table = _expect(value, dict, "an object", where)
    types = get_type_hints(shape)
    names = [field.name for field in fields(shape)]
    dotted = f"{where}." if where else ""
    if missing := [name for name in names if name not in table]:
        raise ValueError(f"{dotted}{missing[0]} is missing")
    if unknown := [name for name in table if name not in names]:
        raise ValueError(f"{dotted}{unknown[0]} is not a known field")
    return shape(**{name: conform(table[name], types[name], f"{dotted}{name}") for name in names})


def _row(value: object, parts: tuple[Any, ...], where: str) -> tuple[Any, ...]:
    row = _expect(value, list, "a list", where)
    shapes = (parts[0],) * len(row) if parts[-1] is Ellipsis else parts
    if len(row) != len(shapes):
        raise ValueError(f"{where} should hold {len(shapes)} values, found {len(row)}")
    return tuple(conform(item, shape, f"{where}[{i}]") for i, (item, shape) in enumerate(zip(row, shapes, strict=True)))


def _plain(value: object, shape: Any, where: str) -> Any:  # noqa: ANN401
    if shape is float and type(value) is int:
        value = float(value)
    # `type() is`, not isinstance: JSON's true is not a whole number, though Python's True is an int.
    if type(value) is not shape or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"{where} should be {_KINDS[shape]}, found {reprlib.repr(value)}")
    return value


def _expect(value: object, kind: type[Any], called: str, where: str) -> Any:  # noqa: ANN401
    if not isinstance(value, kind):
        raise ValueError(f"{where or 'the file'} should hold {called}, found {reprlib.repr(value)}")
    return value


def _without_repeats(pairs: list[tuple[str, object]]) -> Mapping[str, object]:
    table = dict(pairs)
    if len(table) < len(pairs):
        raise ValueError(f"a key is given twice among {', '.join(key for key, _ in pairs)}")
    return table


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number in JSON")
