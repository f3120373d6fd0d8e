import csv
import io

import numpy as np
import pytest

from sketchhash.evaluation import TieGroups
from sketchhash.paper.records import RunRecord, RunScores
from sketchhash.paper.tables import Runs, all_runs, table_2, table_3, table_4


def a_run(method, size, columns=None, has_bits=True, repeat=0):
    """Make a run of one query with three photos, of which the first and the last are relevant: mAP is 5/6."""
    bits = 8 if has_bits else None
    counts = np.zeros((2, 9), np.int64)
    counts[:, :3] = [[1, 1, 1], [1, 0, 1]]
    groups = TieGroups(*counts, np.array([0, 9]), np.array([0]), bits)
    return RunRecord(
        *(method, size, repeat, "00", {"numpy": "2"}, columns or size),
        *(100.0, 60.0, 30.0, 2.0, 0.00025, 50, 3 * 2**20),
        RunScores.of(groups, seed=0),
    )


def line(table, start):
    """Find the one line of a table that starts so, spaces and all."""
    (found,) = (line for line in table.markdown().splitlines() if line.startswith(start))
    return found


def test_table_2_sets_ours_beside_the_papers():
    table = table_2(Runs([a_run("hog", 1296, has_bits=False), a_run("dsh", 64)]))
    assert line(table, "| HOG ") == (
        "| HOG | 1296 | 0.833 | 0.010 | 0.00025 | 3.00 "
        "| 0.091 | 0.120 | 1.43 | 2,020.00 | 0.115 | 0.159 | 0.53 | 722.00 |"
    )
    assert line(table, "| GF-HOG ").startswith("| GF-HOG | 3500 | – | – | – | – | 0.119 | 0.148 | 4.13 |")
    assert line(table, "| DSH (bits) | 64 ") == (
        "| DSH (bits) | 64 | 0.833 | 0.010 | 0.00025 | 3.00 "
        "| 0.521 | 0.655 | 0.000703 | 1.56 | 0.711 | 0.858 | 0.000282 | 0.56 |"
    )


def test_table_3_spreads_code_lengths_and_puts_fixed_dimensions_first():
    table = table_3(Runs([a_run("cvh", 32), a_run("cvh", 64), a_run("plsr", 4096, columns=1280, has_bits=False)]))
    assert [column.title for column in table.columns][2:6] == ["mAP 32", "mAP 64", "P@200 32", "P@200 64"]
    assert line(table, "| cross-modality hashing | CVH ") == (
        "| cross-modality hashing | CVH | 0.833 | 0.833 | 0.010 | 0.010 "
        "| 0.214 | 0.294 | 0.318 | 0.305 | 0.411 | 0.449 | 0.325 | 0.525 | 0.624 | 0.459 | 0.641 | 0.773 |"
    )
    assert line(table, "| cross-view features | PLSR ") == (
        "| cross-view features | PLSR (1280-d here, 4096-d in the paper) | 0.833 | – | 0.010 | – "
        "| 0.141 | – | – | 0.215 | – | – | 0.462 | – | – | 0.623 | – | – |"
    )
    titles = [row[1] for row in table.rows]
    assert titles.index("SePH") < titles.index("DCMH") < titles.index("DSH") < titles.index("CCA")


def test_table_4_has_the_full_model_last_and_at_the_same_length():
    table = table_4(Runs([a_run("without-tokens", 64), a_run("dsh", 64), a_run("dsh", 32)]))
    assert table.markdown().splitlines()[0] == (
        "| method | mAP (64 bits) | TU-Berlin: mAP (128 bits) | Sketchy: mAP (128 bits) |"
    )
    assert table.rows[0] == ("C2-Net (Top) + C1-Net (Bottom) only", pytest.approx(5 / 6), 0.497, 0.682)
    assert table.rows[-1] == ("Our proposed full DSH model", pytest.approx(5 / 6), 0.570, 0.783)
    assert table.rows[1][1] is None


def test_all_runs_are_listed_in_order_with_what_they_took():
    runs = Runs(
        [
            a_run("dsh", 64),
            a_run("dsh", 32),
            a_run("cca", 32, has_bits=False),
            a_run("a stranger", 8),
            a_run("dsh", 64, repeat=1),
        ]
    )
    table = all_runs(runs)
    assert line(table, "| cca ") == (
        "| cca | 32 | 0.833 | 0.833 | 0.833 | 0.833 | 0.010 | – | – | 60.0 | 30.0 | 2.0 | 100.0 | 0.00025 | 3.00 |"
    )
    assert [row[:2] for row in table.rows] == [("cca", 32), ("dsh", 32), ("dsh", 64)]


@pytest.mark.parametrize("make", [table_2, table_3, table_4, all_runs])
def test_every_table_can_be_read_by_a_program(make):
    table = make(Runs([a_run("dsh", 128), a_run("cvh", 128), a_run("hog", 1296, has_bits=False)]))
    head, *rows = csv.reader(io.StringIO(table.csv()))
    assert len(set(head)) == len(head)
    assert len(rows) == len(table.rows)
    for row, cells in zip(rows, table.rows, strict=True):
        for text, cell in zip(row, cells, strict=True):
            assert (text == "" and cell is None) or text == cell or float(text) == cell
