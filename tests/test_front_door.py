"""``import sketchhash``: light, complete, and as the README shows it."""

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import urllib.request
from datetime import date, datetime
from pathlib import Path

import numpy as np
import pytest
from launching import after
from PIL import Image

import sketchhash
from sketchhash.datasets import synthetic
from sketchhash.errors import BadArgument, IncompatibleGallery

ROOT = Path(__file__).parents[1]
STROKES = [[[0, 0], [9, 0], [9, 9]], [[2, 2], [3, 7]]]


@pytest.fixture
def gallery(tmp_path, model_folder, paint_photo):
    for seed, name in enumerate(["cat/a.jpg", "cat/b.jpg", "dog/a.jpg", "dog/b.jpg", "dog/c.jpg"]):
        paint_photo(tmp_path / "photos" / name, seed)
    for number in range(3):  # equal pictures have equal codes; each copy is a photo of its own
        shutil.copy(tmp_path / "photos/dog/a.jpg", tmp_path / f"photos/dog/copy{number}.jpg")
    with sketchhash.Gallery(tmp_path / "test.gallery", model=model_folder) as opened:
        summary = opened.index(tmp_path / "photos", labels="folder")
        assert (summary.added, summary.failed) == (8, ())
        yield opened


def test_importing_the_package_imports_nothing_heavy():
    code = (
        "import sys, sketchhash\n"
        "assert 'Gallery' in dir(sketchhash)\n"
        "heavy = {'numpy', 'PIL', 'onnxruntime', 'torch', 'pydantic', 'fastapi', 'typer'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_what_the_package_shows_is_there_and_nothing_else():
    assert all(hasattr(sketchhash, name) for name in sketchhash.__all__)
    with pytest.raises(AttributeError, match="has no attribute 'Galery'"):
        sketchhash.Galery  # noqa: B018


def test_equal_distances_are_ordered_by_id(gallery):
    hits = gallery.search(STROKES, k=8, rerank=False)
    order = [(hit.distance, hit.id) for hit in hits]
    assert order == sorted(order)
    assert len({hit.distance for hit in hits if hit.path.name != "b.jpg"}) < 6  # there are ties to order
    copies = [
        hit.id for hit in gallery.search(STROKES, k=8) if hit.path.name in ("copy0.jpg", "copy1.jpg", "copy2.jpg")
    ]
    assert copies == sorted(copies)


def test_a_query_may_be_anything_that_holds_the_sketch(gallery, tmp_path, paint_sketch):
    path = paint_sketch(tmp_path / "sketch.png")
    picture = Image.open(path)
    (tmp_path / "strokes.json").write_text(json.dumps(STROKES))
    expected = gallery.search(path, k=5)
    for query in (str(path), path.read_bytes(), picture, np.asarray(picture)):
        assert gallery.search(query, k=5) == expected
    drawn = gallery.search(STROKES, k=5)
    for query in (sketchhash.Drawing.from_json(STROKES), tmp_path / "strokes.json", json.dumps(STROKES).encode()):
        assert gallery.search(query, k=5) == drawn


def test_a_photo_finds_itself_and_its_copies_first(gallery, tmp_path):
    hits = gallery.search(tmp_path / "photos/dog/a.jpg", k=4, kind="photo")
    assert {hit.distance for hit in hits} == {0}
    (first, *_) = hits
    assert {hit.id for hit in gallery.similar(first.id, k=3)} == {hit.id for hit in hits} - {first.id}
    with Image.open(io.BytesIO(gallery.thumbnail(first.id))) as thumbnail:
        assert thumbnail.format == "JPEG"


def test_a_search_can_be_narrowed_by_folder_and_label(gallery, tmp_path):
    assert {hit.label for hit in gallery.search(STROKES, label="cat")} == {"cat"}
    assert gallery.search(STROKES, folder=tmp_path / "photos/cat") == gallery.search(STROKES, label="cat")


def test_a_search_can_be_narrowed_by_when_and_where(gallery, tmp_path):
    Image.new("RGB", (32, 24)).save(tmp_path / "photos/dated.jpg", exif=_exif_of("2023:06:24 18:30:05"))
    gallery.index(tmp_path / "photos")
    (hit,) = gallery.search(STROKES, after="2023-06", before=date(2023, 6, 24))
    assert (hit.path.name, hit.taken_at) == ("dated.jpg", datetime(2023, 6, 24, 18, 30, 5))
    assert gallery.details(hit.id).width == 32
    for found in (
        gallery.search(STROKES, before="2023-05"),
        gallery.similar(hit.id, before="2023"),
    ):
        assert found == []
        assert found.left_out.undated == len(gallery) - 1
    assert gallery.search(STROKES, near="48.1,11.6,20km").left_out.unplaced == len(gallery)


def _exif_of(moment):
    exif = Image.Exif()
    exif.get_ifd(0x8769)[36867] = moment
    return exif.tobytes()


def test_indexing_runs_to_the_end_and_tells_its_progress(gallery, tmp_path, paint_photo):
    paint_photo(tmp_path / "photos/new.jpg", 99)
    events = []
    summary = gallery.index(tmp_path / "photos", progress=events.append)
    assert (summary.added, summary.unchanged, len(gallery)) == (1, 8, 9)
    assert events[-1] == summary
    (tmp_path / "photos/new.jpg").unlink()
    *_, last = gallery.index_events(tmp_path / "photos", prune=True)
    assert (last.removed, len(gallery)) == (1, 8)


def test_a_place_that_is_not_there_is_an_error_and_nothing_is_removed(gallery, tmp_path):
    with pytest.raises(BadArgument, match="no folder or photo"):
        gallery.index(tmp_path / "unmounted", prune=True)
    assert len(gallery) == 8


def test_a_gallery_of_another_model_is_refused(gallery, tmp_path, make_model_folder):
    with pytest.raises(IncompatibleGallery, match="do not compare"):
        sketchhash.Gallery(tmp_path / "test.gallery", model=make_model_folder(seed=1))


def test_every_error_has_one_base_class(tmp_path):
    with pytest.raises(sketchhash.SketchHashError):
        sketchhash.Gallery(tmp_path / "g", model=tmp_path / "nothing")
    assert not (tmp_path / "g").exists()


@pytest.mark.slow
def test_the_python_of_the_readme_runs(tmp_path, paint_photo, paint_sketch):
    """Run it as it stands, but with the smallest recipe, and with any port that is free."""
    for seed in range(3):
        paint_photo(tmp_path / f"Pictures/{seed}.jpg", seed)
    paint_sketch(tmp_path / "sketch.png")
    world = synthetic.load(12, 4, categories=synthetic.CATEGORIES[:2], size=64)
    for _ in synthetic.write(tmp_path / "DATA", world, workers=1):
        pass
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    script = "\n".join(blocks)
    for shown, run in (('recipe="tuned", bits=64', 'recipe="tiny", bits=16'), (".serve()", ".serve(port=0)")):
        assert shown in script
        script = script.replace(shown, run)
    (tmp_path / "script.py").write_text(script)
    minding_ctrl_c = "signal.signal(signal.SIGINT, signal.default_int_handler)"
    process = subprocess.Popen(
        after(minding_ctrl_c, [sys.executable, "-u", "script.py"]),
        cwd=tmp_path,
        env={**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        lines = []
        for line in process.stdout:
            lines.append(line.strip())
            if line.startswith("http://"):
                break
        else:
            raise AssertionError(process.stderr.read())
        with urllib.request.urlopen(f"{lines[-1]}health", timeout=30) as answer:
            assert json.load(answer)["status"] == "ok"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    *hits, score, _ = lines
    assert [Path(line.split(" ", 1)[1]).parent for line in hits] == [tmp_path / "Pictures"] * 3
    assert 0 <= float(score) <= 1
