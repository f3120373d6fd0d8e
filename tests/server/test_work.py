"""The bounded pool: what does not fit is refused at once, and counted until it really ends."""

import asyncio
import threading
from dataclasses import replace

import pytest

from sketchhash.server.failures import TooBusy
from sketchhash.server.work import WorkPool


@pytest.fixture
def pool():
    pool = WorkPool("test", threads=1, queue=1)
    yield pool
    pool.close()


@pytest.fixture
def gate():
    gate = threading.Event()
    yield gate
    gate.set()


async def begin(pool, work):
    task = asyncio.ensure_future(pool.run(work))
    await asyncio.sleep(0)
    return task


def test_work_is_done_on_another_thread(pool):
    assert asyncio.run(pool.run(threading.current_thread)) is not threading.current_thread()


def test_an_error_of_the_work_reaches_who_asked_for_it(pool):
    with pytest.raises(ZeroDivisionError):
        asyncio.run(pool.run(lambda: 1 / 0))
    assert pool.pending == 0


def test_a_full_queue_refuses_and_later_takes_work_again(pool, gate):
    async def fill():
        under_way = [await begin(pool, gate.wait) for _ in range(2)]
        with pytest.raises(TooBusy):
            await pool.run(gate.wait)
        gate.set()
        await asyncio.gather(*under_way)
        return await pool.run(lambda: "done")

    assert asyncio.run(fill()) == "done"


def test_work_whose_client_went_away_counts_until_it_ends(pool, gate):
    async def leave():
        started = threading.Event()
        task = await begin(pool, lambda: started.set() or gate.wait())
        await asyncio.to_thread(started.wait)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert pool.pending == 1
        gate.set()
        while pool.pending:
            await asyncio.sleep(0.001)

    asyncio.run(asyncio.wait_for(leave(), 10))


def test_a_full_queue_is_answered_with_503_and_when_to_come_back(service, client_for, strokes):
    full = WorkPool("full", threads=1, queue=-1)
    client = client_for(replace(service, inference=full))
    answer = client.post("/api/search", json={"strokes": strokes})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (503, "too_busy")
    assert int(answer.headers["retry-after"]) >= 1
    assert client.get("/health").status_code == 200
    full.close()
