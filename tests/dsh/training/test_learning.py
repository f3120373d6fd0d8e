"""What a run on four shapes learns."""

import json
import shutil
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import sketchhash
from sketchhash.datasets import Item, draw_split, open_dataset
from sketchhash.datasets.names import meaning
from sketchhash.dsh import backbones, pretraining, prototypes, training
from sketchhash.dsh.checkpoints import read_checkpoint, read_weights
from sketchhash.dsh.discrete import solve_basis
from sketchhash.dsh.inputs import NetworkInputs
from sketchhash.dsh.networks import Branches, HashNetwork, build_network, network_spec
from sketchhash.dsh.objective import Problem, Samples, objective
from sketchhash.dsh.optimisation import Processes, drawn
from sketchhash.dsh.pretraining import _chances, pretrain
from sketchhash.dsh.progress import Silent
from sketchhash.dsh.recipe import Steps
from sketchhash.dsh.runs import Job
from sketchhash.dsh.sources import InputSet, weights_hash
from sketchhash.dsh.training import Trainer, _drawn_rows, category_loss, train
from sketchhash.dsh.warm_start import start_from
from sketchhash.errors import BadArgument, DatasetProblem
from sketchhash.model.manifest import SKETCH_NETWORK

from .conftest import BITS, FROZEN, MODES, QUICK, TINY, Interrupting, Listening, codes


@MODES
def test_photos_and_sketches_of_a_shape_get_codes_that_find_each_other(recipe, run, dataset):
    inputs = run(
        replace(
            recipe,
            pretrain_photos=replace(recipe.pretrain_photos, epochs=10, learning_rate=0.01),
            pretrain_sketches=replace(recipe.pretrain_sketches, epochs=10, learning_rate=0.01),
            hashing=replace(recipe.hashing, epochs=60, learning_rate=0.01),
        )
    )
    parts = draw_split(dataset, queries=2).apply(dataset)
    photos, sketches = parts.training_photos, parts.training_sketches
    likeness = codes(inputs.sketch_values(sketches)) @ codes(inputs.photo_values(photos)).T
    same = np.array([[s.label == p.label for p in photos] for s in sketches])
    nearest = np.argsort(-likeness, axis=1, kind="stable")[:, :6]
    assert likeness[same].mean() > likeness[~same].mean() + BITS / 4
    assert np.take_along_axis(same, nearest, axis=1).mean() > 0.5  # by chance: 0.25


@MODES
def test_the_discrete_steps_never_raise_the_objective(recipe, dataset, tmp_path):
    job = Job(dataset, draw_split(dataset, queries=2), recipe, BITS)
    parts = job.split.apply(dataset)
    network = job.network()
    inputs = training.prepare(job, network, tmp_path, Silent(), Processes())
    training_set = training._training_set(inputs, parts, [0, 1, 2, 3])
    problem = training._problem(recipe, training._word_vectors(recipe, dataset.categories), BITS, training_set)
    hashing = Trainer(network, training_set, problem, recipe.hashing, 1, 0, Processes())

    def total():
        values = hashing._all_values()
        photos = Samples(training_set.photo_labels, hashing.photo_codes, values[0])
        sketches = Samples(training_set.sketch_labels, hashing.sketch_codes, values[1])
        return objective(problem, photos, sketches, solve_basis(problem, photos, sketches)).total

    totals = [total()]
    for epoch in range(3):
        terms = hashing._update_codes()
        totals.append(total())
        assert terms.total == pytest.approx(totals[-1])
        assert totals[-1] <= totals[-2] * (1 + 1e-12)
        hashing._update_networks(epoch, Silent())
        totals.append(total())  # the networks minimise what γ weighs: J may move a little here


@MODES
def test_learning_reports_each_epoch_with_a_falling_loss(recipe, run, tmp_path):
    listening = Listening()
    run(recipe, progress=listening)
    log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    told = [entry for entry in listening.entries if entry.pop("stage") == "hashing"]
    assert told == log
    assert [entry["epoch"] for entry in log] == [1, 2, 3]
    assert log[-1]["loss"] < log[0]["loss"]
    assert len([entry for entry in listening.entries if "pairwise" not in entry]) == 4


def test_the_log_counts_the_distinct_codes_of_each_epoch(run, tmp_path):
    run(QUICK)
    log = [json.loads(line) for line in (tmp_path / "run" / "log.jsonl").read_text().splitlines()]
    state = read_checkpoint(tmp_path / "run" / "checkpoint.pt")
    for side in ("photo", "sketch"):
        counts = [entry[f"distinct_{side}_codes"] for entry in log]
        assert counts[-1] == len({tuple(code) for code in state[f"{side}_codes"].tolist()})
        assert all(1 <= count <= len(state[f"{side}_codes"]) for count in counts)


@MODES
@pytest.mark.parametrize("branches", [Branches.WITHOUT_TOKENS, Branches.WITHOUT_PHOTOS])
def test_ablations_train_in_both_modes(recipe, branches, run, dataset):
    listening = Listening()
    inputs = run(replace(recipe, branches=branches), progress=listening)
    assert inputs.photo_values(dataset.photos[:3]).shape == (3, BITS)
    told = " ".join(listening.stages)
    assert ("tokens" in told) == branches.has_tokens
    assert ("pre-training on photos" in told) == branches.has_photos


@pytest.mark.parametrize("branches", [Branches.FULL, Branches.WITHOUT_TOKENS])
def test_c2_may_learn_from_all_ink_before_hashing(branches, run):
    listening = Listening()
    taught = replace(FROZEN, branches=branches, pretrain_ink=replace(TINY.pretrain_sketches, epochs=1, batch=8))
    untaught = run(replace(FROZEN, branches=branches), name="without")
    inputs = run(taught, name="with", progress=listening)
    assert any("pre-training on ink" in stage for stage in listening.stages) == branches.has_tokens
    assert weights_hash(inputs.network.c2.trunk) != weights_hash(untaught.network.c2.trunk)


@pytest.mark.parametrize("branches", [Branches.FULL, Branches.WITHOUT_TOKENS])
def test_layers_behind_a_frozen_trunk_may_learn_on_their_own(branches, dataset, tmp_path):
    behind = replace(TINY.pretrain_photos, epochs=20, batch=8, learning_rate=0.01)
    recipe = replace(FROZEN, branches=branches, pretrain_behind=behind)
    job = Job(dataset, draw_split(dataset, queries=2), recipe, BITS)
    without = replace(job, recipe=replace(recipe, pretrain_behind=replace(behind, epochs=0)))
    network, untaught = job.network(), job.network()
    training.prepare(without, untaught, tmp_path, Silent(), Processes())
    listening = Listening()
    training.prepare(job, network, tmp_path, listening, Processes())
    losses = [entry["loss"] for entry in listening.entries if entry["stage"] == "pre-training on ink"]
    assert len(losses) == 20 and losses[-1] < losses[0]
    assert weights_hash(network.c2.trunk) == weights_hash(untaught.c2.trunk)
    assert weights_hash(network.c2) != weights_hash(untaught.c2)


def test_layers_cannot_learn_behind_a_trunk_that_moves(dataset, tmp_path):
    job = Job(dataset, draw_split(dataset, queries=2), replace(QUICK, pretrain_behind=Steps(epochs=1)), BITS)
    with pytest.raises(BadArgument, match="pretrain_behind needs frozen trunks"):
        training.prepare(job, job.network(), tmp_path, Silent(), Processes())


def test_another_cycle_of_pre_training_goes_on_from_what_the_one_before_gave(run, tmp_path):
    def kept():
        return {path.name for path in (tmp_path / "cache" / "pretrained").glob("sketches-*.safetensors")}

    once = run(FROZEN, name="once")
    first = kept()
    twice = replace(FROZEN, pretrain_sketches=replace(FROZEN.pretrain_sketches, cycles=2))
    listening = Listening()
    inputs = run(twice, name="twice", progress=listening)
    assert weights_hash(inputs.network.c2.trunk) != weights_hash(once.network.c2.trunk)
    assert len(first) == 1 and first < kept() and len(kept()) == 2
    of_sketches = [stage for stage in listening.stages if stage.startswith("pre-training on sketches")]
    assert of_sketches == [f"pre-training on sketches, cycle 2, epoch {number} of 2" for number in (1, 2)]


def test_without_epochs_of_algorithm_1_a_model_folder_holds_what_c2_was_taught(shapes, tmp_path):
    recipe = tmp_path / "c2.toml"
    recipe.write_text('base = "tiny"\n[pretrain_sketches]\nepochs = 1\n[hashing]\nepochs = 0\n', encoding="utf-8")
    cache = tmp_path / "cache"
    split = draw_split(open_dataset(shapes), 2)
    taught = sketchhash.train(shapes, recipe=str(recipe), bits=8, split=split, out=tmp_path / "c2", cache=cache)
    assert not taught.learns_codes
    assert not taught.scores
    (kept,) = (cache / "pretrained").glob("sketches-*.safetensors")
    started, wanted = (build_network(network_spec("tiny", 8), 0).c2.eval() for _ in range(2))
    start_from(started, taught.folder / SKETCH_NETWORK, None)
    wanted.load_state_dict(read_weights(kept))
    ink = torch.arange(48 * 48).view(1, 1, 48, 48) % 256
    torch.testing.assert_close(started.pool3(ink), wanted.pool3(ink), rtol=1e-3, atol=1e-3)


def test_balanced_weights_grow_with_samples_and_bits(run, monkeypatch):
    problems = []
    monkeypatch.setattr(training, "Problem", lambda **given: problems.append(given) or Problem(**given))
    shares = {"semantic_weight": 0.5, "quantisation_weight": 2.0, "basis_weight": 3.0}
    weights = replace(QUICK.objective, **shares, balanced=True)
    recipe = replace(QUICK, objective=weights, hashing=replace(QUICK.hashing, epochs=1))
    inputs = run(recipe)
    parts = draw_split(inputs.dataset, queries=2).apply(inputs.dataset)
    samples = (len(parts.training_photos) + len(parts.training_sketches)) / 2
    (problem,) = problems
    assert problem["semantic_weight"] == 0.5 * samples * BITS
    assert problem["quantisation_weight"] == 2.0 * samples
    assert problem["basis_weight"] == 3.0 * samples
    assert problem["pairwise_weight"] == 1.0


@pytest.mark.parametrize("is_centred", [False, True])
def test_words_are_centred_when_the_recipe_says_so(run, monkeypatch, is_centred):
    problems = []
    monkeypatch.setattr(training, "Problem", lambda **given: problems.append(given) or Problem(**given))
    run(replace(QUICK, centred_words=is_centred, hashing=replace(QUICK.hashing, epochs=1)))
    common = np.linalg.norm(problems[0]["word_vectors"].mean(axis=0))
    assert (common < 0.2) == is_centred


def test_hashing_leaves_frozen_trunks_alone_and_trains_all_that_is_behind_them(run, tmp_path):
    pretrained_only = run(replace(FROZEN, hashing=replace(FROZEN.hashing, epochs=0)), name="before").network
    trained = run(FROZEN, name="after").network
    start = build_network(network_spec("tiny", BITS), seed=0)
    assert weights_hash(trained.c1.trunk) == weights_hash(start.c1.trunk)
    assert weights_hash(trained.c2.trunk) == weights_hash(pretrained_only.c2.trunk)
    assert weights_hash(trained.c2.trunk) != weights_hash(start.c2.trunk)  # pre-training did move it
    before = dict(pretrained_only.named_parameters())
    for name, parameter in trained.named_parameters():
        assert torch.equal(parameter, before[name]) == (".trunk." in name), name


def test_values_from_kept_features_are_those_of_the_pictures(run, dataset, tmp_path):
    inputs = run(FROZEN)
    whole = training.NetworkInputs(dataset, inputs.network, QUICK, 0, tmp_path / "cache", Silent())
    photos, sketches = dataset.photos[3:9], dataset.sketches[5:16]
    np.testing.assert_allclose(inputs.photo_values(photos), whole.photo_values(photos), atol=1e-5)
    np.testing.assert_allclose(inputs.sketch_values(sketches), whole.sketch_values(sketches), atol=1e-5)


@MODES
def test_no_items_have_no_values(recipe, dataset, tmp_path):
    inputs = training.NetworkInputs(
        dataset, build_network(network_spec("tiny", BITS), 0), recipe, 0, tmp_path, Silent()
    )
    assert inputs.photo_values([]).shape == inputs.sketch_values([]).shape == (0, BITS)


def test_a_sketch_whose_category_has_no_photos_is_explained(shapes, tmp_path):
    shutil.copytree(shapes, tmp_path / "data")
    shutil.rmtree(tmp_path / "data" / "photos" / "disc")
    dataset = open_dataset(tmp_path / "data")
    job = Job(dataset, draw_split(dataset, queries=2), FROZEN, BITS)
    inputs = train(job, tmp_path / "run", tmp_path / "cache", Silent(), Processes())
    by_category = {dataset.categories[sketch.label]: sketch for sketch in dataset.sketches}
    assert inputs.sketch_values([by_category["bar"]]).shape == (1, BITS)
    with pytest.raises(DatasetProblem, match="disc"):
        inputs.sketch_values([by_category["disc"]])


def test_strokes_are_redrawn_once_and_kept(tmp_path, quickdraw):
    recipe = replace(QUICK, stroke_redraws=3)
    network = build_network(network_spec("tiny", BITS), 0)
    inputs = NetworkInputs(quickdraw, network, recipe, 0, tmp_path, Silent())
    source = inputs.pretraining_sketches(quickdraw.sketches).load()
    assert source.starts.tolist() == [0, 4, 8]
    again = NetworkInputs(quickdraw, network, recipe, 0, tmp_path, listening := Listening())
    assert torch.equal(again.pretraining_sketches(quickdraw.sketches).load().pixels, source.pixels)
    assert not listening.stages


def test_contours_are_also_drawn_with_a_second_threshold(dataset, tmp_path):
    network = build_network(network_spec("tiny", BITS), 0)

    def shown(threshold):
        recipe = replace(QUICK, second_threshold=threshold)
        inputs = NetworkInputs(dataset, network, recipe, 0, tmp_path, Silent())
        return inputs.pretraining_ink(dataset.sketches, dataset.photos)

    plain, varied = shown(0.0), shown(0.2)
    assert plain.fingerprint != varied.fingerprint != shown(0.3).fingerprint
    usual, detailed = varied.load().second.styles
    rows = torch.arange(len(dataset.photos))
    assert torch.equal(usual.batch(rows, None), plain.load().second.batch(rows, None))
    assert detailed.batch(rows, None).sum() < usual.batch(rows, None).sum()  # ink is dark


@pytest.fixture
def quickdraw(tmp_path):
    folder = tmp_path / "strokes"
    folder.mkdir()
    for name, x in (("line", [0, 255]), ("slope", [0, 128, 200])):
        drawing = {"word": name, "drawing": [[x, x], [x, x[::-1]]]}
        (folder / f"{name}.ndjson").write_text(json.dumps(drawing) + "\n", encoding="utf-8")
    return open_dataset(folder)


def test_balanced_sampling_shows_small_groups_and_categories_more_often():
    items = [Item(str(n), label, None) for n, label in enumerate([0] * 16 + [1] * 4 + [0] * 5)]
    lesson = InputSet("ink", items, lambda: None, "", groups=["large"] * 20 + ["small"] * 5)
    chances = _chances(lesson)
    assert chances[0] * 2 == pytest.approx(chances[16])  # a fourth of the items: twice as often
    assert chances[0] * (20 * 16 / (5 * 5)) ** 0.5 == pytest.approx(chances[-1])
    rows = torch.cat(drawn(chances, 4, torch.Generator().manual_seed(0)))
    assert len(rows) == 25


def test_balanced_code_learning_draws_small_categories_more_often_than_their_share():
    labels = np.repeat([0, 1], [900, 100])
    rows = torch.cat(_drawn_rows(labels, 7, True, torch.Generator().manual_seed(0)))
    assert len(rows) == 1000
    assert 200 < int((torch.from_numpy(labels)[rows] == 1).sum()) < 300  # a fourth: roots of 900 and 100
    plain = torch.cat(_drawn_rows(labels, 7, False, torch.Generator().manual_seed(0)))
    assert sorted(plain.tolist()) == list(range(1000))


@pytest.mark.parametrize(
    "change", [{"averaging": 0.5}, {"balanced_sampling": True}, {"kept_share": 0.5}, {"scores_first": True}], ids=str
)
def test_pretraining_with_other_steps_can_be_interrupted(change, run, dataset, tmp_path):
    recipe = replace(QUICK, pretrain_sketches=replace(QUICK.pretrain_sketches, **change))
    undisturbed = run(recipe, name="whole").network
    shutil.rmtree(tmp_path / "cache" / "pretrained")
    with pytest.raises(KeyboardInterrupt):
        run(recipe, name="broken", progress=Interrupting("pre-training on sketches, epoch 2"))
    resumed = run(recipe, name="broken", resume=True).network
    assert weights_hash(resumed) == weights_hash(undisturbed)
    assert weights_hash(run(QUICK, name="plain").network) != weights_hash(undisturbed)


def test_a_trunk_ends_between_what_it_was_and_what_it_learned(dataset, tmp_path):
    trunks = {}
    for share in (0.0, 0.25):
        network = build_network(network_spec("tiny", 8), 0)
        before = {name: weights.clone() for name, weights in network.c2.trunk.state_dict().items()}
        steps = replace(QUICK.pretrain_sketches, kept_share=share)
        lesson = NetworkInputs(dataset, network, QUICK, 0, tmp_path, Silent()).pretraining_sketches(dataset.sketches)
        pretrain(network.c2, lesson, 4, steps, 0, tmp_path, Processes(), Silent())
        trunks[share] = network.c2.trunk.state_dict()
    for name, learned in trunks[0.0].items():
        if learned.is_floating_point():
            torch.testing.assert_close(trunks[0.25][name], 0.75 * learned + 0.25 * before[name])
    assert not torch.equal(trunks[0.25]["conv1.weight"], trunks[0.0]["conv1.weight"])


def test_what_is_behind_the_trunk_may_learn_first_and_lowers_the_loss_it_learns_on_with(dataset, tmp_path):
    def taught(steps: Steps, start: HashNetwork, progress: Silent) -> HashNetwork:
        network = deepcopy(start)
        lesson = NetworkInputs(dataset, network, QUICK, 0, tmp_path, Silent()).pretraining_sketches(dataset.sketches)
        with suppress(KeyboardInterrupt):
            pretrain(network.c2, lesson, 4, steps, 0, tmp_path, Processes(), progress)
        return network

    once = replace(QUICK.pretrain_sketches, epochs=12, batch=8, learning_rate=0.01)
    known = taught(once, build_network(network_spec("tiny", 8), 0), Silent())
    on = replace(once, epochs=1, batch=4)
    stopping = Interrupting("pre-training on sketches, behind the trunk")
    interrupted = taught(replace(on, scores_first=True), known, stopping)
    assert weights_hash(interrupted.c2.trunk) == weights_hash(known.c2.trunk)
    assert weights_hash(interrupted.c2) != weights_hash(known.c2)
    plain, first = Listening(), Listening()
    taught(on, known, plain)
    assert all(weights.requires_grad for weights in taught(replace(on, scores_first=True), known, first).parameters())
    assert first.entries[0]["loss"] < plain.entries[0]["loss"]


def test_frozen_blocks_stay_as_they_are(dataset, tmp_path):
    network = build_network(replace(network_spec("compact", 8), ink_side=32), 0, pretrained=False)
    recipe = replace(QUICK, size="compact", pretrain_sketches=Steps(epochs=3, batch=8, frozen_blocks=2))
    lesson = NetworkInputs(dataset, network, recipe, 0, tmp_path, Silent()).pretraining_sketches(dataset.sketches[::3])
    before = {name: weights.clone() for name, weights in network.c2.trunk.state_dict().items()}
    pretrain(network.c2, lesson, 4, recipe.pretrain_sketches, 0, tmp_path, Processes(), Silent())
    changed = {
        name for name, weights in network.c2.trunk.state_dict().items() if not torch.equal(weights, before[name])
    }
    assert not any(name.startswith(("stem", "blocks.0.", "blocks.1.")) for name in changed)
    assert {"blocks.2.expand.conv.weight", "blocks.2.expand.norm.running_mean"} <= changed
    assert all(weights.requires_grad for weights in network.c2.parameters())


def test_a_fused_front_changes_nothing_but_the_time(dataset, tmp_path, monkeypatch):
    recipe = replace(QUICK, size="compact", pretrain_sketches=Steps(epochs=1, batch=8, frozen_blocks=2))

    def taught(cache: Path) -> dict[str, torch.Tensor]:
        network = build_network(replace(network_spec("compact", 8), ink_side=32), 0, pretrained=False)
        inputs = NetworkInputs(dataset, network, recipe, 0, cache, Silent())
        shown = inputs.pretraining_sketches(dataset.sketches[::3])
        pretrain(network.c2, shown, 4, recipe.pretrain_sketches, 0, cache, Processes(), Silent())
        return network.c2.state_dict()

    quick = taught(tmp_path / "fused")
    monkeypatch.setattr(pretraining, "_with_fused_front", lambda trunk, blocks: trunk)
    for name, weights in taught(tmp_path / "plain").items():
        torch.testing.assert_close(quick[name], weights, rtol=1e-3, atol=1e-4)


def test_only_an_efficientnet_has_blocks_to_freeze(run):
    with pytest.raises(BadArgument, match="frozen_blocks is for the trunks of EfficientNet"):
        run(replace(QUICK, pretrain_sketches=replace(QUICK.pretrain_sketches, frozen_blocks=1)))


def test_c2_learns_what_imagenet_says_of_photos(run, monkeypatch):
    classifier = (torch.eye(6, 64), torch.zeros(6))
    tiny = replace(backbones.BACKBONES["tiny"], classifier=lambda: classifier)
    monkeypatch.setitem(backbones.BACKBONES, "tiny", tiny)
    recipe = replace(FROZEN, pretrain_sketches=replace(FROZEN.pretrain_sketches, imagenet_weight=1.0))
    plain, taught = (run(each, name=name).network for each, name in ((FROZEN, "plain"), (recipe, "taught")))
    assert weights_hash(plain.c2.trunk) != weights_hash(taught.c2.trunk)


def test_thin_categories_are_filled_up_with_virtual_photos(run, dataset, monkeypatch, tmp_path):
    tiny = replace(backbones.BACKBONES["tiny"], classifier=lambda: (torch.eye(6, 64), torch.zeros(6)))
    monkeypatch.setitem(backbones.BACKBONES, "tiny", tiny)
    known = {meaning(category): [number] for number, category in enumerate(dataset.categories[:4])}
    monkeypatch.setattr(prototypes, "imagenet_classes", lambda: known)
    monkeypatch.setattr(prototypes, "_ENOUGH", 1)
    run(replace(FROZEN, fewest_photos=100), name="filled")
    photos = read_checkpoint(tmp_path / "filled" / "checkpoint.pt")["photo_codes"]
    assert len(photos) >= 400


def test_virtual_photos_need_imagenets_classifier(run):
    with pytest.raises(BadArgument, match="fewest_photos needs a frozen photo trunk"):
        run(replace(FROZEN, fewest_photos=5))


def test_without_imagenets_classifier_nothing_can_be_learned_from_it(run):
    with pytest.raises(BadArgument, match="imagenet_weight needs a frozen photo trunk"):
        run(replace(FROZEN, pretrain_sketches=replace(FROZEN.pretrain_sketches, imagenet_weight=1.0)))


def test_the_category_loss_is_the_cross_entropy_of_the_nearest_category_code():
    rng = np.random.default_rng(0)
    values, categories = rng.normal(size=(5, 8)).astype(np.float32), np.sign(rng.normal(size=(3, 8))).astype(np.float32)
    labels = np.array([0, 2, 1, 1, 0])
    scores = 16 * values @ categories.T / 8
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    wanted = -8 * np.log(chances[np.arange(5), labels]).sum()
    got = category_loss(*map(torch.from_numpy, (values, labels, categories)))
    assert float(got) == pytest.approx(wanted, rel=1e-5)


def test_with_a_category_weight_values_are_nearer_to_their_own_category(dataset, tmp_path):
    job = Job(dataset, draw_split(dataset, queries=2), FROZEN, BITS)

    def loss_after_learning(weight: float) -> float:
        network = job.network()
        inputs = training.prepare(job, network, tmp_path, Silent(), Processes())
        training_set = training._training_set(inputs, job.split.apply(dataset), [0, 1, 2, 3])
        problem = training._problem(FROZEN, training._word_vectors(FROZEN, dataset.categories), BITS, training_set)
        hashing = Trainer(network, training_set, problem, FROZEN.hashing, 1, 0, Processes(), weight)
        for _ in hashing.epochs(0, Silent()):
            pass
        _, sketches = hashing._all_values()
        parts = (sketches, training_set.sketch_labels, hashing._category_codes())
        return float(category_loss(*map(torch.from_numpy, parts)))

    assert loss_after_learning(1.0) < loss_after_learning(0.0)


def test_a_negative_category_weight_is_refused():
    with pytest.raises(BadArgument, match="category_weight"):
        replace(FROZEN, category_weight=-0.1)
