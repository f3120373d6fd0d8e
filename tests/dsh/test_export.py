import json
import logging
import subprocess
import sys
import tempfile
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import onnx
import pytest
import torch
from torch.nn.functional import mse_loss

import sketchhash
from sketchhash.codes import pack
from sketchhash.datasets import Item, draw_split, draw_zero_shot_split, photo_pixels, synthetic
from sketchhash.dsh.export import SIGN_MARGIN, Weights, export_model, halve
from sketchhash.dsh.inputs import Reader
from sketchhash.dsh.networks import Branches, build_network, network_spec
from sketchhash.dsh.recipe import load_recipe
from sketchhash.dsh.runs import Job
from sketchhash.imaging import InkStyle
from sketchhash.model import CardFacts, Inspection, Model, read_manifest, verify
from sketchhash.tokens import WEIGHTS, TokenStyle, detector

pytestmark = pytest.mark.slow

BITS = 32
FACTS = CardFacts(summary="A test.", data=(), protocol="None.")
GRAPHS = ("image.onnx", "sketch.onnx")
WORLD = synthetic.load(3, 3, categories=["apple", "cat", "key", "umbrella"], size=96)


@dataclass(frozen=True)
class Noise:
    shape: tuple[int, ...]
    seed: int

    def read(self):
        return np.random.default_rng(self.seed).integers(0, 256, self.shape, dtype=np.uint8)


NOISE = [Item(f"noise/{seed}", 0, Noise((70 + seed, 90 - 3 * seed, 3), seed)) for seed in range(7)]
PHOTOS = [*WORLD.photos, *NOISE]


@dataclass(frozen=True)
class Exported:
    """A network, the job it belongs to, and the folder and model that were made of it."""

    network: torch.nn.Module
    job: Job
    reader: Reader
    folder: Path
    model: Model
    margin: float

    def torch_photo_values(self, items):
        """Compute values the way training does."""
        photos, tokens = (torch.from_numpy(read(items)) for read in (self.reader.photos, self.reader.tokens))
        with torch.inference_mode():
            return self.network.encode_photos(photos, tokens).numpy()

    def torch_sketch_values(self, ink):
        with torch.inference_mode():
            return self.network.encode_sketches(torch.from_numpy(ink)).numpy()


def taught(network, reader):
    """Fit a network to a code for each category: the margins are for values that were learnt."""
    pictures = [
        torch.from_numpy(read(items))
        for read, items in (
            (reader.photos, WORLD.photos),
            (reader.tokens, WORLD.photos),
            (reader.sketches, WORLD.sketches),
        )
    ]
    labels = torch.tensor([item.label for item in WORLD.photos])
    codes = torch.randint(0, 2, (4, BITS), generator=torch.Generator().manual_seed(0))[labels] * 2.0 - 1
    optimiser = torch.optim.Adam(network.train().parameters(), lr=0.01)
    for _ in range(25):
        photo_values, sketch_values = network(*pictures)
        loss = mse_loss(photo_values, codes) + mse_loss(sketch_values, codes)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return network.eval()


class Ear(logging.Handler):
    def __init__(self):
        super().__init__()
        self.heard = []

    def emit(self, record):
        self.heard.append(record.getMessage())


@pytest.fixture(scope="module")
def surroundings(tmp_path_factory):
    """Listen to the exporter, and give it a folder for temporary files."""
    ear, temporary = Ear(), tmp_path_factory.mktemp("temporary")
    log, threads = logging.getLogger("torch.onnx"), torch.get_num_threads()
    log.addHandler(ear)
    torch.set_num_threads(1)  # networks this small lose more to waiting threads than they gain
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(temporary))
        yield ear, temporary
    torch.set_num_threads(threads)
    log.removeHandler(ear)


@pytest.fixture(scope="module")
def by_branches(tmp_path_factory, surroundings):
    """Export a network of each kind; warnings are errors here, so none escapes."""

    def exported(branches):
        place = tmp_path_factory.mktemp(branches)
        recipe = replace(load_recipe("tiny"), branches=branches)
        job = Job(WORLD, draw_split(WORLD, queries=1), recipe, BITS, seed=5)
        network = build_network(network_spec("tiny", BITS, branches), job.seed)
        reader = Reader.for_network(network.spec, recipe.detector, place / "cache")
        model = export_model(taught(network, reader), job, place / "model", FACTS, {"map": 0.25})
        return Exported(network, job, reader, place / "model", model, SIGN_MARGIN[Weights.FLOAT32])

    return {branches: exported(branches) for branches in Branches}


@pytest.fixture(scope="module")
def whole(by_branches):
    return by_branches[Branches.WITHOUT_TOKENS]


@pytest.fixture(scope="module")
def learner(whole):
    """The same network in the middle of its training."""
    return deepcopy(whole.network).train()


@pytest.fixture(scope="module")
def half(whole, learner, tmp_path_factory):
    """Export the learner in half the bytes, for a job that keeps cats from it."""
    job = replace(whole.job, split=draw_zero_shot_split(WORLD, ["cat"]))
    folder = tmp_path_factory.mktemp("half") / "model"
    model = export_model(learner, job, folder, FACTS, {"map": 0.25}, Weights.FLOAT16)
    return replace(whole, job=job, folder=folder, model=model, margin=SIGN_MARGIN[Weights.FLOAT16])


@pytest.fixture(params=[*Branches, "half"])
def variant(request, by_branches):
    return request.getfixturevalue("half") if request.param == "half" else by_branches[request.param]


def graph_of(variant, name):
    return onnx.load(variant.folder / name)


def assert_agree(values, expected, margin):
    assert values.shape == expected.shape
    assert 0.3 < np.abs(expected).mean() < 3, "a margin is only a margin for values about 1 in size"
    np.testing.assert_allclose(values, expected, rtol=0, atol=margin)
    differing = np.unpackbits(pack(values) ^ pack(expected), axis=1).astype(bool)
    decided = np.abs(expected) >= margin
    assert not differing[decided].any()
    assert decided.mean() > 0.9


def test_photos_get_the_codes_they_had_in_training(variant):
    values = variant.model.encode_photos([photo_pixels(item) for item in PHOTOS])
    assert_agree(values, variant.torch_photo_values(PHOTOS), variant.margin)


def test_sketches_get_the_codes_they_had_in_training(variant):
    ink = variant.reader.sketches(WORLD.sketches)
    expected = variant.torch_sketch_values(ink)
    assert_agree(variant.model.encode_sketches(ink[:, 0]), expected, variant.margin)
    drawn = np.concatenate([variant.model.encode_drawing(item.content.read()) for item in WORLD.sketches])
    assert_agree(drawn, expected, variant.margin)


def test_noise_in_place_of_a_sketch_gets_the_code_torch_gives_it(variant):
    side = variant.network.spec.ink_side
    ink = Noise((7, 1, side, side), seed=9).read()
    expected = variant.torch_sketch_values(ink)
    values = variant.model.encode_sketches(ink[:, 0])
    # Far from any sketch, values grow, and rounding errors with them.
    margin = variant.margin * np.abs(expected).mean()
    np.testing.assert_allclose(values, expected, rtol=0, atol=margin)


@pytest.mark.parametrize("rows", [1, 2, 7])
def test_a_batch_may_have_any_length(variant, rows):
    photos = [photo_pixels(item) for item in NOISE]
    together = variant.model.encode_photos(photos)
    np.testing.assert_allclose(variant.model.encode_photos(photos[:rows]), together[:rows], atol=1e-4)
    ink = variant.reader.sketches(WORLD.sketches)[:7, 0]
    together = variant.model.encode_sketches(ink)
    np.testing.assert_allclose(variant.model.encode_sketches(ink[:rows]), together[:rows], atol=1e-4)


def test_an_input_the_network_does_not_look_at_does_not_exist(variant):
    branches = variant.network.spec.branches
    wanted = ["photos"] * branches.has_photos + ["tokens"] * branches.has_tokens
    assert [port.name for port in graph_of(variant, "image.onnx").graph.input] == wanted
    assert [port.name for port in graph_of(variant, "sketch.onnx").graph.input] == ["sketches"]


def test_the_manifest_records_what_the_network_was_trained_with(variant):
    manifest, spec, job = read_manifest(variant.folder), variant.network.spec, variant.job
    assert (manifest.name, manifest.bits, manifest.scores) == ("model", BITS, {"map": 0.25})
    assert manifest.branches == spec.branches.value.replace("-", "_")

    pen, backbone = InkStyle(), variant.network.c2.backbone
    ink = manifest.ink
    assert (ink.size, ink.offset, ink.scale) == (spec.ink_side, backbone.offset, backbone.scale)
    assert (ink.line_width, ink.margin) == (pen.line_width, pen.margin)
    if spec.branches.has_photos:
        assert manifest.photos.size == spec.photo_side
        assert manifest.photos.offset == (127.0, 127.0, 127.0)
        assert manifest.photos.scale == (128.0, 128.0, 128.0)
    if spec.branches.has_tokens:
        tokens, style = manifest.tokens, TokenStyle()
        assert (tokens.detector, tokens.fingerprint) == ("gradient", detector("gradient").fingerprint)
        assert (tokens.threshold, tokens.floor) == (style.threshold, style.floor)
        assert (tokens.most_ink, tokens.fewest) == (style.most_ink, style.fewest)

    made = manifest.made_with
    assert (made.recipe, made.recipe_sha256, made.seed) == ("tiny", job.recipe.hash, 5)
    assert made.data_sha256 == job.split.inventory
    assert made.packages["torch"] == torch.__version__


def test_the_folder_holds_a_whole_model_and_nothing_else(variant):
    assert verify(variant.folder) == Inspection((), (), ())
    for name in GRAPHS:
        onnx.checker.check_model(graph_of(variant, name), full_check=True)
        assert all(not tensor.external_data for tensor in graph_of(variant, name).graph.initializer)
    assert FACTS.summary in (variant.folder / "README.md").read_text()


def test_a_graph_does_not_tell_where_it_was_made(variant):
    home = str(Path(sketchhash.__file__).parent).encode()
    for name in GRAPHS:
        content = (variant.folder / name).read_bytes()
        assert home not in content
        assert b"stack_trace" not in content


@pytest.mark.parametrize("name", GRAPHS)
def test_exporting_again_in_half_the_bytes_changes_nothing_but_the_weights(whole, half, name):
    before, after = ((each.folder / name).read_bytes() for each in (whole, half))
    assert after == halve(before)
    assert 0.5 < len(after) / len(before) < 0.6


def test_exporting_leaves_the_network_as_it_was(whole, learner, half):
    assert learner.training
    before, after = whole.network.state_dict(), learner.state_dict()
    assert all(torch.equal(tensor, after[name]) for name, tensor in before.items())


def test_a_model_does_not_claim_categories_it_was_kept_from(whole, half):
    assert whole.model.manifest.categories == ("apple", "cat", "key", "umbrella")
    assert half.model.manifest.categories == ("apple", "key", "umbrella")


def test_exporting_is_silent_and_leaves_no_temporary_file(by_branches, surroundings):
    ear, temporary = surroundings
    assert not ear.heard
    assert not [path for path in temporary.rglob("*") if path.is_file()]


def test_a_drawing_is_encoded_where_torch_cannot_be_imported(by_branches):
    program = """
import json, pathlib, sys
sys.modules["torch"] = None
from sketchhash.imaging import Drawing
from sketchhash.model import Model
drawing = Drawing.from_json(json.loads(sys.argv[2]))
print(json.dumps(Model.load(pathlib.Path(sys.argv[1])).encode_drawing(drawing).tolist()))
"""
    full = by_branches[Branches.FULL]
    sketch = WORLD.sketches[0].content.read()
    done = subprocess.run(
        [sys.executable, "-c", program, full.folder, json.dumps(sketch.to_json())],
        capture_output=True,
        text=True,
        check=True,
    )
    np.testing.assert_allclose(json.loads(done.stdout), full.model.encode_drawing(sketch), atol=1e-5)


def test_a_learned_detector_travels_with_the_model(by_branches, tmp_path):
    full = by_branches[Branches.FULL]
    job = replace(full.job, recipe=replace(full.job.recipe, detector="sketch-tokens"))
    model = export_model(full.network, job, tmp_path / "model", FACTS, {})
    assert (tmp_path / "model" / "tokens.npz").read_bytes() == WEIGHTS["sketch-tokens"].read_bytes()
    assert "tokens.npz" in model.manifest.files
    assert model.manifest.tokens.fingerprint == detector("sketch-tokens").fingerprint
    assert not (full.folder / "tokens.npz").exists()
