"""The records in ``results`` give the tables of the documents and of the reports beside them."""

from pathlib import Path

import pytest

from sketchhash.baselines import CATALOGUE
from sketchhash.paper import Records
from sketchhash.paper.ablations import ablation_table, read_ablations
from sketchhash.paper.differences import differences_table, earlier_settings
from sketchhash.paper.heads import HeadRecords
from sketchhash.paper.heads.tables import Heads, other_table, quality_table, verdict
from sketchhash.paper.tables import Runs, all_runs, table_2, table_3, table_4

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("name", ["comparison-berlin", "comparison-quickdraw"])
def test_a_report_has_the_tables_of_its_record(name):
    records = Records(ROOT / "results" / name)
    runs = Runs(records.runs())
    report = (ROOT / "results" / name / "report" / "report.md").read_text(encoding="utf-8")
    for table in (table_2, table_3, table_4, all_runs):
        assert table(runs).markdown() in report
    assert differences_table(runs, records.recipes()).markdown() in report


@pytest.mark.parametrize("name", ["comparison-berlin", "comparison-quickdraw"])
def test_the_card_of_a_method_that_has_changed_tells_of_what_ran(name):
    records = Records(ROOT / "results" / name)
    runs, recipes = Runs(records.runs()), records.recipes()
    changed = [card for card in CATALOGUE for run in runs.of(card.name) if earlier_settings(card, run, recipes)]
    assert [card.name for card in changed if not card.earlier] == []


def test_the_page_of_results_has_the_lines_of_the_study():
    page = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    for row in ablation_table(read_ablations(ROOT / "results" / "berlin")).splitlines()[2:]:
        assert row in page


def test_a_report_of_heads_has_the_tables_and_the_verdict_of_its_record():
    records = ROOT / "results" / "heads-berlin"
    heads = Heads(HeadRecords(records).runs())
    report = (records / "report" / "report.md").read_text(encoding="utf-8")
    assert all(line in report for line in verdict(heads))
    for gallery in heads.galleries:
        for table in (quality_table, other_table):
            assert table(heads, gallery).markdown() in report


def test_the_page_of_the_comparison_has_the_recorded_scores_of_heads():
    heads = Heads(HeadRecords(ROOT / "results" / "heads-berlin").runs())
    page = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
    for gallery in heads.galleries:
        assert quality_table(heads, gallery).markdown() in page
