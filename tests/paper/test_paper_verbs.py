from dataclasses import replace

import pytest
from typer.testing import CliRunner

from sketchhash.baselines import CATALOGUE
from sketchhash.baselines.crossview.cca import CanonicalCorrelation
from sketchhash.cli import app
from sketchhash.datasets import synthetic
from sketchhash.errors import BadArgument
from sketchhash.model.card import NOTHING_KEPT_OUT
from sketchhash.paper import ABLATIONS, Records
from sketchhash.paper.heads import HeadRecords


@pytest.fixture
def run():
    return lambda *arguments: CliRunner().invoke(app, ["paper", *map(str, arguments)])


@pytest.fixture
def compare(run, fakes, world, quick_recipe, tmp_path, monkeypatch):
    """Return a function that runs some methods on the small world."""
    monkeypatch.setattr("sketchhash.datasets.open_dataset", lambda data, photos=None: world)
    options = ("--recipe", quick_recipe, "--queries", 3, "--bits", "8", "--cache", tmp_path / "cache")
    return lambda *more: run("run", "--data", "toy", "--out", tmp_path / "results", *options, *more)


def test_the_list_has_every_method_with_its_choices(run):
    result = run("run", "--list")
    assert result.exit_code == 0
    for card in CATALOGUE:
        assert f"{card.name}: {card.title}" in result.stdout
        assert all(text in result.stdout for text in (*card.choices, card.differs, card.published))
    assert "without-tokens: C2-Net" in result.stdout


def test_methods_run_and_are_reported(compare, run, tmp_path):
    result = compare("--method", "class-codes", "--method", "dsh", "--most", 4)
    assert result.exit_code == 0, result.output
    assert "[1/2] class-codes, 8" in result.stderr
    assert "12 photos to find" in result.stderr
    assert result.stdout.strip() == str(tmp_path / "results")

    report = run("report", "--results", tmp_path / "results", "--data", "toy")
    assert report.exit_code == 0, report.output
    assert str(tmp_path / "results" / "report" / "photos-not-to-publish" / "figure-6.png") in report.stdout.splitlines()
    again = compare("--method", "class-codes", "--method", "dsh", "--most", 4)
    assert again.stderr.count("finished before") == 2


def test_a_crash_ends_with_1_after_all_others(compare, run, tmp_path, monkeypatch):
    def crash(*_):
        raise RuntimeError("no luck")

    monkeypatch.setattr(CanonicalCorrelation, "fit", crash)
    result = compare("--method", "cca", "--method", "dsh")
    assert result.exit_code == 1
    assert "cca-8 failed: RuntimeError: no luck" in result.stderr
    assert "These failed: cca-8." in result.stderr
    assert "Traceback" not in result.output
    assert [run.entry.slug for run in Records(tmp_path / "results").runs()] == ["dsh-8"]

    report = run("report", "--results", tmp_path / "results")
    assert "photos-not-to-publish" not in report.stdout
    assert "--data" in report.stderr


@pytest.mark.parametrize(
    ("option", "complaint"),
    [
        (("--method", "cqa"), "Did you mean 'cca'"),
        (("--bits", "12"), "multiples of 8"),
        (("--protocol", "sean"), "Did you mean 'seen'"),
    ],
)
def test_a_bad_argument_stops_before_anything_runs(compare, tmp_path, option, complaint):
    result = compare(*option)
    assert result.exit_code == 2
    assert complaint in result.stderr
    assert not (tmp_path / "results").exists()


def test_ablations_are_trained_under_both_protocols_and_set_beside_the_papers(
    run, fakes, world, quick_recipe, tmp_path
):
    for _ in synthetic.write(tmp_path / "world", world, workers=1):
        pass
    told = ("ablations", "--data", tmp_path / "world", "--out", tmp_path / "ablations", "--recipe", quick_recipe)
    result = run(*told, "--bits", 8, "--queries", 3, "--repeats", 2, "--cache", tmp_path / "cache")
    assert result.exit_code == 0, result.output
    rows = [line.split(" | ") for line in result.stdout.splitlines()[2:]]
    assert [row[0] for row in rows] == [f"| {name}" for name in (*ABLATIONS, "full")]
    assert all("±" in cell for row in rows for cell in row[2:6])
    assert rows[-1][-1] == "0.570 / 0.783 |"
    assert {path.name for path in (tmp_path / "ablations").iterdir()} == {"seen", "unseen"}


def test_heads_are_compared_on_equal_features_and_reported(run, world, tmp_path, monkeypatch):
    monkeypatch.setattr("sketchhash.datasets.open_dataset", lambda data, photos=None: world)
    recipe = tmp_path / "heads.toml"
    recipe.write_text('base = "tiny"\ndescription = "few steps"\nfrozen_trunks = true\n[hashing]\nepochs = 1\n')
    few = ("--method", "class-codes", "--method", "dsh", "--bits", 8, "--seeds", 1, "--queries", 3, "--validation", 1)
    options = ("--recipe", recipe, "--cache", tmp_path / "cache", *few)
    result = run("heads", "--data", "toy", "--out", tmp_path / "heads", *options)
    assert result.exit_code == 0, result.output
    assert "class-codes takes" in result.stderr and "dsh 8, seed 0: seen photos" in result.stderr
    report = run("report", "--results", tmp_path / "heads")
    assert report.exit_code == 0, report.output
    assert str(tmp_path / "heads" / "report" / "report.md") in report.stdout.splitlines()

    unseen = ("--unseen-category", "key", "--choices", tmp_path / "heads")
    result = run("heads", "--data", "toy", "--out", tmp_path / "unseen", *options, *unseen)
    assert result.exit_code == 0, result.output
    assert "dsh 8, seed 0: unseen categories" in result.stderr

    listed = ("--zero-shot", "sketchy-sake", "--choices", tmp_path / "heads")
    result = run("heads", "--data", "toy", "--out", tmp_path / "listed", *options, *listed)
    assert result.exit_code == 0, result.output
    assert "lacks 24 of the 25 categories of sketchy-sake: cup, swan" in result.stderr
    assert HeadRecords(tmp_path / "listed").experiment().unseen_categories == ("umbrella",)

    more = replace(world, name="more", sketches=())
    monkeypatch.setattr("sketchhash.datasets.open_dataset", lambda data, photos=None: more if data == "more" else world)
    joined = ("--out", tmp_path / "joined", "--also", "more")
    result = run("heads", "--data", "toy", *joined, *options, *unseen)
    assert result.exit_code == 0, result.output
    photos = {name: HeadRecords(tmp_path / name).experiment().galleries for name in ("unseen", "joined")}
    assert photos == {"unseen": {"unseen categories": 10}, "joined": {"unseen categories": 20}}


def test_heads_on_a_models_trunks_need_to_know_what_these_saw_of_joined_data(run, tmp_path):
    result = run("heads", "--data", "toy", "--also", "more", "--from", tmp_path, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "--unseen-category" in result.stderr and "--zero-shot" in result.stderr


def test_a_list_of_unseen_categories_and_names_of_some_exclude_each_other(run, tmp_path):
    both = ("--zero-shot", "tuberlin-sake", "--unseen-category", "key")
    result = run("heads", "--data", "toy", "--out", tmp_path / "out", *both)
    assert result.exit_code == 2
    assert "give --zero-shot or --unseen-category" in result.stderr


def test_heads_refuse_the_trunks_of_a_model_that_may_know_the_queries(run, make_model_folder, tmp_path):
    model = make_model_folder(card=f"# tiny\n\n{NOTHING_KEPT_OUT}\n")
    result = run("heads", "--data", "toy", "--from", model, "--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "nothing was kept out of its training" in result.stderr and "twin" in result.stderr
    assert not (tmp_path / "out").exists()


def test_the_trunks_of_a_model_learn_on_without_unseen_categories(run, world, make_model_folder, tmp_path, monkeypatch):
    taught = []

    def stop(dataset, recipe, taught_on, *_):
        taught.append(taught_on)
        raise BadArgument("enough")

    monkeypatch.setattr("sketchhash.datasets.open_dataset", lambda data, photos=None: world)
    monkeypatch.setattr("sketchhash.paper.heads.bench.HeadBench", stop)
    told = ("heads", "--data", "toy", "--from", make_model_folder(), "--out", tmp_path / "out")
    run(*told, "--unseen-category", "key")
    run(*told, "--queries", 3, "--validation", 1)
    assert [split.unseen_categories for split in taught] == [("key",), ()]


def test_a_method_that_sees_pictures_is_no_head(run, tmp_path):
    result = run("heads", "--data", tmp_path, "--out", tmp_path / "out", "--method", "hog")
    assert result.exit_code == 2
    assert "no method named 'hog'" in result.stderr


def test_a_device_that_is_not_there_stops_a_comparison(compare, run, quick_recipe, tmp_path):
    options = ("--data", "toy", "--out", tmp_path / "results", "--recipe", quick_recipe, "--queries", 3)
    verbs = [("ablations", *options), ("heads", *options, "--validation", 1)]
    for result in (compare("--device", "cuda:99"), *(run(*verb, "--device", "cuda:99") for verb in verbs)):
        assert result.exit_code != 0
        assert "no device named 'cuda:99' here. This machine has: cpu" in result.stderr
    assert not (tmp_path / "results").exists()


def test_a_changed_setting_makes_another_run_and_the_report_says_which(compare, run, tmp_path):
    assert compare("--method", "cca").exit_code == 0
    assert not Records(tmp_path / "results").changed_settings()
    result = compare("--method", "cca", "--setting", "cca.ridge=0.7")
    assert result.exit_code == 0, result.output
    assert "finished before" not in result.stderr
    assert run("report", "--results", tmp_path / "results").exit_code == 0
    report = (tmp_path / "results" / "report" / "report.md").read_text(encoding="utf-8")
    assert "## Settings that differ from these\n\n- cca-8: ridge is 0.7\n" in report
    assert "Other settings than these were given: ridge 0.7. |" in report and "An earlier version" not in report


def test_a_setting_that_a_method_does_not_have_stops_a_comparison(compare, tmp_path):
    result = compare("--method", "cca", "--setting", "cca.rigde=0.7")
    assert result.exit_code != 0
    assert "cca has no setting named 'rigde'. It has: ridge=0.1, pairs=" in result.stderr
    assert not (tmp_path / "results").exists()
