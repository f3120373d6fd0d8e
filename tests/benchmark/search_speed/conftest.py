"""A comparison with made-up times, to see what is written about it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from sketchhash.benchmark.search_speed import Comparison, Result
from sketchhash.benchmark.search_speed.timing import Timing


@pytest.fixture(scope="session")
def timed() -> Callable[..., Comparison]:
    """Give a function that makes a comparison from the milliseconds of each engine; a batch takes half of them."""

    def make(
        kind: str, size: int, bits: int, read: float, *, has_reference_hits: bool = True, **milliseconds: float
    ) -> Comparison:
        def result(engine: str, value: float) -> Result:
            is_ours = engine in ("scan", "pruned")
            return Result(
                engine=engine,
                build_seconds=0.25,
                load_seconds=0.5,
                nbytes=3 * 2**20,
                one=Timing(value / 1000, value / 2000, 9),
                batch_queries=1000,
                per_second=2000 / value,
                per_second_on_all_cores=4000 / value if is_ours else None,
                has_reference_hits=has_reference_hits if is_ours else None,
            )

        results = tuple(result(engine, value) for engine, value in milliseconds.items())
        return Comparison(kind, size, bits, Timing(read / 1000, read / 1000, 9), results)

    return make
