"""However pictures are read, a run learns the same; and nothing of a step stays behind on the processor."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from sketchhash import devices
from sketchhash.datasets import draw_split
from sketchhash.devices import using
from sketchhash.dsh import inputs as inputs_module
from sketchhash.dsh import loading, pretraining, training
from sketchhash.dsh.networks import Branches, Classifier
from sketchhash.dsh.optimisation import Processes
from sketchhash.dsh.progress import Silent
from sketchhash.dsh.runs import Job
from sketchhash.errors import BadArgument

from .conftest import BITS, FROZEN, MODES, QUICK, TINY, Listening, state_of

INK = replace(QUICK, pretrain_ink=replace(TINY.pretrain_sketches, epochs=1, batch=8))


@pytest.fixture
def keep(dataset, tmp_path):
    """Return a function that trains with kept pixels."""

    def train(recipe, progress):
        job = Job(dataset, draw_split(dataset, queries=2), recipe, BITS, keep_pixels=True)
        return training.train(job, tmp_path / "kept", tmp_path / "cache", progress, Processes())

    return train


def assert_same(one, other):
    one, other = state_of(one), state_of(other)
    assert all(torch.equal(one[name], other[name]) for name in one | other)


@MODES
def test_reading_ahead_changes_no_bit(recipe, run, finished, tmp_path, monkeypatch):
    monkeypatch.setattr(loading, "_ahead", lambda: 2)
    run(recipe)
    assert_same(tmp_path / "run", finished(recipe) / "run")


def test_kept_pixels_change_no_bit(keep, finished, dataset, tmp_path):
    listening = Listening()
    inputs = keep(INK, listening)
    assert_same(tmp_path / "kept", finished(INK) / "run")
    told = [stage for stage in listening.stages if stage.startswith("keeping")]
    assert told == ["keeping pixels of photos", "keeping pixels of tokens"]
    values = inputs.photo_values(dataset.photos)
    inputs.pixel_folder = None
    np.testing.assert_array_equal(inputs.photo_values(dataset.photos), values)


@pytest.mark.parametrize(
    ("branches", "kept"), [(Branches.WITHOUT_TOKENS, ["photos"]), (Branches.WITHOUT_PHOTOS, ["tokens"])]
)
def test_only_what_a_network_looks_at_is_kept(branches, kept, keep, tmp_path):
    keep(replace(QUICK, branches=branches), Silent())
    assert [path.name.split("-")[0] for path in (tmp_path / "cache" / "pixels").iterdir()] == kept


def test_frozen_trunks_need_no_pixels(keep, tmp_path):
    keep(FROZEN, Silent())
    assert not (tmp_path / "cache" / "pixels").exists()


def test_a_disk_without_room_is_refused_before_contours_are_found(keep, tmp_path, monkeypatch):
    def refuse(folder, files):
        assert sum(file.missing_bytes for file in files) > 24 * (3 * 64 * 64 + 48 * 48)
        raise BadArgument("no room")

    monkeypatch.setattr(inputs_module, "check_room", refuse)
    with pytest.raises(BadArgument, match="no room"):
        keep(QUICK, Silent())
    assert not (tmp_path / "cache" / "tokens").exists()


@MODES
def test_the_steps_of_a_run_are_taken_on_the_device(recipe, dataset, tmp_path, monkeypatch):
    # A device without content stands in for a card: torch refuses to mix its values with the processor's.
    monkeypatch.setattr(devices, "available", lambda: ("cpu", "meta"))
    parts = draw_split(dataset, queries=2).apply(dataset)
    recipe = replace(recipe, category_weight=0.5)
    job = Job(dataset, draw_split(dataset, queries=2), recipe, BITS)
    inputs = training.prepare(job, job.network(), tmp_path, Silent(), Processes())
    training_set = training._training_set(inputs, parts, [0, 1, 2, 3])
    problem = training._problem(recipe, training._word_vectors(recipe, dataset.categories), BITS, training_set)
    shown = inputs.pretraining_photos(parts.training_photos)
    source = shown.load()
    generator = torch.Generator().manual_seed(0)
    with using("meta") as card:
        trainer = training.Trainer(inputs.network, training_set, problem, recipe.hashing, 1, 0, Processes(), 0.5)
        rows = torch.arange(8)
        read = training_set.read(rows, rows, generator)
        assert {read.photos.device, read.tokens.device, read.sketches.device} == {card}
        loss = trainer.loss(read, torch.ones(8, BITS), torch.ones(8, BITS), torch.ones(4, BITS))
        loss.backward()
        assert loss.device == card
        classifier = Classifier(inputs.network.c1, 4, 5).to(card)
        labels = torch.tensor([item.label for item in shown.items], device=card)
        steps = replace(recipe.pretrain_photos, imagenet_weight=1.0)
        teacher = pretraining._Teacher(classifier, inputs.network.c1.trunk, source, labels, steps, torch.ones(4, 5))
        of_c1 = pretraining._shared_loss(teacher, teacher.read(Processes(), generator, rows))
        of_c1.backward()
        assert of_c1.device == card


def test_mixing_with_what_a_net_was_works_wherever_it_learned():
    trunk = torch.nn.Linear(2, 2).to("meta")
    pretraining._mix(trunk, torch.nn.Linear(2, 2).state_dict(), 0.5)
    assert trunk.weight.device == torch.device("meta")
