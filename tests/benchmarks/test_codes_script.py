import codes
from codes import Size, compare


def test_both_solvers_give_the_same_codes_and_report_what_they_cost():
    comparison = compare(Size(photos=300, sketches=100, bits=16, classes=5, word_dimensions=8))
    assert comparison.has_equal_codes
    for round_ in (comparison.discrete, comparison.textbook):
        assert min(round_.basis_seconds, round_.photo_seconds, round_.sketch_seconds) > 0
        assert round_.seconds == round_.basis_seconds + round_.photo_seconds + round_.sketch_seconds
        assert round_.peak_bytes > 10_000_000
    assert comparison.speedup == comparison.textbook.cpu_seconds / comparison.discrete.cpu_seconds


def test_the_table_sets_both_solvers_side_by_side(run, tmp_path):
    result = run(codes, "--quick", "--photos", 300, "--sketches", 100, "--out", tmp_path / "codes.json")
    assert "| textbook | 300 | 100 |" in result.stdout
    assert "for the same codes." in result.stdout
    assert (tmp_path / "codes.json").exists()
