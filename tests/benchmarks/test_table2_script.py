import json
from pathlib import Path

import pytest

import table2
from table2 import VectorCost, cost_table, measure
from timing import Timing, read_record

ROOT = Path(__file__).parents[2]


@pytest.fixture
def siamese():
    codes = {bits: Timing(0.0005, 0.0004, 9) for bits in table2.BITS}
    return VectorCost("siamese-cnn", 204_489, 64, "euclidean", Timing(0.025, 0.02, 9), codes)


def test_vectors_and_codes_of_every_length_are_timed():
    (cost,) = measure(300, ["siamese-cnn"], seconds=0.001)
    assert (cost.method, cost.photos, cost.dimensions) == ("siamese-cnn", 300, 64)
    assert set(cost.codes) == {32, 64, 128}
    assert all(timing.p50 >= timing.best > 0 for timing in (cost.one, *cost.codes.values()))


def test_ratios_are_of_time_and_of_memory(siamese):
    assert siamese.times_longer(64) == pytest.approx(50)
    assert siamese.times_larger(64) == 32  # 4 bytes a dimension beside a bit
    assert siamese.times_larger(128) == 16


def test_the_paper_stands_beside_what_was_measured(siamese):
    lines = cost_table([siamese]).splitlines()
    assert lines[2] == "| Siamese CNN | 64 × float32 | euclidean | 25 | 49.92 | 77 | 99.8 | 50 | 32 |"
    assert lines[-1] == "| DSH | 128 bits | hamming | 0.5 | 3.12 | 1.05 | 3.12 |  |  |"


def test_a_gallery_that_is_not_the_papers_has_none_of_its_numbers(siamese):
    other = VectorCost(**{**vars(siamese), "photos": 1000})
    assert "| 25 | 0.24 |  |  | 50 | 32 |" in cost_table([other])


def test_a_record_is_shown_as_it_was_printed(run, tmp_path):
    record = tmp_path / "times.json"
    printed = run(table2, "--photos", 300, "--method", "3d-shape", "--seconds", 0.001, "--out", record).stdout
    assert run(table2, "--show", record).stdout == printed
    assert json.loads(record.read_bytes())["costs"][0]["distance"] == "manhattan"


def test_the_document_has_the_recorded_table():
    document = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    costs = read_record(ROOT / "results" / "table2-times.json", table2.parse)
    for photos in {each.photos for each in costs}:
        assert cost_table([each for each in costs if each.photos == photos]) in document
