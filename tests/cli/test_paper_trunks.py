import json

import pytest

THREE = ("key", "snowman", "umbrella")


@pytest.mark.slow
def test_plain_methods_learn_from_the_trunks_of_a_run(run, untrained_run, tmp_path):
    folder, world = untrained_run(THREE, 14, frozen_trunks=True)
    told = ("paper", "trunks", "--run", folder, "--data", world, "--cache", tmp_path / "cache")
    result = run(*told, "--out", tmp_path / "trunks.md")
    assert result.exit_code == 0, result.output
    assert result.stdout == (tmp_path / "trunks.md").read_text()
    assert "| world → world, seen photos | 16 |" in result.stdout

    lines = json.loads(run(*told, "--json").stdout)
    scores = {line["method"]: line["values"] for line in lines}
    assert list(scores) == ["Deep Sketch Hashing", "ridge to random class codes", "sign of CCA", "triplet heads"]
    assert all(0 < line["codes"] <= 1 for line in lines)


def test_trunks_that_were_trained_are_refused(run, untrained_run, tmp_path):
    folder, world = untrained_run(THREE, 4)
    result = run("paper", "trunks", "--run", folder, "--data", world, "--cache", tmp_path / "cache")
    assert result.exit_code == 2
    assert "trains its trunks" in result.output
