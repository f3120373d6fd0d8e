"""The records in ``results`` give the tables of the documents and of the reports beside them."""

from pathlib import Path

import pytest

from sketchhash.paper import Records
from sketchhash.paper.ablations import ablation_table, read_ablations
from sketchhash.paper.tables import Runs, all_runs, table_2, table_3, table_4

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["comparison-berlin", "comparison-quickdraw"])
def test_a_report_has_the_tables_of_its_record(name):
    runs = Runs(Records(ROOT / "results" / name).runs())
    report = (ROOT / "results" / name / "report" / "report.md").read_text(encoding="utf-8")
    for table in (table_2, table_3, table_4, all_runs):
        assert table(runs).markdown() in report


def test_the_page_of_results_has_the_lines_of_the_study():
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    for row in ablation_table(read_ablations(ROOT / "results" / "berlin")).splitlines()[2:]:
        assert row in page
