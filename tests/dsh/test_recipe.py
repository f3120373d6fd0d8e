"""Recipes: the published numbers, what is refused, what the hash stands for, and the two rate schedules."""

from dataclasses import fields, replace
from importlib.resources import files

import pytest

from sketchhash.dsh.networks import SIZES, Branches
from sketchhash.dsh.recipe import Objective, Steps, load_recipe, recipe_names
from sketchhash.errors import BadArgument, UnknownName

MINIMAL = """
description = "Made by a test."
size = "tiny"
[pretrain_photos]
epochs = 1
[pretrain_sketches]
epochs = 1
[hashing]
epochs = 2
"""


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return str(path)

    return write


def test_the_paper_recipe_has_the_published_numbers():
    recipe = load_recipe("paper")
    hashing, objective = recipe.hashing, recipe.objective
    assert (hashing.optimiser, hashing.learning_rate, hashing.momentum) == ("sgd", 0.001, 0.9)
    assert (hashing.batch, hashing.decay, hashing.epochs) == (64, 0.3, 15)
    assert (objective.semantic_weight, objective.quantisation_weight) == (0.01, 1e-5)
    assert (objective.similarity, objective.pairwise_weight, objective.rounds) == ("paper", 1.0, 1)
    assert (recipe.size, recipe.branches, recipe.frozen_trunks) == ("paper", Branches.FULL, False)


def test_the_feasible_paper_recipe_is_the_papers_with_the_objective_of_the_tuned_one():
    paper, tuned, feasible = (load_recipe(name) for name in ("paper", "tuned", "paper-feasible"))
    wanted = replace(paper, objective=tuned.objective, centred_words=tuned.centred_words)
    assert feasible.hash == wanted.hash


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_of_the_package_can_be_used(name):
    recipe = load_recipe(name)
    assert recipe.name == name
    assert recipe.size in SIZES
    assert recipe.description.endswith(".")


def test_a_file_of_your_own_gets_its_name_from_the_file_and_defaults_for_the_rest(written):
    recipe = load_recipe(written(MINIMAL))
    assert recipe.name == "mine"
    assert recipe.hashing == Steps(epochs=2)
    assert recipe.objective == Objective()


def test_a_recipe_says_only_what_differs_from_its_base(written):
    text = 'base = "tiny"\ndescription = "Longer."\n[hashing]\nepochs = 9\n'
    base, longer = load_recipe("tiny"), load_recipe(written(text))
    assert longer == replace(base, name="mine", description="Longer.", hashing=replace(base.hashing, epochs=9))


@pytest.mark.parametrize(
    ("name", "branches"),
    [("without-photos", Branches.WITHOUT_PHOTOS), ("without-tokens", Branches.WITHOUT_TOKENS)],
)
def test_an_ablation_differs_from_the_tuned_recipe_in_its_branches_alone(name, branches):
    tuned, ablation = load_recipe("tuned"), load_recipe(name)
    assert ablation.branches is branches
    assert replace(ablation, branches=tuned.branches).hash == tuned.hash


@pytest.mark.parametrize(
    ("name", "weight"), [("pairwise-only", "semantic_weight"), ("semantic-only", "pairwise_weight")]
)
def test_an_ablation_leaves_one_part_of_the_tuned_objective_out(name, weight):
    tuned, ablation = load_recipe("tuned"), load_recipe(name)
    without = replace(tuned.objective, **{weight: 0.0})
    assert tuned.objective != ablation.objective == without
    assert replace(ablation, objective=tuned.objective).hash == tuned.hash


@pytest.mark.parametrize("ablation", ["without-photos", "without-tokens", "pairwise-only", "semantic-only"])
def test_what_a_recipe_changes_can_go_on_top_of_another(ablation, written):
    assert load_recipe(f"tuned+{ablation}").hash == load_recipe(ablation).hash
    mine = load_recipe(f"{written(MINIMAL)}+{ablation}")
    assert (mine.size, mine.hashing.epochs) == ("tiny", 2)
    changed = load_recipe(ablation)
    assert (mine.branches, mine.objective.pairwise_weight) == (changed.branches, changed.objective.pairwise_weight)
    with pytest.raises(UnknownName, match="mean 'tuned'"):
        load_recipe(f"tunned+{ablation}")


def test_a_path_may_hold_a_plus(tmp_path):
    path = tmp_path / "c++" / "more+longer.toml"
    path.parent.mkdir()
    path.write_text(MINIMAL, encoding="utf-8")
    assert load_recipe(str(path)).hashing.epochs == 2
    assert load_recipe(f"{path}+without-tokens").branches is Branches.WITHOUT_TOKENS


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (MINIMAL + "speed = 3", "no setting named 'speed'"),
        (MINIMAL.replace('size = "tiny"', 'size = "tiny"\nfrozen_trunk = true'), "mean 'frozen_trunks'"),
        (MINIMAL + '[objective]\nsimilarity = "paperr"', "mean 'paper'"),
        (MINIMAL + 'optimiser = "adam"', "mean 'adamw'"),
        ('base = "tinny"\n', "mean 'tiny'"),
    ],
    ids=["stage setting", "recipe setting", "similarity", "optimiser", "base"],
)
def test_unknown_names_suggest_the_nearest(text, complaint, written):
    with pytest.raises(UnknownName, match=complaint):
        load_recipe(written(text))


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("this is not TOML", r"mine\.toml cannot be used"),
        (MINIMAL.partition("[hashing]")[0], "hashing"),
        (MINIMAL.replace('size = "tiny"', ""), "size"),
        (MINIMAL.replace("epochs = 2", 'epochs = "two"'), r"mine\.toml cannot be used"),
        (MINIMAL.replace("epochs = 2", 'epochs = "two"'), "epochs should be a valid integer, found 'two'"),
        (MINIMAL.replace("epochs = 2", "epochs = true"), "epochs should be a valid integer, found True"),
        (MINIMAL + "learning_rate = nan", "learning_rate should be a finite number, found nan"),
        ("base = 5\n" + MINIMAL, "base should be the name of a recipe"),
        (MINIMAL.replace("epochs = 2", "epochs = -2"), "epochs=-2"),
        (MINIMAL + "learning_rate = 0", "learning_rate=0"),
        (MINIMAL + "decay = 1.5", "decay=1.5"),
        (MINIMAL + "longest_gradient = -1.0", "longest_gradient=-1.0"),
        (MINIMAL + "[objective]\nrounds = 0", "at least 1 round"),
        (MINIMAL + "[objective]\npairwise_weight = 0\nsemantic_weight = 0", "must be above 0"),
        (MINIMAL.replace('size = "tiny"', 'size = "tiny"\nbranches = "half"'), "half"),
    ],
)
def test_a_recipe_that_cannot_be_used_says_why(text, complaint, written):
    with pytest.raises(BadArgument, match=complaint):
        load_recipe(written(text))


def test_a_recipe_that_is_its_own_base_is_refused(tmp_path):
    one, other = tmp_path / "one.toml", tmp_path / "other.toml"
    one.write_text(f'base = "{other}"', encoding="utf-8")
    other.write_text(f'base = "{one}"', encoding="utf-8")
    with pytest.raises(BadArgument, match="is its own base"):
        load_recipe(str(one))


def test_a_recipe_without_a_stage_is_told_which(written):
    with pytest.raises(BadArgument, match=r"needs hashing; name a base recipe"):
        load_recipe(written(MINIMAL.replace("[hashing]\nepochs = 2\n", "")))


def test_a_missing_file_and_an_unknown_name_are_told_apart(tmp_path):
    with pytest.raises(BadArgument, match="cannot be read: No such file"):
        load_recipe(str(tmp_path / "absent.toml"))
    with pytest.raises(UnknownName, match="Did you mean 'paper'"):
        load_recipe("papers")


def test_the_recipe_shipped_is_still_the_one_the_shipped_model_was_made_by():
    card = files("sketchhash") / "model" / "shipped" / "README.md"
    assert f"shipped (sha256 {load_recipe('shipped').hash})" in card.read_text(encoding="utf-8")


def test_the_hash_leaves_out_the_name_and_the_description():
    recipe = load_recipe("tiny")
    assert replace(recipe, name="other", description="Told otherwise.").hash == recipe.hash


OTHER_VALUES = {
    "size": "paper",
    "pretrain_photos": Steps(epochs=77),
    "pretrain_sketches": Steps(epochs=77),
    "pretrain_ink": Steps(epochs=77),
    "pretrain_behind": Steps(epochs=77),
    "hashing": Steps(epochs=77),
    "objective": Objective(rounds=77),
    "branches": Branches.WITHOUT_TOKENS,
    "words": "glove",
    "words_file": "vectors.bin",
    "centred_words": True,
    "detector": "another",
    "frozen_trunks": True,
    "photo_views": 77,
    "sketch_views": 77,
    "stroke_redraws": 77,
    "fewest_photos": 77,
    "second_threshold": 0.77,
    "sees_classes": True,
    "category_weight": 0.77,
    "photo_side": 77,
    "ink_side": 77,
}


def test_the_hash_changes_with_every_deciding_value():
    recipe = load_recipe("tiny")
    assert set(OTHER_VALUES) == {field.name for field in fields(recipe)} - {"name", "description"}
    hashes = {replace(recipe, **{name: value}).hash for name, value in OTHER_VALUES.items()}
    assert len(hashes | {recipe.hash}) == len(OTHER_VALUES) + 1


@pytest.mark.parametrize("kind", [Steps, Objective])
def test_the_hash_sees_into_every_table(kind):
    recipe = load_recipe("tiny")
    stage, value = ("hashing", recipe.hashing) if kind is Steps else ("objective", recipe.objective)
    other = {"optimiser": "sgd", "similarity": "paper", "averaging": 0.5, "kept_share": 0.5, "scores_first": True}
    other["precision"] = "bfloat16"
    hashes = {recipe.hash}
    for field in fields(kind):
        name = field.name
        changed = other[name] if name in other else getattr(value, name) / 2 + 1
        hashes.add(replace(recipe, **{stage: replace(value, **{name: changed})}).hash)
    assert len(hashes) == len(fields(kind)) + 1


def test_a_decaying_rate_is_constant_within_an_epoch_and_falls_by_its_factor_between_epochs():
    steps = Steps(epochs=3, learning_rate=0.001, decay=0.3)
    assert steps.rate(0, 0.0) == steps.rate(0, 0.9) == 0.001
    assert steps.rate(2, 0.5) == pytest.approx(0.001 * 0.09)


def test_a_cosine_rate_warms_up_and_falls_towards_zero():
    steps = Steps(epochs=10, learning_rate=0.01)
    rates = [steps.rate(epoch, done / 100) for epoch in range(10) for done in range(100)]
    peak = rates.index(max(rates))
    assert 0 < rates[0] < 0.0002
    assert 30 < peak < 60  # of 1000 steps
    assert max(rates) == pytest.approx(0.01, rel=0.01)
    assert rates[:peak] == sorted(rates[:peak])
    assert rates[peak:] == sorted(rates[peak:], reverse=True)
    assert steps.rate(5, 0.0) == pytest.approx(0.005)
    assert 0 < rates[-1] < 1e-6


def test_a_recipe_that_is_nested_without_end_is_refused(tmp_path):
    path = tmp_path / "deep.toml"
    path.write_text(f"x = {'[' * 5000}{']' * 5000}", encoding="utf-8")
    with pytest.raises(BadArgument, match=r"deep\.toml cannot be used"):
        load_recipe(str(path))
