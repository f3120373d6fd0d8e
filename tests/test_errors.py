import sys
from pathlib import Path

import pytest

from sketchhash import errors
from sketchhash.errors import MissingExtra, UnknownName, require


def test_a_missing_extra_names_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"pip install .*\[train\]'"):
        require("torch", "train")


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        ({}, "pip install 'sketchhash[ray]'"),
        ({"url": "file:///home/me/clone", "dir_info": {}}, "pip install '/home/me/clone[ray]'"),
        (
            {"url": "file:///home/me/clone", "dir_info": {"editable": True}},
            "pip install --editable '/home/me/clone[ray]'",
        ),
        (
            {"url": "https://host/sketchhash.git", "vcs_info": {"vcs": "git", "commit_id": "1"}},
            "pip install 'sketchhash[ray] @ git+https://host/sketchhash.git'",
        ),
    ],
)
def test_an_install_hint_fits_how_the_package_was_installed(monkeypatch, origin, command):
    monkeypatch.setattr(errors, "_origin", lambda: origin)
    monkeypatch.setattr("shutil.which", lambda name: str(Path(sys.executable).with_name(name)))
    assert errors.install_command("ray") == command
    monkeypatch.setattr("shutil.which", lambda name: None)
    assert errors.install_command("ray") == f"{sys.executable} -m {command}"
    monkeypatch.setattr(sys, "prefix", "/home/me/.local/share/uv/tools/sketchhash")
    assert errors.install_command("ray") == command.replace("pip install", "uv tool install --force")
    monkeypatch.setattr(sys, "prefix", "/home/me/.local/pipx/venvs/sketchhash")
    assert errors.install_command("ray") == command.replace("pip install", "pipx install --force")


def test_what_is_installed_is_given():
    assert require("json", "train").dumps([1]) == "[1]"


def test_an_error_inside_an_installed_package_is_not_hidden(tmp_path, monkeypatch):
    (tmp_path / "broken_package.py").write_text("import a_module_that_is_not_there\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="a_module_that_is_not_there"):
        require("broken_package", "train")


def test_an_unknown_name_suggests_the_nearest():
    assert "Did you mean 'glove'?" in str(UnknownName("source", "glvoe", ["glove", "wordnet"]))
    assert "Known: glove, wordnet." in str(UnknownName("source", "xyz", ["wordnet", "glove"]))
