import json
import subprocess
import sys
from dataclasses import replace
from hashlib import sha256

import pytest

from sketchhash.errors import BadArgument, IncompatibleModel
from sketchhash.model.folder import default_model_folder
from sketchhash.model.manifest import FileRecord, InkInput, parse_manifest

FILES = {name: FileRecord.of(name.encode()) for name in ("image.onnx", "sketch.onnx", "README.md")}


@pytest.fixture
def sealed(manifest):
    return replace(manifest, files=FILES)


def read_with(manifest, **changes):
    """Read a manifest in which fields were exchanged and the checksum was made right again."""
    facts = {**json.loads(manifest.to_json()), **changes}
    facts = {name: value for name, value in facts.items() if value != "absent"}
    facts.pop("checksum")
    canonical = json.dumps(facts, sort_keys=True, separators=(",", ":"))
    facts["checksum"] = sha256(canonical.encode()).hexdigest()
    return parse_manifest(json.dumps(facts).encode(), "there/manifest.json")


def test_a_manifest_comes_back_as_it_was_written(sealed):
    assert parse_manifest(sealed.to_json().encode(), "manifest.json") == sealed


@pytest.mark.parametrize(
    ("branch", "changes"),
    [("full", {}), ("without_tokens", {"tokens": None}), ("without_photos", {"photos": None})],
)
def test_absent_inputs_name_the_branches_and_survive_the_round_trip(sealed, branch, changes):
    variant = replace(sealed, **changes)
    assert variant.branches == branch
    assert parse_manifest(variant.to_json().encode(), "manifest.json") == variant


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"name": "absent"}, "name is missing"),
        ({"bits": "16"}, "bits should be a whole number, found '16'"),
        ({"bits": 12}, "bits should be a multiple of 8 up to 1024, found 12"),
        ({"bits": 0}, "bits should be a multiple of 8 up to 1024, found 0"),
        ({"bits": 2048}, "bits should be a multiple of 8 up to 1024, found 2048"),
        ({"categories": "cat"}, "categories should hold a list"),
        ({"scores": {"map": None}}, r"scores\['map'\] should be a number"),
        ({"junk": 1}, "junk is not a known field"),
        ({"name": 3}, "name should be text, found 3"),
        ({"name": None}, "name should be text, found None"),
        ({"bits": True}, "bits should be a whole number, found True"),
        ({"bits": 16.5}, "bits should be a whole number, found 16.5"),
        ({"categories": ["cat", 2]}, r"categories\[1\] should be text, found 2"),
        ({"scores": [0.5]}, "scores should hold an object"),
        ({"scores": {"map": "0.5"}}, r"scores\['map'\] should be a number, found '0.5'"),
        ({"scores": {"map": True}}, r"scores\['map'\] should be a number, found True"),
        ({"photos": []}, "photos should hold an object"),
        ({"photos": {"size": 9, "offset": [0, 0, 0]}}, "photos.scale is missing"),
        ({"photos": {"size": 9, "offset": [0, 0], "scale": [1, 1, 1]}}, r"photos.offset\[2\] is missing"),
        ({"photos": {"size": 9, "offset": [0, 0, 0, 0], "scale": [1, 1, 1]}}, "photos.offset should hold fewer values"),
        ({"photos": {"size": 9, "offset": [0, "", 0], "scale": [1, 1, 1]}}, r"photos.offset\[1\] should be a number"),
        ({"photos": {"size": 9, "offset": [0, 0, 0], "scale": [1, 1, 1], "hue": 1}}, "photos.hue is not a known field"),
        (
            {"files": {"image.onnx": {"size": "1", "sha256": ""}}},
            r"files\['image.onnx'\].size should be a whole number",
        ),
        ({"photos": None, "tokens": None}, "would see nothing"),
        (
            {"photos": {"size": 0, "offset": [0, 0, 0], "scale": [1, 1, 1]}},
            "photos.size should be at least 1",
        ),
        ({"files": {"../secret": {"size": 1, "sha256": ""}}}, "not the plain name of a file"),
        ({"files": {}}, "does not list image.onnx, sketch.onnx, README.md"),
    ],
)
def test_a_manifest_with_a_wrong_field_is_refused_by_name(sealed, changes, complaint):
    with pytest.raises(IncompatibleModel, match=rf"^there/manifest\.json .*{complaint}.*export the model anew"):
        read_with(sealed, **changes)


def test_a_newer_format_asks_for_a_newer_sketchhash(sealed):
    with pytest.raises(IncompatibleModel, match=r"format version 2.*pip install --upgrade sketchhash"):
        read_with(sealed, format_version=2, bits="absent", whatever="a later version writes")


@pytest.mark.parametrize("version", [0, "1", None, "absent"])
def test_an_unknown_format_asks_for_a_new_export(sealed, version):
    with pytest.raises(IncompatibleModel, match=r"format version .*Export the model anew"):
        read_with(sealed, format_version=version)


def test_every_truncation_is_refused(sealed):
    text = sealed.to_json().rstrip().encode()
    for length in range(0, len(text), 7):
        with pytest.raises(IncompatibleModel, match=r"^manifest\.json is not a usable manifest"):
            parse_manifest(text[:length], "manifest.json")


def test_every_flipped_bit_outside_the_layout_is_refused(sealed):
    text = bytearray(sealed.to_json().encode())
    for place in range(0, len(text), 3):
        if text[place : place + 1].isspace():
            continue
        damaged = text.copy()
        damaged[place] ^= 1
        with pytest.raises(IncompatibleModel, match=r"^manifest\.json "):
            parse_manifest(bytes(damaged), "manifest.json")


def test_whole_numbers_are_numbers(sealed):
    whole = read_with(sealed, photos={"size": 12, "offset": [0, 0, 0], "scale": [1, 1, 1]})
    assert whole == sealed
    assert all(type(value) is float for value in whole.photos.offset)


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_a_score_that_is_not_finite_is_refused(sealed, number):
    text = sealed.to_json().replace("0.5125", number).encode()
    with pytest.raises(IncompatibleModel, match=r"manifest\.json is not a usable manifest: .*number"):
        parse_manifest(text, "manifest.json")


def test_a_key_given_twice_is_refused(sealed):
    text = sealed.to_json().replace('"bits": 16', '"bits": 16, "bits": 16').encode()
    with pytest.raises(IncompatibleModel, match="a key is given twice among name, bits, bits"):
        parse_manifest(text, "manifest.json")


def test_the_shipped_manifest_is_written_as_it_was(sealed):
    text = (default_model_folder() / "manifest.json").read_bytes()
    manifest = parse_manifest(text, "manifest.json")
    assert manifest.to_json().encode() == text


def test_describing_a_model_does_not_import_pydantic():
    program = "import sys, sketchhash.model; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@pytest.mark.parametrize("text", [b"[]", b"\xff\xfe", b"[" * 100_000, b'{"format_version": 1, "bits": NaN}'])
def test_what_is_no_manifest_at_all_is_refused(text):
    with pytest.raises(IncompatibleModel, match=r"manifest\.json is not a usable manifest"):
        parse_manifest(text, "manifest.json")


def test_a_model_of_an_odd_number_of_bits_cannot_be_described(manifest):
    with pytest.raises(BadArgument, match="multiple of 8"):
        replace(manifest, bits=20)


def test_the_fingerprint_changes_with_everything_that_decides_a_code(sealed):
    thicker = InkInput(10, offset=0.0, scale=1.0, line_width=0.2, margin=0.05)
    variants = [
        sealed,
        replace(sealed, bits=8),
        replace(sealed, ink=thicker),
        replace(sealed, tokens=None),
        replace(sealed, photos=None),
        replace(sealed, photos=replace(sealed.photos, decoded=256)),
        replace(sealed, files={**FILES, "image.onnx": FileRecord.of(b"other")}),
        replace(sealed, files={**FILES, "tokens.npz": FileRecord.of(b"forest")}),
    ]
    assert len({variant.fingerprint for variant in variants}) == len(variants)


def test_the_fingerprint_ignores_what_is_only_told(sealed):
    reworded = {**FILES, "README.md": FileRecord.of(b"a better card")}
    assert replace(sealed, name="new", scores={}, files=reworded).fingerprint == sealed.fingerprint


def test_a_manifest_that_names_no_decoded_side_is_written_and_hashed_without_it(sealed):
    assert "decoded" not in sealed.to_json()
    named = replace(sealed, photos=replace(sealed.photos, decoded=256))
    assert parse_manifest(named.to_json().encode(), "manifest.json") == named
    with pytest.raises(BadArgument, match=r"photos\.decoded should be at least 1, found 0"):
        replace(sealed, photos=replace(sealed.photos, decoded=0))
