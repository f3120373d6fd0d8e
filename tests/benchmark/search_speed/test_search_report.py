import pytest
from PIL import Image

from sketchhash.benchmark.search_speed import aims_list, judge, paper_table, plot, speed_table


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_times_are_written_in_terms_of_the_scan(timed):
    table = speed_table([timed("random", 1000, 64, read=0.1, scan=0.2, faiss=0.5)]).splitlines()
    read, scan, faiss = map(cells, table[2:])
    assert read[:7] == ["random", "1,000", "64", "read", "0.100", "0.100", "0.50"]
    assert scan[3:] == ["scan", "0.200", "0.100", "1.00", "10,000", "1.00", "20,000", "0.25", "0.50", "3.00", "equal"]
    assert faiss[3:] == ["faiss", "0.500", "0.250", "2.50", "4,000", "2.50", "", "0.25", "0.50", "3.00", ""]
    assert {len(cells(line)) for line in table} == {14}


def test_wrong_hits_stand_out(timed):
    assert "| WRONG |" in speed_table([timed("random", 1000, 64, read=0.1, scan=0.2, has_reference_hits=False)])


def test_the_papers_numbers_stand_beside_ours_at_its_sizes(timed):
    comparisons = [
        timed("clustered", 204_489, 128, read=0.1, scan=0.2, pruned=0.04),
        timed("clustered", 73_002, 32, read=0.1, scan=0.02, pruned=0.01),
        timed("random", 73_002, 32, read=0.1, scan=0.02, pruned=0.01),
        timed("clustered", 1000, 32, read=0.1, scan=0.02, pruned=0.01),
    ]
    rows = [cells(line) for line in paper_table(comparisons).splitlines()[2:]]
    assert rows == [
        ["204,489", "128", "1.050", "0.200", "0.040", "3.12", "3.12", "3.00"],
        ["73,002", "32", "0.255", "0.020", "0.010", "0.28", "0.28", "3.00"],
    ]


@pytest.mark.parametrize(("faiss", "word"), [(0.41, "met"), (0.39, "missed")])
def test_an_aim_is_met_or_missed(timed, faiss, word):
    one, batch = judge([timed("random", 204_489, 64, read=0.1, scan=0.2, faiss=faiss)])
    assert one.figure == pytest.approx(faiss / 0.2)
    assert one.is_met is (word == "met")
    assert not batch.is_met
    line = aims_list([one])
    assert (
        line == f"- {word}: one query, scan against faiss, 204,489 random codes of 64 bits: {faiss / 0.2:.2f} (aim 2)"
    )


def test_the_aims_at_a_million_are_about_reading_and_pruning(timed):
    comparisons = [
        timed("clustered", 1_000_000, 128, read=0.9, scan=1.0, pruned=0.05, faiss=2.0),
        timed("random", 1_000_000, 64, read=0.9, scan=1.0, pruned=0.05),
    ]
    reading, pruning = judge(comparisons)
    assert (reading.figure, reading.least) == (pytest.approx(0.9), 0.8)
    assert (pruning.figure, pruning.least) == (pytest.approx(20), 15)


def test_an_aim_whose_peer_is_missing_is_not_judged(timed):
    assert judge([timed("random", 204_489, 64, read=0.1, scan=0.2)]) == []


def test_the_plot_is_a_picture_with_a_panel_for_each_kind_and_width(timed, tmp_path):
    pytest.importorskip("matplotlib")
    some = [timed("random", size, 64, read=0.1, scan=0.2) for size in (1000, 2000)]
    plot(some, tmp_path / "one.png")
    plot([*some, timed("clustered", 1000, 128, read=0.1, scan=0.2, faiss=0.3)], tmp_path / "four.png")
    with Image.open(tmp_path / "one.png") as small, Image.open(tmp_path / "four.png") as large:
        one, four = small.size, large.size
    assert four == (2 * one[0], 2 * one[1])
