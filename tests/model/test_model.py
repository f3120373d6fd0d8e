import io
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper
from PIL import Image

import sketchhash.model
from sketchhash.codes import pack
from sketchhash.errors import BadArgument, IncompatibleModel
from sketchhash.imaging import read_photo
from sketchhash.imaging.ink import Drawing, InkStyle, rasterise
from sketchhash.imaging.photos import fit_square, shrink
from sketchhash.model import Model
from sketchhash.tokens import SketchTokens, TokenStyle, detector, token_map
from sketchhash.tokens.sketch_tokens import Forest

LONE_LEAF = (([0], np.int32), ([0], np.int32), ([0], np.float32), ([-1], np.int32), ([0.5], np.float32))
FILES = ("README.md", "image.onnx", "manifest.json", "sketch.onnx")


@pytest.fixture
def model(model_folder):
    return Model.load(model_folder)


@pytest.fixture
def photos():
    rng = np.random.default_rng(1)
    return [rng.integers(0, 256, (20 + i, 30 - i // 2, 3), dtype=np.uint8) for i in range(40)]


@pytest.fixture
def sketches():
    return np.random.default_rng(2).integers(0, 256, (40, 10, 10), dtype=np.uint8)


def weights(content, name):
    initializers = onnx.load_model_from_string(content).graph.initializer
    return next(numpy_helper.to_array(each) for each in initializers if each.name == name)


def flat(images):
    return np.stack(images).reshape(len(images), -1).astype(np.float32)


def test_photos_are_fitted_tokenised_and_run_through_the_image_network(model, photos, graph):
    network = graph("photos", "tokens")
    style = TokenStyle(0.5, 0.1, 0.1, 3, InkStyle(0.1, 0.05))
    tokens = [token_map(photo, detector("gradient"), 10, style) for photo in photos]
    expected = flat([fit_square(photo, 12) for photo in photos]) @ weights(network, "photos.weights")
    expected += flat(tokens) @ weights(network, "tokens.weights") + weights(network, "bias")
    values = model.encode_photos(photos)
    assert values.dtype == np.float32
    np.testing.assert_allclose(values, expected, rtol=1e-4, atol=1e-2)


def test_sketches_run_through_the_sketch_network(model, sketches, graph):
    network = graph("sketches")
    expected = flat(sketches) @ weights(network, "sketches.weights") + weights(network, "bias")
    np.testing.assert_allclose(model.encode_sketches(sketches), expected, rtol=1e-4, atol=1e-2)


def test_a_drawing_is_inked_in_the_manifest_s_style(model):
    drawing = Drawing((np.array([[0, 0], [3, 1], [2, 5]], dtype=np.float32),))
    ink = rasterise(drawing, 10, InkStyle(line_width=0.1, margin=0.05))
    np.testing.assert_array_equal(model.encode_drawing(drawing), model.encode_sketches(ink[np.newaxis]))


def test_photos_are_decoded_at_the_side_that_the_manifest_names(model, write, manifest):
    file = io.BytesIO()
    Image.effect_noise((1500, 600), 60).save(file, "JPEG")
    named = Model.load(write("named", photos=replace(manifest.photos, decoded=256)))
    assert named.read_photo(file.getvalue()).shape == (102, 256, 3)
    # Codes in galleries of older models rest on these very pixels.
    as_before = shrink(read_photo(file.getvalue(), longest=512), 512)
    np.testing.assert_array_equal(model.read_photo(file.getvalue()), as_before)


@pytest.mark.parametrize(("image", "changes"), [(("photos",), {"tokens": None}), (("tokens",), {"photos": None})])
def test_an_image_network_may_take_one_input_alone(write, photos, image, changes):
    values = Model.load(write(image=image, **changes)).encode_photos(photos[:2])
    assert values.shape == (2, 16)


def test_values_do_not_depend_on_company(model, photos, sketches):
    together = model.encode_photos(photos)
    np.testing.assert_array_equal(together, np.concatenate([model.encode_photos([each]) for each in photos]))
    together = model.encode_sketches(sketches)
    alone = [model.encode_sketches(each[np.newaxis]) for each in sketches]
    np.testing.assert_array_equal(together, np.concatenate(alone))


def test_values_do_not_depend_on_threads(model_folder, model, sketches):
    two = Model.load(model_folder, threads=2)
    np.testing.assert_array_equal(two.encode_sketches(sketches), model.encode_sketches(sketches))


def test_nothing_encodes_to_nothing(model):
    assert model.encode_photos([]).shape == (0, 16)
    assert model.encode_sketches(np.empty((0, 10, 10), dtype=np.uint8)).shape == (0, 16)


def test_a_value_of_exactly_zero_sets_its_bit(write, graph):
    network = onnx.load_model_from_string(graph("sketches"))
    for each in network.graph.initializer:
        each.CopyFrom(numpy_helper.from_array(np.zeros_like(numpy_helper.to_array(each)), each.name))
    values = Model.load(write(sketch_onnx=network.SerializeToString())).encode_sketches(
        np.full((1, 10, 10), 255, dtype=np.uint8)
    )
    assert not values.any()
    assert pack(values).tolist() == [[255, 255]]


@pytest.mark.parametrize(
    "ink", [np.zeros((1, 9, 9), np.uint8), np.zeros((10, 10), np.uint8), np.zeros((1, 10, 10), np.float32)]
)
def test_sketches_of_another_shape_or_type_are_refused(model, ink):
    with pytest.raises(BadArgument, match=r"uint8 of shape \(n, 10, 10\), found"):
        model.encode_sketches(ink)


@pytest.mark.parametrize("photo", [np.zeros((9, 9), np.uint8), np.zeros((9, 9, 3), np.float32)])
def test_photos_of_another_shape_or_type_are_refused(model, photo):
    with pytest.raises(BadArgument, match=r"uint8 of shape \(height, width, 3\), found"):
        model.encode_photos([photo])


@pytest.mark.parametrize("name", FILES)
def test_a_missing_file_is_named(model_folder, name):
    (model_folder / name).unlink()
    with pytest.raises(IncompatibleModel, match=rf"{name}.*export the model anew"):
        Model.load(model_folder)


@pytest.mark.parametrize("name", FILES)
def test_a_changed_file_is_named(model_folder, name):
    content = bytearray((model_folder / name).read_bytes())
    content[len(content) // 2] ^= 0x02
    (model_folder / name).write_bytes(content)
    with pytest.raises(IncompatibleModel, match=rf"{name}.*export the model anew"):
        Model.load(model_folder)


def test_a_file_beside_the_model_does_not_stop_it(model_folder):
    (model_folder / ".DS_Store").write_bytes(b"junk")
    Model.load(model_folder)


@pytest.mark.parametrize(
    ("part", "options", "complaint"),
    [
        ("image_onnx", {"inputs": ("photos",)}, "image.onnx takes photos uint8"),
        (
            "image_onnx",
            {"inputs": ("photos", "tokens"), "bits": 8},
            r"image.onnx gives values float \(n, 8\)",
        ),
        ("image_onnx", {"inputs": ("photos", "tokens"), "rows": 1}, r"image.onnx takes photos uint8 \(1, 12"),
        ("sketch_onnx", {"inputs": ("tokens",)}, "sketch.onnx takes tokens uint8"),
        ("sketch_onnx", {"inputs": ("sketches",), "bits": 24}, r"sketch.onnx gives values float \(n, 24\)"),
        ("sketch_onnx", {"inputs": ("sketches",), "output": "codes"}, "sketch.onnx gives codes float"),
        ("sketch_onnx", {"inputs": ("sketches",), "element": TensorProto.FLOAT}, "takes sketches float"),
        (
            "sketch_onnx",
            {"inputs": ("sketches",), "shapes": {"sketches": (8, 8)}},
            r"sketches uint8 \(n, 8, 8\)",
        ),
    ],
)
def test_a_network_with_other_ports_is_refused(write, graph, part, options, complaint):
    network = graph(*options.pop("inputs"), **options)
    with pytest.raises(IncompatibleModel, match=rf"{complaint}.* but its manifest says .*Export the model anew"):
        Model.load(write(**{part: network}))


def test_a_file_that_is_no_network_is_refused_quietly(write, capfd):
    folder = write(image_onnx=b"not a network")
    with pytest.raises(IncompatibleModel, match=r"image\.onnx is not a network that can be run"):
        Model.load(folder)
    assert capfd.readouterr() == ("", "")


def test_a_detector_that_changed_is_refused(write, manifest):
    folder = write(tokens=replace(manifest.tokens, fingerprint="0" * 64))
    with pytest.raises(IncompatibleModel, match=r"'gradient' of fingerprint 0+, and this version's is .*README"):
        Model.load(folder)


def test_a_learned_detector_comes_with_its_folder(write, manifest, photos, tmp_path):
    forest = Forest(*(np.array(each, dtype) for each, dtype in LONE_LEAF))
    forest.save(tmp_path / "forest.npz")
    learned = SketchTokens(forest)
    folder = write(
        tokens=replace(manifest.tokens, detector="sketch-tokens", fingerprint=learned.fingerprint),
        extra_files={"tokens.npz": (tmp_path / "forest.npz").read_bytes()},
    )
    assert Model.load(folder).encode_photos(photos).shape == (len(photos), manifest.bits)

    without = write(
        "without", tokens=replace(manifest.tokens, detector="sketch-tokens", fingerprint=learned.fingerprint)
    )
    with pytest.raises(IncompatibleModel, match="'sketch-tokens' of fingerprint"):
        Model.load(without)


def test_a_detector_that_is_unknown_is_refused(write, manifest):
    folder = write(tokens=replace(manifest.tokens, detector="oracle"))
    with pytest.raises(IncompatibleModel, match=r"detector 'oracle', which this version lacks.*pip install"):
        Model.load(folder)


def test_a_style_that_cannot_be_drawn_is_refused(write, manifest):
    folder = write(ink=replace(manifest.ink, margin=0.5))
    with pytest.raises(IncompatibleModel, match=r"manifest\.json asks for .*no room.*Export the model anew"):
        Model.load(folder)


def test_the_fingerprint_tells_models_apart(write, graph):
    first, copy = write(name="first"), write(name="copy")
    other = write(name="other", sketch_onnx=graph("sketches", seed=8))
    assert Model.load(first).fingerprint == Model.load(copy).fingerprint != Model.load(other).fingerprint


def test_encoding_needs_no_package_of_the_researchers(model_folder):
    program = """
import pathlib, sys
import numpy as np
from sketchhash.imaging.ink import Drawing
from sketchhash.model import Model
assert "onnxruntime" not in sys.modules, "importing the room already loads the runtime"
model = Model.load(pathlib.Path(sys.argv[1]))
model.encode_photos([np.zeros((20, 30, 3), np.uint8)])
model.encode_drawing(Drawing((np.array([[0, 0], [1, 2]], np.float32),)))
print(*sorted({name.split(".")[0] for name in sys.modules}))
"""
    done = subprocess.run([sys.executable, "-c", program, model_folder], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "onnxruntime" in loaded
    assert not loaded & {"torch", "sklearn", "scipy", "matplotlib", "onnx"}
    assert done.stderr == ""


def test_the_room_lists_its_public_names_in_order():
    assert sketchhash.model.__all__ == sorted(sketchhash.model.__all__)
    assert all(hasattr(sketchhash.model, name) for name in sketchhash.model.__all__)


def test_weights_in_another_file_are_refused(model_folder, tmp_path):
    folder = shutil.copytree(model_folder, tmp_path / "external")
    network = onnx.load(folder / "sketch.onnx")
    onnx.save(network, folder / "sketch.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    with pytest.raises(IncompatibleModel, match="keeps weights in another file"):
        sketchhash.model.model._open(folder / "sketch.onnx", 1)
