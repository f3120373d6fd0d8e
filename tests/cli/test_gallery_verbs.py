import json
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from PIL import Image

from sketchhash.gallery import GalleryFile
from sketchhash.model import TokenInput
from sketchhash.tokens import detector


def test_info_counts_photos_and_labels(run, gallery):
    text = run("gallery", "info", "--gallery", gallery).stdout
    assert "photos        5\n" in text
    assert "tiny, 32 bits" in text
    document = json.loads(run("gallery", "info", "--gallery", gallery, "--json").stdout)
    assert (document["photos"], document["labels"]) == (5, {"cat": 2, "dog": 3})
    assert datetime.now(UTC) - datetime.fromisoformat(document["last_indexed"]) < timedelta(minutes=5)


def test_a_sound_gallery_verifies(run, gallery):
    result = run("gallery", "verify", "--gallery", gallery)
    assert (result.exit_code, result.stdout) == (0, "")


def test_what_is_wrong_is_named_and_exits_with_1(run, gallery, photos, paint_photo):
    paint_photo(photos / "cat/a.jpg", 77)
    (photos / "dog/b.jpg").unlink()
    with GalleryFile.open(gallery) as opened:
        photo = opened.at(photos / "dog/c.jpg")
        opened.rows("UPDATE codes SET code = x'00000000' WHERE photo = ?", photo.id)
    result = run("gallery", "verify", "--gallery", gallery)
    assert result.exit_code == 1
    assert dict(line.split("\t") for line in result.stdout.splitlines()) == {
        str(photos / "cat/a.jpg"): "its file has changed since it was indexed",
        str(photos / "dog/b.jpg"): "its file is gone",
        str(photos / "dog/c.jpg"): "the model gives it another code",
    }
    document = json.loads(run("gallery", "verify", "--gallery", gallery, "--json").stdout)
    assert (document["photos"], len(document["wrong"])) == (5, 3)


def test_photos_are_removed_and_their_files_stay(run, gallery, photos):
    assert run("gallery", "remove", photos / "cat", photos / "dog/a.jpg", "--gallery", gallery).stdout == "3 removed\n"
    assert json.loads(run("gallery", "info", "--gallery", gallery, "--json").stdout)["photos"] == 2
    assert (photos / "cat/a.jpg").exists()


def test_copies_are_grouped_and_one_of_them_is_to_be_kept(run, gallery, photos):
    result = run("gallery", "duplicates", "--gallery", gallery)
    assert result.stdout == ""
    assert "0 copies of 0 photos" in result.stderr
    for name in ("cat/a", "dog/b"):
        (photos / f"{name}-copy.jpg").write_bytes((photos / f"{name}.jpg").read_bytes())
    with Image.open(photos / "cat/a.jpg") as picture:
        picture.resize((48, 36)).save(photos / "cat/small.jpg", quality=90)
    run("index", photos, "--gallery", gallery)
    before = {path: path.read_bytes() for path in photos.rglob("*.jpg")}
    result = run("gallery", "duplicates", "--gallery", gallery)
    first, second = result.stdout.split("\n\n")
    assert first.startswith(f"keep\t{photos / 'cat/a.jpg'}\t")
    assert [line.split("\t")[0] for line in first.splitlines()] == ["keep", "copy", "copy"]
    assert f"copy\t{photos / 'cat/small.jpg'}\t" in first
    assert second.splitlines() == [
        f"keep\t{photos / 'dog/b.jpg'}\tthe oldest",
        f"copy\t{photos / 'dog/b-copy.jpg'}\t0 bits differ",
    ]
    assert "3 copies of 2 photos" in result.stderr
    assert "Nothing was deleted" in result.stderr
    assert {path: path.read_bytes() for path in photos.rglob("*.jpg")} == before
    exact = json.loads(run("gallery", "duplicates", "--gallery", gallery, "--exact", "--json").stdout)
    assert [[group["keep"]["path"], *(copy["photo"]["path"] for copy in group["copies"])] for group in exact] == [
        [str(photos / f"{name}.jpg"), str(photos / f"{name}-copy.jpg")] for name in ("cat/a", "dog/b")
    ]


@pytest.mark.parametrize(
    "arguments",
    [
        ("index", "{photos}/nowhere", "--gallery", "{new}"),
        ("index", "{photos}", "--gallery", "{new}", "--labels", "colour"),
        ("index", "{photos}", "--gallery", "{new}", "--model", "{photos}"),
        ("index", "{photos}", "--gallery", "{photos}"),
        ("index", "{photos}", "--gallery", "{sketch}"),
        ("index", "{photos}", "--gallery", "{sketch}", "--reindex"),
        ("search", "{sketch}", "--gallery", "{new}"),
        ("search", "{sketch}", "--gallery", "{sketch}"),
        ("search", "{photos}", "--gallery", "{gallery}"),
        ("search", "{new}", "--gallery", "{gallery}"),
        ("search", "{gallery}", "--gallery", "{gallery}"),
        ("search", "{sketch}", "--gallery", "{gallery}", "-k", "0"),
        ("search", "{sketch}", "--gallery", "{gallery}", "--label", "dogg"),
        ("search", "{sketch}", "--gallery", "{gallery}", "--show", "{new}/sheet.png"),
        ("gallery", "info", "--gallery", "{new}"),
        ("gallery", "verify", "--gallery", "{new}"),
        ("gallery", "verify", "--gallery", "{gallery}", "--every", "0"),
        ("gallery", "remove", "{photos}/cat", "{photos}/nowhere", "--gallery", "{gallery}"),
        ("gallery", "duplicates", "--gallery", "{gallery}", "--radius", "-1"),
        ("gallery", "export", "--gallery", "{gallery}", "--format", "xml"),
        ("gallery", "export", "--gallery", "{gallery}", "--out", "{new}/out.csv"),
    ],
    ids=" ".join,
)
def test_bad_input_is_explained_and_changes_nothing(run, photos, gallery, sketch, tmp_path, arguments):
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    names = {"photos": photos, "gallery": gallery, "sketch": sketch, "new": tmp_path / "new"}
    result = run(*(argument.format(**names) for argument in arguments))
    assert result.exit_code in (1, 2)
    assert "Error" in result.stderr
    assert "Traceback" not in result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stdout == ""
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_index_offers_to_fill_in_shapes_and_gallery_shapes_does(run, tmp_path, make_model_folder):
    tokens = TokenInput("gradient", detector("gradient").fingerprint, 0.5, 0.1, 0.1, 3)
    model = make_model_folder(tokens=tokens)
    (tmp_path / "photos").mkdir()
    for number in range(3):
        pixels = np.zeros((80, 60, 3), dtype=np.uint8)
        pixels[20 + 5 * number : 60, 10 : 30 + 5 * number] = 255
        Image.fromarray(pixels).save(tmp_path / f"photos/{number}.png")
    gallery = tmp_path / "g"
    options = ("--gallery", gallery, "--model", model)
    assert "shapes" not in run("index", tmp_path / "photos", "--as", "photos", *options).stderr
    with GalleryFile.open(gallery) as opened:
        indexed = opened.shapes_of([1, 2, 3])
        opened.rows("DELETE FROM shapes WHERE photo <> 2")
        opened.rows("UPDATE thumbnails SET jpeg = x'00' WHERE photo = 3")
    offer = run("index", tmp_path / "photos", *options).stderr
    assert "2 photos were indexed before shapes were kept" in offer
    assert f"sketchhash gallery shapes --gallery {gallery}" in offer
    for _ in range(2):
        said = run("gallery", "shapes", *options)
        assert said.exit_code == 0, said.output
        with GalleryFile.open(gallery) as opened:
            filled = opened.shapes_of([1, 2, 3])
    assert said.stdout == "0 described, 1 without a shape\n"
    assert filled.keys() == {1, 2}
    levels = [np.frombuffer(shapes[1], dtype=np.uint8) & 15 for shapes in (indexed, filled)]
    assert np.corrcoef(levels)[0, 1] > 0.8  # a thumbnail is a JPEG


def test_a_model_without_contours_is_offered_no_shapes(run, gallery, photos):
    assert "shapes" not in run("index", photos, "--gallery", gallery).stderr
    assert run("gallery", "shapes", "--gallery", gallery).stdout == "0 described, 5 without a shape\n"


def test_a_site_is_written_and_named(run, gallery, tmp_path, monkeypatch):
    from sketchhash.site import runtime

    found = runtime.Runtime(b"script", b"binary")
    monkeypatch.setattr("sketchhash.site.find_runtime", lambda package: found)
    result = run("gallery", "site", tmp_path / "site", "--gallery", gallery)
    assert (result.exit_code, result.stdout) == (0, f"{tmp_path / 'site'}\n")
    assert "5 photos" in result.stderr
    assert (tmp_path / "site" / "index.html").is_file()
