"""Batches are examined in order, a few at a time, whoever does it and whoever dies over it."""

import threading
from concurrent.futures import CancelledError
from pathlib import Path

import numpy as np
import pytest

from sketchhash.errors import BadArgument
from sketchhash.gallery import Failure, index_events
from sketchhash.gallery.workers import KnownContents, Task, WorkerLost, examine_in_order


class FakePool:
    """Gives back what it is asked to examine; a file whose name is a number kills so many workers."""

    def __init__(self, size=2, work=lambda tasks: None):
        self.size, self.work = size, work
        self.asked, self.lives = [], {}
        self.is_closed = False

    def examine(self, tasks):
        self.asked.append([task.path.name for task in tasks])
        self.work(tasks)
        for task in tasks:
            left = self.lives.setdefault(task.path, int(task.path.name))
            if left:
                self.lives[task.path] -= 1
                raise WorkerLost
        return list(tasks)

    def close(self):
        self.is_closed = True


def batches_of(*batches):
    return [(number, [Task(Path(name)) for name in names]) for number, names in enumerate(batches)]


def test_findings_come_in_order_beside_what_came_with_their_batch():
    batches = batches_of(["0", "00"], [], ["000"])
    pool = FakePool()
    assert list(examine_in_order(pool, batches)) == batches
    assert pool.is_closed


def test_few_batches_are_read_ahead():
    numbers = iter(range(1000))
    done = examine_in_order(FakePool(size=2), ((number, [Task(Path("0"))]) for number in numbers))
    assert [next(done)[0] for _ in range(3)] == [0, 1, 2]
    assert next(numbers) <= 3 + 2 * 2
    done.close()


def test_batches_are_worked_on_at_the_same_time():
    both = threading.Barrier(2, timeout=10)
    pool = FakePool(size=2, work=lambda _: both.wait())
    assert len(list(examine_in_order(pool, batches_of(["0"], ["0"], ["0"], ["0"])))) == 4


def test_a_batch_whose_worker_dies_is_done_again_and_no_other():
    pool = FakePool(size=1)
    batches = batches_of(["0", "00"], ["1", "000"], ["0000"])
    assert list(examine_in_order(pool, batches)) == batches
    assert pool.asked == [["0", "00"], ["1", "000"], ["1", "000"], ["0000"]]


def test_a_file_that_no_worker_survives_is_found_and_the_others_are_examined():
    pool = FakePool(size=1)
    ((_, results),) = examine_in_order(pool, batches_of(["0", "99", "00"]))
    assert [finding.path.name for finding in results] == ["0", "99", "00"]
    assert isinstance(results[1], Failure)
    assert "died" in results[1].reason


def test_an_error_ends_the_run_and_sends_the_team_home():
    def work(_):
        raise BadArgument("no such model")

    pool = FakePool(work=work)
    with pytest.raises(BadArgument, match="no such model"):
        list(examine_in_order(pool, batches_of(["0"], ["0"])))
    assert pool.is_closed


def test_who_stops_early_waits_for_no_batch_that_has_not_begun():
    pool = FakePool(size=1)
    done = examine_in_order(pool, batches_of(*[["0"]] * 50))
    next(done)
    done.close()
    assert pool.is_closed
    assert len(pool.asked) <= 4


def test_known_contents_are_those_of_the_gallery(gallery, folder, photo, index):
    for seed in range(30):
        photo(folder / f"{seed}.png", seed)
    empty = KnownContents.of(gallery)
    index()
    known = KnownContents.of(gallery)
    for record in gallery.photos():
        assert record.sha256 in known
        assert record.sha256 not in empty
    for number in np.random.default_rng(0).integers(0, 256, (30, 32), dtype=np.uint8):
        assert number.tobytes().hex() not in known


def test_workers_with_another_model_are_refused(gallery, model, folder):
    class Elsewhere:
        fingerprint = "another"

    with pytest.raises(BadArgument, match="another model"):
        index_events(gallery, model, [folder], workers=Elsewhere())


def test_a_closed_pool_of_cancelled_work_does_not_count_as_dead():
    pool = FakePool(size=1)

    def work(_):
        raise CancelledError

    pool.work = work
    with pytest.raises(CancelledError):
        list(examine_in_order(pool, batches_of(["0"])))
    assert len(pool.asked) == 1
