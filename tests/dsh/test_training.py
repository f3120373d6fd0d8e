"""A whole run on four shapes: what it learns, what it keeps, how it goes on, and what it refuses."""

import json
import shutil
from collections import namedtuple
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from importlib.metadata import version

import numpy as np
import pytest
import torch

from sketchhash.datasets import draw_split, open_dataset
from sketchhash.dsh import runs, training
from sketchhash.dsh.checkpoints import read_checkpoint
from sketchhash.dsh.descent import seeded_epoch
from sketchhash.dsh.discrete import solve_basis
from sketchhash.dsh.hashing import Hashing
from sketchhash.dsh.networks import Branches, build_network, network_spec
from sketchhash.dsh.objective import Problem, Samples, objective
from sketchhash.dsh.processes import Processes
from sketchhash.dsh.progress import Silent
from sketchhash.dsh.recipe import load_recipe
from sketchhash.dsh.runs import Job
from sketchhash.dsh.sources import weights_hash
from sketchhash.dsh.training import train
from sketchhash.errors import BadArgument, DamagedState, DatasetProblem, SplitProblem, UnwritableState

TINY = load_recipe("tiny")
QUICK = replace(
    TINY,
    pretrain_photos=replace(TINY.pretrain_photos, epochs=2, batch=8),
    pretrain_sketches=replace(TINY.pretrain_sketches, epochs=2, batch=8),
    hashing=replace(TINY.hashing, epochs=3, batch=8),
)
FROZEN = replace(QUICK, frozen_trunks=True, photo_views=2, sketch_views=2)
MODES = pytest.mark.parametrize("recipe", [QUICK, FROZEN], ids=["all weights", "frozen trunks"])
BITS = 16


@pytest.fixture(autouse=True, scope="module")
def small_words():
    """Give categories random unit vectors: GloVe and WordNet take seconds to load."""

    def embed(categories, source):
        vectors = np.random.default_rng(0).normal(size=(len(categories), 12))
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training.words, "embed", embed)
        yield


@pytest.fixture
def dataset(shapes):
    return open_dataset(shapes)


@pytest.fixture(scope="module")
def finished(shapes, tmp_path_factory):
    """Give a function that names the folder of a finished run and its cache: a recipe is trained once."""
    folders = {}

    def folder_of(recipe):
        if recipe.hash not in folders:
            folders[recipe.hash] = tmp_path_factory.mktemp("finished")
            start(open_dataset(shapes), folders[recipe.hash], recipe)
        return folders[recipe.hash]

    return folder_of


@pytest.fixture
def run(dataset, finished, tmp_path):
    """Give a function that trains in a folder of the test's own; only token maps are there already."""
    shutil.copytree(finished(QUICK) / "cache" / "tokens", tmp_path / "cache" / "tokens", dirs_exist_ok=True)
    return partial(start, dataset, tmp_path)


@pytest.fixture
def done(finished, tmp_path):
    """Put a finished run of the quick recipe, and its cache, into the test's own folder."""
    shutil.copytree(finished(QUICK), tmp_path, dirs_exist_ok=True)
    return tmp_path / "run"


def start(dataset, folder, recipe=QUICK, *, name="run", progress=None, resume=False, bits=BITS, seed=0):
    job = Job(dataset, draw_split(dataset, queries=2), recipe, bits, seed)
    return train(job, folder / name, folder / "cache", progress or Silent(), Processes(), resume)


class Listening(Silent):
    """Remembers what a run told."""

    def __init__(self):
        self.stages, self.entries = [], []

    @contextmanager
    def stage(self, name, steps):
        self.stages.append(name)
        yield lambda: None

    def report(self, entry):
        self.entries.append(dict(entry))


class Interrupting(Silent):
    """Presses Ctrl-C in the middle of a stage."""

    def __init__(self, stage):
        self.wanted = stage

    @contextmanager
    def stage(self, name, steps):
        done = 0

        def advance():
            nonlocal done
            done += 1
            if name.startswith(self.wanted) and done == max(1, steps // 2):
                raise KeyboardInterrupt

        yield advance


def codes(values):
    return np.where(values >= 0, 1, -1)


def state_of(folder):
    state = read_checkpoint(folder / "checkpoint.pt")
    return {**state["weights"], "photo codes": state["photo_codes"], "sketch codes": state["sketch_codes"]}


# Learning


@MODES
def test_photos_and_sketches_of_a_shape_get_codes_that_find_each_other(recipe, run, dataset):
    desk = run(
        replace(
            recipe,
            pretrain_photos=replace(recipe.pretrain_photos, epochs=10, learning_rate=0.01),
            pretrain_sketches=replace(recipe.pretrain_sketches, epochs=10, learning_rate=0.01),
            hashing=replace(recipe.hashing, epochs=60, learning_rate=0.01),
        )
    )
    parts = draw_split(dataset, queries=2).apply(dataset)
    photos, sketches = parts.training_photos, parts.training_sketches
    likeness = codes(desk.sketch_values(sketches)) @ codes(desk.photo_values(photos)).T
    same = np.array([[s.label == p.label for p in photos] for s in sketches])
    nearest = np.argsort(-likeness, axis=1, kind="stable")[:, :6]
    assert likeness[same].mean() > likeness[~same].mean() + BITS / 4
    assert np.take_along_axis(same, nearest, axis=1).mean() > 0.5  # by chance: 0.25


@MODES
def test_the_discrete_steps_never_raise_the_objective(recipe, dataset, tmp_path):
    job = Job(dataset, draw_split(dataset, queries=2), recipe, BITS)
    parts = job.split.apply(dataset)
    network = job.network()
    desk = training.prepare(job, network, tmp_path, Silent(), Processes())
    training_set = training._training_set(desk, parts, [0, 1, 2, 3])
    problem = training._problem(recipe, dataset.categories, BITS, training_set)
    hashing = Hashing(network, training_set, problem, recipe.hashing, 1, 0, Processes())

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


@MODES
@pytest.mark.parametrize("branches", [Branches.WITHOUT_TOKENS, Branches.WITHOUT_PHOTOS])
def test_ablations_train_in_both_modes(recipe, branches, run, dataset):
    listening = Listening()
    desk = run(replace(recipe, branches=branches), progress=listening)
    assert desk.photo_values(dataset.photos[:3]).shape == (3, BITS)
    told = " ".join(listening.stages)
    assert ("tokens" in told) == branches.has_tokens
    assert ("pre-training on photos" in told) == branches.has_photos


@pytest.mark.parametrize("branches", [Branches.FULL, Branches.WITHOUT_TOKENS])
def test_c2_may_learn_from_all_ink_before_hashing(branches, run):
    listening = Listening()
    taught = replace(FROZEN, branches=branches, pretrain_ink=replace(TINY.pretrain_sketches, epochs=1, batch=8))
    untaught = run(replace(FROZEN, branches=branches), name="without")
    desk = run(taught, name="with", progress=listening)
    assert any("pre-training on ink" in stage for stage in listening.stages) == branches.has_tokens
    assert weights_hash(desk.network.c2.trunk) != weights_hash(untaught.network.c2.trunk)


def test_another_cycle_of_pre_training_goes_on_from_what_the_one_before_gave(run, tmp_path):
    def kept():
        return {path.name for path in (tmp_path / "cache" / "pretrained").glob("sketches-*.safetensors")}

    once = run(FROZEN, name="once")
    first = kept()
    twice = replace(FROZEN, pretrain_sketches=replace(FROZEN.pretrain_sketches, cycles=2))
    listening = Listening()
    desk = run(twice, name="twice", progress=listening)
    assert weights_hash(desk.network.c2.trunk) != weights_hash(once.network.c2.trunk)
    assert len(first) == 1 and first < kept() and len(kept()) == 2
    of_sketches = [stage for stage in listening.stages if stage.startswith("pre-training on sketches")]
    assert of_sketches == [f"pre-training on sketches, cycle 2, epoch {number} of 2" for number in (1, 2)]


def test_balanced_weights_grow_with_samples_and_bits(run, monkeypatch):
    problems = []
    monkeypatch.setattr(training, "Problem", lambda **given: problems.append(given) or Problem(**given))
    weights = replace(QUICK.objective, semantic_weight=0.5, quantisation_weight=2.0, balanced=True)
    recipe = replace(QUICK, objective=weights, hashing=replace(QUICK.hashing, epochs=0))
    desk = run(recipe)
    parts = draw_split(desk.dataset, queries=2).apply(desk.dataset)
    samples = (len(parts.training_photos) + len(parts.training_sketches)) / 2
    (problem,) = problems
    assert problem["semantic_weight"] == 0.5 * samples * BITS
    assert problem["quantisation_weight"] == 2.0 * samples
    assert problem["pairwise_weight"] == 1.0


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
    desk = run(FROZEN)
    whole = training.Desk(dataset, desk.network, QUICK, 0, tmp_path / "cache", Silent())
    photos, sketches = dataset.photos[3:9], dataset.sketches[5:16]
    np.testing.assert_allclose(desk.photo_values(photos), whole.photo_values(photos), atol=1e-5)
    np.testing.assert_allclose(desk.sketch_values(sketches), whole.sketch_values(sketches), atol=1e-5)


@MODES
def test_no_items_have_no_values(recipe, dataset, tmp_path):
    desk = training.Desk(dataset, build_network(network_spec("tiny", BITS), 0), recipe, 0, tmp_path, Silent())
    assert desk.photo_values([]).shape == desk.sketch_values([]).shape == (0, BITS)


def test_a_sketch_whose_category_has_no_photos_is_explained(shapes, tmp_path):
    shutil.copytree(shapes, tmp_path / "data")
    shutil.rmtree(tmp_path / "data" / "photos" / "disc")
    dataset = open_dataset(tmp_path / "data")
    job = Job(dataset, draw_split(dataset, queries=2), FROZEN, BITS)
    desk = train(job, tmp_path / "run", tmp_path / "cache", Silent(), Processes())
    by_category = {dataset.categories[sketch.label]: sketch for sketch in dataset.sketches}
    assert desk.sketch_values([by_category["bar"]]).shape == (1, BITS)
    with pytest.raises(DatasetProblem, match="disc"):
        desk.sketch_values([by_category["disc"]])


# Repeating, stopping and going on


def test_another_seed_gives_another_model(done, run, tmp_path):
    run(name="other", seed=1)
    first, other = state_of(done), state_of(tmp_path / "other")
    assert not torch.equal(first["c1.fc_a.weight"], other["c1.fc_a.weight"])
    assert not torch.equal(first["photo codes"], other["photo codes"])


def test_training_leaves_torchs_own_generator_as_it_was(run):
    before = torch.random.get_rng_state()
    run()
    assert torch.equal(torch.random.get_rng_state(), before)


@pytest.mark.parametrize(
    ("recipe", "stage"),
    [
        (QUICK, "pre-training on sketches, epoch 2"),
        (QUICK, "pre-training on photos, epoch 2"),
        (QUICK, "hashing, epoch 1"),
        (QUICK, "hashing, epoch 3"),
        (FROZEN, "pre-training on photos, epoch 2"),
        (FROZEN, "hashing, epoch 3"),
    ],
    ids=lambda value: value if isinstance(value, str) else f"frozen={value.frozen_trunks}",
)
def test_an_interrupted_run_ends_as_if_it_had_not_been(recipe, stage, finished, run, tmp_path):
    whole, halved = finished(recipe) / "run", tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        run(recipe, progress=Interrupting(stage))
    listening = Listening()
    desk = run(recipe, progress=listening, resume=True)
    repeated = next(name for name in listening.stages if "epoch" in name)
    assert repeated.startswith(stage)  # and nothing before it
    expected, found = state_of(whole), state_of(halved)
    assert expected.keys() == found.keys()
    assert all(torch.equal(expected[name], found[name]) for name in expected)
    assert all(torch.equal(expected[name], tensor) for name, tensor in desk.network.state_dict().items())
    assert (whole / "log.jsonl").read_bytes() == (halved / "log.jsonl").read_bytes()


def test_resuming_a_finished_run_only_gives_it_back(done, run):
    listening = Listening()
    desk = run(resume=True, progress=listening)
    kept = state_of(done)
    assert not listening.entries
    assert all(torch.equal(kept[name], tensor) for name, tensor in desk.network.state_dict().items())


def test_models_with_other_bits_start_from_the_same_pre_training(done, run):
    listening = Listening()
    run(bits=32, name="32", progress=listening)
    assert {entry["stage"] for entry in listening.entries} == {"hashing"}


def test_the_record_of_a_run_names_what_decided_it(done, dataset):
    record = json.loads((done / "run.json").read_text())
    assert (record["bits"], record["seed"], record["dataset"]) == (BITS, 0, dataset.name)
    assert record["recipe"]["hash"] == QUICK.hash
    assert record["split_hash"] == draw_split(dataset, queries=2).hash
    assert record["versions"]["torch"] == version("torch")


def test_an_epoch_is_seeded_by_its_stage_number_and_seed_and_each_process_drops_apart():
    def draws(seed=0, stage="hashing", epoch=0, processes=Processes()):  # noqa: B008
        with seeded_epoch(seed, stage, epoch, processes) as generator:
            return torch.rand(1, generator=generator).item(), torch.rand(1).item()

    assert draws() == draws()
    others = [draws(seed=1), draws(stage="pre-training"), draws(epoch=1)]
    assert len({draws(), *others}) == 4
    first, second = draws(processes=Processes(0, 2)), draws(processes=Processes(1, 2))
    assert first == draws()
    assert first[0] == second[0]
    assert first[1] != second[1]


# Refusing


def test_a_run_is_not_resumed_with_other_settings(done, run):
    with pytest.raises(BadArgument, match="begun with other settings"):
        run(replace(QUICK, hashing=replace(QUICK.hashing, epochs=9)), resume=True)
    with pytest.raises(BadArgument, match="begun with other settings"):
        run(bits=32, resume=True)


def test_an_existing_run_is_not_overwritten(done, run):
    with pytest.raises(BadArgument, match=r"already holds a run\. Add --resume"):
        run()
    (done / "run.json").unlink()
    with pytest.raises(BadArgument, match="already holds a run"):  # its checkpoint must not leak into a new run
        run()


def test_resuming_needs_a_run(run):
    with pytest.raises(BadArgument, match="holds no run to resume"):
        run(resume=True)


def test_too_little_room_is_refused_before_anything_is_done(run, tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(runs.shutil, "disk_usage", lambda path: usage(10**9, 10**9 - 1000, 1000))
    listening = Listening()
    with pytest.raises(BadArgument, match=r"0 MB free; a run of this network needs \d+ MB"):
        run(progress=listening)
    assert not listening.stages
    assert not (tmp_path / "run").exists()


def test_a_checkpoint_that_cannot_be_written_stops_the_run_and_can_be_resumed(done, run, tmp_path, monkeypatch):
    save, calls = torch.save, []

    def fill_the_disk(state, file):
        calls.append(state)
        if len(calls) == 2:  # pre-training is in the cache already, so this is the second epoch of hashing
            raise OSError(28, "No space left on device")
        save(state, file)

    with monkeypatch.context() as patch:
        patch.setattr("sketchhash.dsh.checkpoints.torch.save", fill_the_disk)
        with pytest.raises(UnwritableState, match=r"checkpoint\.pt cannot be written"):
            run(name="next")
    assert len(read_checkpoint(tmp_path / "next" / "checkpoint.pt")["history"]) == 1
    run(name="next", resume=True)
    expected, found = state_of(done), state_of(tmp_path / "next")
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def test_a_truncated_checkpoint_is_named_and_can_be_removed(done, run):
    path = done / "checkpoint.pt"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(DamagedState, match=r"checkpoint\.pt cannot be read: remove it"):
        run(resume=True)
    path.unlink()
    run(resume=True)


def test_damaged_pre_trained_weights_are_named(done, run, tmp_path):
    path = next((tmp_path / "cache" / "pretrained").glob("sketches-*"))
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(DamagedState, match="remove it to pre-train anew"):
        run(name="next")


@pytest.mark.parametrize("branches", list(Branches))
def test_unreadable_photos_are_all_named_before_pre_training(branches, shapes, tmp_path):
    shutil.copytree(shapes, tmp_path / "data")
    for name in ("bar/1.png", "fence/4.png"):
        (tmp_path / "data" / "photos" / name).write_bytes(b"not a picture")
    dataset = open_dataset(tmp_path / "data")
    job = Job(dataset, draw_split(dataset, queries=2), replace(QUICK, branches=branches), BITS)
    listening = Listening()
    with pytest.raises(DatasetProblem, match=r"(?s)2 pictures cannot be read.*1\.png.*4\.png"):
        train(job, tmp_path / "run", tmp_path / "cache", listening, Processes())
    assert len(listening.stages) == 1


def test_a_category_with_one_sketch_to_train_on_is_refused(shapes, tmp_path):
    shutil.copytree(shapes, tmp_path / "data")
    for number in range(3, 6):
        (tmp_path / "data" / "sketches" / "disc" / f"{number}.png").unlink()
    dataset = open_dataset(tmp_path / "data")
    job = Job(dataset, draw_split(dataset, queries=2), QUICK, BITS)
    with pytest.raises(SplitProblem, match="Only one sketch is left to train on in: disc"):
        train(job, tmp_path / "run", tmp_path / "cache", Silent(), Processes())
    assert not (tmp_path / "run").exists()


def test_one_category_is_not_enough(shapes, tmp_path):
    for kind in ("sketches", "photos"):
        shutil.copytree(shapes / kind / "disc", tmp_path / "data" / kind / "disc")
    dataset = open_dataset(tmp_path / "data")
    job = Job(dataset, draw_split(dataset, queries=2), QUICK, BITS)
    with pytest.raises(SplitProblem, match="Fewer than two categories"):
        train(job, tmp_path / "run", tmp_path / "cache", Silent(), Processes())


@pytest.mark.parametrize("bits", [0, 4, 12, -8, 1 << 20])
def test_codes_that_do_not_fill_bytes_are_refused(bits, dataset):
    with pytest.raises(BadArgument, match=f"multiple of 8 up to .*, not {bits}"):
        Job(dataset, draw_split(dataset, queries=2), QUICK, bits)
