"""Metrics for Prometheus: counts and times, never the content of a drawing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Literal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sketchhash.server.limits import WorkPool

Stage = Literal["ink", "encode", "search"]

_BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)  # seconds


class Stopwatch:
    """The seconds that each stage of one search takes, and the total since the stopwatch was created."""

    def __init__(self) -> None:
        """Start now."""
        self._start = perf_counter()
        self.seconds: dict[str, float] = {"ink": 0.0, "encode": 0.0, "search": 0.0}

    @contextmanager
    def stage(self, stage: Stage) -> Iterator[None]:
        """Add the time of the block to ``stage``."""
        start = perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] += perf_counter() - start

    def milliseconds(self) -> dict[str, float]:
        """Return the stages and the ``total`` so far, rounded to a hundredth."""
        seconds = {**self.seconds, "total": perf_counter() - self._start}
        return {name: round(1000 * value, 2) for name, value in seconds.items()}


def server_timing(milliseconds: dict[str, float]) -> str:
    """Format a ``Server-Timing`` header, which browsers show beside the request.

    >>> server_timing({"encode": 4.1, "total": 6.0})
    'encode;dur=4.1, total;dur=6.0'
    """
    return ", ".join(f"{name};dur={value}" for name, value in milliseconds.items())


class Metrics:
    """The metrics of one service."""

    def __init__(self) -> None:
        """Start at zero, separately from every other service in this process."""
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self._photos = Gauge("sketchhash_photos", "Photos that can be found.", registry=self.registry)
        self._pending = Gauge("sketchhash_work_pending", "Tasks that wait or run.", ["pool"], registry=self.registry)
        self._stages = Histogram(
            "sketchhash_stage_seconds", "Stages of a search.", ["stage"], buckets=_BUCKETS, registry=self.registry
        )
        self._requests = Histogram(
            "sketchhash_request_seconds", "Requests, by route.", ["route"], buckets=_BUCKETS, registry=self.registry
        )
        self._answers = Counter(
            "sketchhash_answers", "Answers, by route and status.", ["route", "status"], registry=self.registry
        )

    def observe_search(self, watch: Stopwatch) -> None:
        """Record the stages of a search that were needed."""
        for stage, seconds in watch.seconds.items():
            if seconds:
                self._stages.labels(stage).observe(seconds)

    def observe_request(self, route: str, status: int, seconds: float) -> None:
        """Record a request and the status of its response."""
        self._requests.labels(route).observe(seconds)
        self._answers.labels(route, str(status)).inc()

    def text(self, photos: int, pools: Iterable[WorkPool]) -> bytes:
        """Return all metrics in Prometheus' text format."""
        self._photos.set(photos)
        for pool in pools:
            self._pending.labels(pool.name).set(pool.pending)
        return generate_latest(self.registry)


class MetricsMiddleware:
    """Middleware that times and counts every request."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        """Wrap ``app``."""
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and record how it went."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = perf_counter(), 500

        async def send_noting_status(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_noting_status)
        finally:
            # The path's template, not the path: clients can invent any number of paths.
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.observe_request(route, status, perf_counter() - start)
