import pytest

from sketchhash.errors import DatasetProblem
from sketchhash.words import wordnet
from sketchhash.words.wordnet import find_wordnet, read_nouns


def test_senses_come_in_the_order_of_the_index(small_wordnet):
    nouns = read_nouns(small_wordnet)
    assert nouns.senses["cheetah"] == (400,)
    assert nouns.senses["tiger"] == (1600, 500)


def test_kinds_and_instances_have_hypernyms_and_other_relations_do_not_count(small_wordnet):
    nouns = read_nouns(small_wordnet)
    assert nouns.hypernyms[400] == (300,)
    assert nouns.hypernyms[800] == (200,)  # an instance
    assert nouns.hypernyms[100] == ()
    assert len(nouns.hypernyms) == 16


@pytest.mark.parametrize("file", ["data.noun", "index.noun"])
@pytest.mark.parametrize("cut", [10, 60])
def test_a_truncated_file_is_a_problem_that_names_file_and_line(small_wordnet, file, cut):
    path = small_wordnet / file
    lines = path.read_text().splitlines(keepends=True)
    broken = lines[-1][: min(cut, len(lines[-1]) - 12)]
    path.write_text("".join(lines[:-1]) + broken)
    with pytest.raises(DatasetProblem, match=f"{file}, line {len(lines)} is broken"):
        read_nouns(small_wordnet)


def test_an_index_of_another_data_file_is_a_problem(small_wordnet):
    path = small_wordnet / "data.noun"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(DatasetProblem, match="'awl'"):
        read_nouns(small_wordnet)


def test_a_hypernym_that_is_not_there_is_a_problem(small_wordnet):
    path = small_wordnet / "data.noun"
    path.write_text(path.read_text().replace("@ 00000300", "@ 00000301"))
    with pytest.raises(DatasetProblem, match="hypernym"):
        read_nouns(small_wordnet)


def test_another_version_is_refused_since_its_senses_differ(small_wordnet):
    path = small_wordnet / "data.noun"
    path.write_text(path.read_text().replace("WordNet 3.0", "WordNet 3.1"))
    with pytest.raises(DatasetProblem, match=r"not of WordNet 3\.0"):
        read_nouns(small_wordnet)


def test_a_given_folder_wins_over_the_environment(small_wordnet, tmp_path, monkeypatch):
    monkeypatch.setenv("SKETCHHASH_WORDNET", str(tmp_path / "elsewhere"))
    assert find_wordnet(small_wordnet) == small_wordnet


def test_the_environment_wins_over_what_is_installed(small_wordnet, monkeypatch):
    monkeypatch.setenv("SKETCHHASH_WORDNET", str(small_wordnet))
    assert find_wordnet() == small_wordnet


def test_a_chosen_folder_without_the_files_is_never_replaced_by_another(small_wordnet, tmp_path, monkeypatch):
    monkeypatch.setattr(wordnet, "_DEBIAN_FOLDER", small_wordnet)
    monkeypatch.setenv("SKETCHHASH_WORDNET", str(tmp_path / "elsewhere"))
    with pytest.raises(DatasetProblem, match="elsewhere"):
        find_wordnet()
    with pytest.raises(DatasetProblem, match="given"):
        find_wordnet(tmp_path / "given")


def test_the_package_is_found_without_running_it(small_wordnet, tmp_path, monkeypatch):
    package = tmp_path / "site" / "wn"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text("raise RuntimeError('imported')")
    small_wordnet.rename(package / "data" / "wordnet-3.0")
    monkeypatch.delenv("SKETCHHASH_WORDNET", raising=False)
    monkeypatch.syspath_prepend(tmp_path / "site")
    assert find_wordnet() == package / "data" / "wordnet-3.0"


def test_without_wordnet_the_error_names_both_ways_out(tmp_path, monkeypatch):
    monkeypatch.delenv("SKETCHHASH_WORDNET", raising=False)
    monkeypatch.setattr(wordnet, "_packaged_folders", list)
    monkeypatch.setattr(wordnet, "_DEBIAN_FOLDER", tmp_path)
    with pytest.raises(DatasetProblem, match=r"sketchhash\[train\].*wordnet-base.*SKETCHHASH_WORDNET.*'glove'"):
        find_wordnet()
