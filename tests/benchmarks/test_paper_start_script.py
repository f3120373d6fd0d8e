"""The script that measures the first steps of the paper's C1: what the record shows."""

import json
from dataclasses import asdict

import paper_start as script
from paper_start import STEPS, Record, Start


def test_a_record_is_shown_with_losses_every_few_steps(tmp_path, run):
    start = Start(19_449.6, 19_320.2, [float(step) for step in range(1, STEPS + 1)])
    (tmp_path / "record.json").write_text(json.dumps(asdict(Record(240, {"as it was": start}))))
    shown = run(script, "--show", tmp_path / "record.json").output
    row = "| as it was | 19,450 | 19,320 | 1.00 | 20.00 | 40.00 | 60.00 | 80.00 | 100.00 | 100.0 |"
    assert row in shown
    assert "| loss at step 20 |" in shown


def test_a_dataset_must_be_named(run):
    run(script, code=2)
