import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from sketchhash.datasets import draw_split
from sketchhash.dsh.progress import Silent
from sketchhash.dsh.recipe import load_recipe
from sketchhash.dsh.sources import weights_hash
from sketchhash.errors import BadArgument, UnknownName
from sketchhash.paper.heads import HeadRecords, write_heads_report
from sketchhash.paper.heads.bench import HeadBench, Task
from sketchhash.paper.heads.methods import CANDIDATES, MOST_SETTINGS, check_names, fit_head, head_names, recipe_with
from sketchhash.paper.heads.records import Choice
from sketchhash.paper.heads.runner import run_heads
from sketchhash.paper.heads.splits import draw_head_split, draw_unseen_split

METHODS = ("class-codes", "plsr", "dsh")


@pytest.fixture(scope="module")
def tasks(dataset, kept_out):
    return [Task.of(draw_head_split(dataset, kept_out, 1, seed), dataset) for seed in range(2)]


@pytest.fixture(scope="module")
def finished(bench, tasks, tmp_path_factory):
    out = tmp_path_factory.mktemp("heads")
    outcomes = list(run_heads(bench, tasks, METHODS, (8, 16), out))
    return out, outcomes


def test_every_method_has_as_many_settings_to_choose_from():
    assert {len(settings) for settings in CANDIDATES.values()} == {MOST_SETTINGS}
    assert set(head_names()) == set(CANDIDATES)


def test_settings_are_chosen_once_and_every_size_and_seed_runs_with_them(finished):
    out, outcomes = finished
    records = HeadRecords(out)
    assert set(records.choices()) == set(METHODS)
    keys = {run.key for run in records.runs()}
    assert keys == {
        *((method, bits, seed) for method in ("class-codes", "dsh") for bits in (8, 16) for seed in (0, 1)),
        *(("plsr", 4096, seed) for seed in (0, 1)),
    }
    for run in records.runs():
        assert dict(run.settings) == dict(records.choices()[run.method].chosen)
        assert list(run.scores) == ["seen photos", "unseen photos"]
    assert sum(isinstance(outcome, Choice) for outcome in outcomes) == len(METHODS)


def test_what_is_finished_is_not_repeated(finished, bench, tasks, monkeypatch):
    out, _ = finished
    before = (out / "heads.jsonl").read_bytes()
    monkeypatch.setattr("sketchhash.paper.heads.runner.fit_head", lambda *_: pytest.fail("fitted again"))
    assert len(list(run_heads(bench, tasks, METHODS, (8, 16), out))) == 10
    assert (out / "heads.jsonl").read_bytes() == before


def test_the_mean_of_the_kept_queries_is_the_score(finished):
    for run in HeadRecords(finished[0]).runs():
        for score in run.scores.values():
            assert score.average_precisions.mean() == pytest.approx(score.mean_average_precision, abs=1e-4)
            assert len(score.average_precisions) == 9


def test_no_head_changes_the_trunks(bench, tasks):
    before = weights_hash(bench.trunks.c2.trunk)
    head = fit_head("dsh", 8, 0, {}, bench, tasks[0], bench.views(tasks[0]))
    assert weights_hash(bench.trunks.c2.trunk) == weights_hash(head.fitted.network.c2.trunk) == before
    items = tasks[0].queries
    own = head.fitted.sketches(items).batch(torch.arange(len(items)), None).numpy()
    np.testing.assert_array_equal(own, bench.sketches(items))


def test_validation_and_test_never_meet(bench, tasks, monkeypatch, tmp_path):
    asked = []
    monkeypatch.setattr(
        "sketchhash.paper.heads.runner._score",
        lambda head, method, queries, photos: asked.append({item.id for item in queries}) or pytest.fail("enough"),
    )
    with pytest.raises(pytest.fail.Exception):
        list(run_heads(bench, tasks, ("class-codes",), (8,), tmp_path))
    assert asked == [{item.id for item in tasks[0].validation_sketches}]
    assert not asked[0] & {item.id for item in tasks[0].queries}


def test_a_method_that_is_not_tuned_keeps_its_settings(bench, tasks, tmp_path):
    choice, run = run_heads(bench, tasks[:1], ("class-codes",), (8,), tmp_path, untuned=("class-codes",))
    assert choice.chosen == dict(run.settings) == {}
    assert HeadRecords(tmp_path).choices() == {"class-codes": choice}


def test_another_comparison_is_not_mixed_in(finished, bench, tasks):
    with pytest.raises(BadArgument, match="other splits"):
        list(run_heads(bench, tasks[::-1], METHODS, (8,), finished[0]))


def test_more_seeds_go_on_where_fewer_ended(bench, tasks, tmp_path):
    for count in (1, 2, 1):
        list(run_heads(bench, tasks[:count], ("class-codes",), (8,), tmp_path, untuned=("class-codes",)))
    records = HeadRecords(tmp_path)
    assert records.experiment().splits == tuple(task.split.hash for task in tasks)
    assert [run.seed for run in records.runs()] == [0, 1]


def test_unseen_categories_take_choices_made_elsewhere(bench, dataset, finished, tmp_path):
    task = Task.of(draw_unseen_split(dataset, ["key"]), dataset)
    with pytest.raises(BadArgument, match="no validation part"):
        list(run_heads(bench, [task], ("class-codes",), (8,), tmp_path / "none"))
    given = HeadRecords(finished[0]).choices()
    (run,) = run_heads(bench, [task], ("class-codes",), (8,), tmp_path / "given", given)
    assert dict(run.settings) == dict(given["class-codes"].chosen)
    assert list(run.scores) == ["unseen categories"]


def test_the_report_says_where_dsh_stands(finished, tmp_path):
    paths = write_heads_report(finished[0], tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert all(path.exists() for path in paths)
    assert "2 seeds" in text
    assert text.count("methods with codes; the best other, Ridge to random class codes") == 4
    assert "## What was chosen on validation" in text
    assert "PLSR" in text


@pytest.mark.parametrize(
    ("model", "unseen", "said", "unsaid"),
    [
        ("", [], "9 sketches of 3 categories search", "C2's trunk comes from"),
        ("", ["key"], "of 3 categories, all of categories that no training here saw search", "C2's trunk comes from"),
        (
            "abc",
            [],
            "C2's trunk comes from a model (abc), and saw what that model was taught: these queries",
            "no head",
        ),
        ("abc", ["key"], "these categories too, unless its training kept them out", "no training here saw"),
    ],
)
def test_the_report_says_what_the_trunks_may_have_seen(finished, tmp_path, model, unseen, said, unsaid):
    first, *others = (finished[0] / "heads.jsonl").read_text(encoding="utf-8").splitlines()
    document = json.loads(first)
    document["experiment"]["trunks"]["model"] = model
    document["experiment"]["unseen_categories"] = unseen
    (tmp_path / "heads.jsonl").write_text("\n".join([json.dumps(document), *others]) + "\n", encoding="utf-8")
    write_heads_report(tmp_path, tmp_path)
    text = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert said in text and unsaid not in text


def test_recipes_that_augment_or_train_trunks_are_refused(dataset, recipe_file, tmp_path):
    recipe = load_recipe(str(recipe_file))
    for changed in (replace(recipe, photo_views=2), replace(recipe, frozen_trunks=False)):
        with pytest.raises(BadArgument, match="one view"):
            HeadBench(dataset, changed, draw_split(dataset, 4), None, tmp_path, Silent())


def test_settings_of_dsh_are_weights_or_steps():
    recipe = recipe_with(load_recipe("heads"), {"semantic_weight": 30.0, "epochs": 3, "category_weight": 0.5})
    assert recipe.objective.semantic_weight == 30 and recipe.hashing.epochs == 3 and recipe.category_weight == 0.5
    assert recipe.objective.rounds == load_recipe("heads").objective.rounds
    with pytest.raises(BadArgument, match="colour"):
        recipe_with(recipe, {"colour": 1})


def test_a_method_without_features_cannot_be_a_head():
    with pytest.raises(UnknownName):
        check_names(["hog"])
