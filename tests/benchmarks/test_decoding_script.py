"""What decoding in processes of their own costs indexing is measured in pairs of runs."""

import os
import sys
from time import process_time
from unittest.mock import Mock

import pytest

import decoding as script
from decoding import Decoding, Run, measure, page
from sketchhash.imaging import decoders
from sketchhash.model import Model
from stages import take_samples

MEASURED = Decoding(
    "photos", 100, ((Run(4.0, 5.0), Run(3.6, 4.9)), (Run(5.0, 5.0), Run(4.9, 4.8)), (Run(2.0, 4.0), Run(2.0, 3.6)))
)


def test_what_is_lost_is_a_share_of_photos_a_second_pair_by_pair():
    assert MEASURED.losses == pytest.approx([0.1, 0.02, 0.0])
    assert MEASURED.cpu_losses == pytest.approx([0.02, 0.04, 0.1])


def test_the_page_has_medians_and_the_spread_of_the_pairs():
    text = page(MEASURED)
    assert "| processes of their own | 25.0 | 50.0 ms |" in text
    assert "| the threads themselves | 27.8 | 48.0 ms |" in text
    assert "cost 2.0 % (0.0 to 10.0 in single pairs)" in text
    assert "and 4.0 % (2.0 to 10.0 in single pairs)" in text


def test_one_run_of_each_pair_decodes_in_the_pool_and_the_other_does_not(model_folder, monkeypatch):
    pool = decoders.shared()
    asked = Mock(side_effect=pool.run)
    monkeypatch.setattr(pool, "run", asked)
    calls = []
    measured = measure(Model.load(model_folder), take_samples(2), 20, 2, lambda _: calls.append(asked.call_count))
    first, second = calls[0], calls[1] - calls[0]
    assert first == second == 20 + min(20, 4 * os.cpu_count())  # with the run that does not count
    assert all(each.seconds > 0 for pair in measured.pairs for each in pair)
    assert decoders.shared() is pool


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the time of other processes")
def test_the_processor_time_of_a_process_that_lives_is_known():
    assert script._time_so_far(os.getpid()) == pytest.approx(process_time(), abs=0.1)


def test_decoding_is_measured_recorded_and_printed_again(run, tmp_path):
    options = ("--samples", 1, "--count", 2, "--rounds", 1)
    measured = run(script, *options, "--out", tmp_path / "decoding.json")
    assert run(script, "--show", tmp_path / "decoding.json").stdout.strip() == measured.stdout.strip()
