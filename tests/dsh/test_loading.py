"""Batches read ahead are those read when asked, and a thread's troubles reach who asked."""

import threading

import pytest
import torch

from sketchhash.devices import device, using
from sketchhash.dsh import loading
from sketchhash.dsh.loading import ReadAhead


@pytest.fixture(params=[0, 1, 3, 10], ids=lambda count: f"{count} ahead")
def ahead(request, monkeypatch):
    monkeypatch.setattr(loading, "_ahead", lambda: request.param)
    return request.param


def test_batches_come_in_order_and_draw_in_order(ahead):
    def drawn(rows, generator):
        return [(row, torch.rand(1, generator=generator).item()) for row in rows]

    def generator():
        return torch.Generator().manual_seed(4)

    numbers = range(5)
    mine = generator()
    batches = ReadAhead(numbers, lambda row: drawn([row], mine)[0])
    assert len(batches) == 5
    assert list(batches) == drawn(numbers, generator())


def test_some_are_read_before_they_are_asked_for(ahead):
    read = []
    batches = iter(ReadAhead(range(8), lambda row: read.append(row) or row))
    assert next(batches) == 0
    assert len(read) <= ahead + 1
    assert list(batches) == list(range(1, 8))
    assert read == list(range(8))


def test_a_thread_knows_the_device_that_was_chosen(ahead):
    with using("cpu") as chosen:
        inside = list(ReadAhead([0], lambda _: (device(), threading.current_thread())))
    assert inside[0][0] == chosen
    assert (inside[0][1] is threading.main_thread()) == (ahead == 0)


def test_a_failure_is_raised_where_the_batch_is_asked_for(ahead):
    def read(row):
        if row == 2:
            raise OSError("no disk")
        return row

    batches = iter(ReadAhead(range(6), read))
    assert [next(batches), next(batches)] == [0, 1]
    with pytest.raises(OSError, match="no disk"):
        next(batches)


def test_who_stops_asking_leaves_no_thread(ahead):
    before = threading.active_count()
    batches = iter(ReadAhead(range(50), lambda row: row))
    next(batches)
    batches.close()
    assert threading.active_count() == before


def test_a_processor_that_learns_does_not_read_ahead():
    with using("cpu"):
        assert loading._ahead() == 0
