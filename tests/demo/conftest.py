"""Someone who listens, and a machine on which apt-get does what a test says."""

import shutil
from contextlib import contextmanager

import pytest

# Unpacks as `dpkg-deb -x ARCHIVE FOLDER` does; the archive of these tests is a tar file.
DPKG_DEB = """#!/bin/sh
mkdir -p "$3" && tar -xf "$2" -C "$3"
"""


class Remembering:
    """Remembers what it was told."""

    def __init__(self):
        self.said, self.stages = [], []

    def say(self, text):
        self.said.append(text)

    @contextmanager
    def stage(self, name, steps):
        done = []
        yield lambda: done.append(1)
        self.stages.append((name, steps, len(done)))


@pytest.fixture
def listener():
    return Remembering()


@pytest.fixture
def apt_get(tmp_path, monkeypatch):
    """Return a function that puts an apt-get in place, which runs some lines of shell instead of downloading."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("cp", "mkdir", "sleep", "tar"):
        (tools / name).symlink_to(shutil.which(name))
    monkeypatch.setenv("PATH", str(tools))

    def apt_get(does):
        for name, text in (("apt-get", f"#!/bin/sh\n{does}\n"), ("dpkg-deb", DPKG_DEB)):
            (tools / name).write_text(text)
            (tools / name).chmod(0o755)

    return apt_get
