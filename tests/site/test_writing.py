import gzip
import json
import os
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

from sketchhash.errors import BadArgument, UnwritableState
from sketchhash.gallery import index_events
from sketchhash.site import write_site, writing


def about(site):
    return json.loads((site / "gallery" / "gallery.json").read_bytes())


def files_of(site):
    return {path.relative_to(site).as_posix(): path.read_bytes() for path in site.rglob("*") if path.is_file()}


def unpacked(site, name, kind):
    content = gzip.decompress((site / "gallery" / about(site)["edition"] / name).read_bytes())
    return np.frombuffer(content, dtype=kind)


def test_a_site_holds_the_page_the_model_and_the_photos(gallery, model, tmp_path, empty_runtime):
    written = write_site(gallery, model, tmp_path / "site", empty_runtime)
    assert written.photos == 5
    site = tmp_path / "site"
    assert sum(map(len, files_of(site).values())) == written.bytes
    document = about(site)
    packs = site / "gallery" / document["edition"]
    network = gzip.decompress((packs / document["network"]).read_bytes())
    assert network == (model.folder / "sketch.onnx").read_bytes()
    assert (packs / document["runtime"] / "ort.js").read_bytes() == empty_runtime.script
    assert document["gallery"]["photos"] == 5
    assert document["labels"] == document["folders"] == ["cat", "dog"]
    ids = unpacked(site, "ids.gz", "<f8").astype(int).tolist()
    codes = unpacked(site, "codes.gz", np.uint8).reshape(5, -1)
    assert [gallery.code(photo) for photo in ids] == [code.tobytes() for code in codes]
    pack = (packs / "thumbnails" / "0.pack").read_bytes()
    count, *sizes = np.frombuffer(pack[:24], dtype="<u4").tolist()
    assert (count, sum(sizes)) == (5, len(pack) - 24)
    assert pack[24 : 24 + sizes[0]] == gallery.thumbnail(ids[0])


def test_nothing_of_this_machine_is_published(gallery, model, tmp_path, empty_runtime):
    write_site(gallery, model, tmp_path / "site", empty_runtime)
    for name, content in files_of(tmp_path / "site").items():
        plain = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
        assert str(tmp_path).encode() not in plain, name


def test_the_same_gallery_gives_the_same_site(gallery, model, tmp_path, empty_runtime):
    for name in ("one", "other"):
        write_site(gallery, model, tmp_path / name, empty_runtime)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "other")


def test_a_site_is_written_again_without_leftovers(gallery, model, tmp_path, empty_runtime):
    site = tmp_path / "site"
    write_site(gallery, model, site, empty_runtime)
    before = about(site)["edition"]
    (site / "left.txt").write_text("of an older version")
    gallery.remove([tmp_path / "photos" / "cat"])
    write_site(gallery, model, site, empty_runtime)
    assert about(site)["gallery"]["photos"] == 3
    assert not (site / "left.txt").exists()
    assert not (site / "gallery" / before).exists()
    assert hidden(tmp_path) == []


def test_what_fails_leaves_the_old_site_whole_and_nothing_beside_it(
    gallery, model, tmp_path, empty_runtime, monkeypatch
):
    site = tmp_path / "site"
    write_site(gallery, model, site, empty_runtime)
    before, beside = files_of(site), sorted(tmp_path.iterdir())

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "_write_worker", fail)
    with pytest.raises(UnwritableState, match="No space left on device"):
        write_site(gallery, model, site, empty_runtime)
    assert files_of(site) == before
    with pytest.raises(UnwritableState):
        write_site(gallery, model, tmp_path / "new", empty_runtime)
    assert sorted(tmp_path.iterdir()) == beside


# Runs as another process, and is killed when it renames a folder for the time that is named.
KILLED = """
import os, signal, sys
from pathlib import Path
from sketchhash.site import writing

renaming, left = Path.rename, int(sys.argv[2])

def rename(path, target):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return renaming(path, target)

Path.rename = rename
with writing._replacing_folder(Path(sys.argv[1])) as folder:
    (folder / "gallery").mkdir()
    (folder / "gallery" / "gallery.json").write_text("{}")
"""


def kill_while_replacing(site, renames):
    command = [sys.executable, "-c", KILLED, str(site), str(renames)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL


def hidden(folder):
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no process can be killed so on Windows")
@pytest.mark.parametrize("renames", [1, 2])
def test_after_a_kill_the_old_site_is_there_again_with_the_next_run_even_if_that_fails(
    gallery, model, tmp_path, empty_runtime, monkeypatch, renames
):
    site = tmp_path / "a [site]"
    write_site(gallery, model, site, empty_runtime)
    before = files_of(site)
    kill_while_replacing(site, renames)
    assert site.exists() == (renames == 1)
    for left in tmp_path.glob(".*.unfinished"):
        for path in (left, *left.rglob("*")):
            os.utime(path, (1, 1))

    def fail(*_):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched, pytest.raises(UnwritableState):
        patched.setattr(writing, "_write_worker", fail)
        write_site(gallery, model, site, empty_runtime)
    assert files_of(site) == before
    assert hidden(tmp_path) == []


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no process can be killed so on Windows")
def test_after_a_kill_the_next_run_writes_the_site_and_leaves_nothing_but_what_others_may_be_writing(
    gallery, model, tmp_path, empty_runtime
):
    site = tmp_path / "site"
    write_site(gallery, model, site, empty_runtime)
    before = files_of(site)
    kill_while_replacing(site, 2)
    (others,) = tmp_path.glob(".*.unfinished")
    write_site(gallery, model, site, empty_runtime)
    assert files_of(site) == before
    assert hidden(tmp_path) == [others.name]  # it is new: another process may be at it


def test_a_folder_with_something_else_is_left_alone(gallery, model, tmp_path, empty_runtime):
    with pytest.raises(BadArgument, match="holds something else"):
        write_site(gallery, model, tmp_path / "photos", empty_runtime)
    (tmp_path / "file").write_text("")
    with pytest.raises(BadArgument, match="holds something else"):
        write_site(gallery, model, tmp_path / "file", empty_runtime)
    (tmp_path / "empty").mkdir()
    write_site(gallery, model, tmp_path / "empty", empty_runtime)


def test_originals_may_be_shown_and_nothing_else_of_another_site(gallery, model, tmp_path, empty_runtime):
    write_site(gallery, model, tmp_path / "site", empty_runtime, "https://example.org/photos?x=1")
    page = (tmp_path / "site" / "index.html").read_text()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert "img-src &#x27;self&#x27; blob: data: https://example.org;" in policy
    assert policy.count("example.org") == 1
    with pytest.raises(BadArgument, match="is no address"):
        write_site(gallery, model, tmp_path / "site", empty_runtime, "javascript:alert(1)")


def test_the_service_worker_keeps_every_file_of_a_small_site(gallery, model, tmp_path, empty_runtime):
    write_site(gallery, model, tmp_path / "site", empty_runtime)
    script = (tmp_path / "site" / "service-worker.js").read_text()
    kept = json.loads(re.search(r"^const SITE = (.*);$", script, re.MULTILINE)[1])
    left_out = {"index.html", "service-worker.js", "runtime/1.30.0/LICENSE.txt"}
    assert set(kept["files"]) == {"./", *(set(files_of(tmp_path / "site")) - left_out)}


def test_many_packs_are_kept_as_they_are_looked_at(gallery, model, tmp_path, empty_runtime, monkeypatch):
    monkeypatch.setattr(writing, "_MOST_KEPT", 1)
    write_site(gallery, model, tmp_path / "site", empty_runtime)
    script = (tmp_path / "site" / "service-worker.js").read_text()
    assert "codes.gz" in script
    assert "/thumbnails/" not in script


def test_the_svg_of_drawings_is_published_only_if_asked_and_only_as_it_was_indexed(
    gallery, model, tmp_path, empty_runtime
):
    pytest.importorskip("resvg_py")
    icon = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><script>alert(1)</script><path d="M1 1h7v7z"/></svg>'
    )
    for name in ("kept.svg", "changed.svg"):
        (tmp_path / "photos" / name).write_text(icon.replace("M1", f"M{len(name)}"))
    packed = {
        "prefix": "test",
        "icons": {"packed": {"body": '<path d="M2 2h9v9z"/>'}},
        "categories": {"A tag": ["packed"]},
    }
    (tmp_path / "photos" / "icons.json").write_text(json.dumps(packed))
    list(index_events(gallery, model, [tmp_path / "photos"]))
    (tmp_path / "photos" / "changed.svg").write_text(icon)
    site = tmp_path / "site"
    write_site(gallery, model, site, empty_runtime)
    assert not any("svg/" in name for name in files_of(site / "gallery"))
    assert (about(site)["has_svg"], about(site)["has_tags"]) == (False, True)
    write_site(gallery, model, site, empty_runtime, with_svg=True)
    ids = unpacked(site, "ids.gz", "<f8").astype(int).tolist()
    names = [gallery.photo(photo).path.name for photo in ids]
    svgs = dict(zip(names, json.loads(unpacked(site, "svg/0.json.gz", np.uint8).tobytes()), strict=True))
    assert {name for name, svg in svgs.items() if svg} == {"kept.svg", "packed"}
    assert "M8 1h7v7z" in svgs["kept.svg"] and "script" not in svgs["kept.svg"]
    tags = json.loads(unpacked(site, "tags.json.gz", np.uint8).tobytes())
    assert [(names[row], tag) for row, tag in tags] == [("packed", "A tag")]


def test_an_empty_gallery_has_a_site(model, tmp_path, empty_runtime, gallery):
    gallery.remove([tmp_path / "photos"])
    assert write_site(gallery, model, tmp_path / "site", empty_runtime).photos == 0
