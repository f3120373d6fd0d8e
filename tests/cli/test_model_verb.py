import json

from sketchhash.model import read_manifest


def test_info_says_what_the_default_model_is(run, model_folder):
    result = run("model", "info")
    assert result.exit_code == 0, result.output
    lines = {line[:14].strip(): line[14:] for line in result.stdout.splitlines()}
    assert lines["name"] == "tiny"
    assert lines["bits"] == "32 (4 bytes a photo)"
    assert lines["photos"] == "16 × 16 pixels"
    assert lines["contours"] == "not looked at"
    assert lines["map"] == "0.5000"
    assert lines["categories"] == "2: cat, dog"
    assert lines["image.onnx"] == f"{(model_folder / 'image.onnx').stat().st_size:,} bytes"
    assert lines["made with"] == "sketchhash 0.1.0, recipe toy, seed 3"
    assert lines["state"] == "intact"


def test_info_as_json_holds_the_manifest(run, make_model_folder):
    folder = make_model_folder(bits=16)
    document = json.loads(run("model", "info", folder, "--json").stdout)
    assert (document["bits"], document["is_intact"]) == (16, True)
    assert document["fingerprint"] == read_manifest(folder).fingerprint


def test_info_can_print_the_card(run):
    assert run("model", "info", "--card").stdout == "# tiny\n"


def test_info_names_damaged_files(run, make_model_folder):
    folder = make_model_folder(seed=5)
    (folder / "sketch.onnx").write_bytes(b"junk")
    assert "damaged: sketch.onnx" in run("model", "info", folder).stdout
    assert json.loads(run("model", "info", folder, "--json").stdout)["is_intact"] is False


def test_a_folder_without_a_model_is_refused(run, tmp_path):
    result = run("model", "info", tmp_path)
    assert result.exit_code == 1
    assert "not a model folder" in result.output


def test_a_run_is_exported_with_weights_of_half_the_size(run, untrained_run, tmp_path):
    folder, world = untrained_run(("key", "snowman"), 4)
    told = ("model", "export", "--run", folder, "--data", world, "--cache", tmp_path / "cache")
    result = run(*told, "--out", tmp_path / "whole")
    assert result.exit_code == 0, result.output
    assert "too little to calibrate it" in result.stderr
    assert run(*told, "--out", tmp_path / "half", "--weights", "float16").exit_code == 0
    whole, half = (json.loads(run("model", "info", tmp_path / name, "--json").stdout) for name in ("whole", "half"))
    assert whole["is_intact"] and half["is_intact"]
    assert half["files"]["sketch.onnx"]["size"] < 0.7 * whole["files"]["sketch.onnx"]["size"]

    refused = run(*told, "--out", tmp_path / "other", "--weights", "float17")
    assert refused.exit_code != 0
    assert "Did you mean 'float16'" in refused.stderr
