import pytest

from sketchhash.errors import MissingExtra, UnknownName, require


def test_a_missing_extra_names_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"pip install 'sketchhash\[train\]'"):
        require("torch", "train")


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
