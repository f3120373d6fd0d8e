"""People who draw: their strokes grow, and every so often the page asks what they look like by now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from itertools import cycle
from time import perf_counter, sleep

import numpy as np

from sketchhash.datasets import synthetic
from sketchhash.imaging import Drawing

_HITS = 40
_PATIENCE = 10.0  # seconds
_HEADERS = {"Content-Type": "application/json"}
_SKETCHES_A_CATEGORY = 2


@dataclass(frozen=True)
class Pace:
    """The page asks when nothing was drawn for 120 ms, or that often; a mouse gives about 100 points a second."""

    seconds: float = 0.12
    points: int = 12


@dataclass(frozen=True)
class Reply:
    """When a question was asked, how long its answer took, and its HTTP status: 0 if there was none."""

    asked_at: float
    seconds: float
    status: int


def draw_until(end: float, port: int, pace: Pace, rng: np.random.Generator) -> list[Reply]:
    """Draw one thing after the other until a time of `perf_counter`; whoever waits for an answer draws on."""
    replies: list[Reply] = []
    connection = HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
    due = perf_counter() + pace.seconds * rng.random()
    for strokes in _growing_drawings(pace.points, rng):
        sleep(max(due - perf_counter(), 0))
        if perf_counter() >= end:
            break
        replies.append(_ask(connection, strokes))
        due = max(due + pace.seconds, perf_counter())
    connection.close()
    return replies


def grow(drawing: Drawing, points: int) -> Iterator[list[list[list[float]]]]:
    """Give the strokes as they are after so many more points each time, and at last all of them."""
    strokes = drawing.to_json()
    total = sum(map(len, strokes))
    for drawn in (*range(points, total, points), total):
        left, shown = drawn, []
        for stroke in strokes:
            if left > 0:
                shown.append(stroke[:left])
            left -= len(stroke)
        yield shown


def _growing_drawings(points: int, rng: np.random.Generator) -> Iterator[list[list[list[float]]]]:
    sketches = synthetic.load(_SKETCHES_A_CATEGORY, 0).sketches
    for number in cycle(rng.permutation(len(sketches)).tolist()):
        drawing = sketches[number].content.read()
        yield from grow(drawing, points)


def _ask(connection: HTTPConnection, strokes: list[list[list[float]]]) -> Reply:
    body = json.dumps({"strokes": strokes, "k": _HITS})
    start = perf_counter()
    try:
        connection.request("POST", "/api/search", body, _HEADERS)
        answer = connection.getresponse()
        answer.read()
        status = answer.status
    except (OSError, HTTPException):
        connection.close()  # the next question opens it again
        status = 0
    return Reply(start, perf_counter() - start, status)
