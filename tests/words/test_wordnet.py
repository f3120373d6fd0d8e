import numpy as np
import pytest

from sketchhash.errors import DatasetProblem, UnknownWords
from sketchhash.words import wordnet
from sketchhash.words.wordnet import HypernymVectors, Nouns, find_wordnet, information_content, lineage, read_nouns

# A mermaid is a woman and a fish; both are beings.
BEING, WOMAN, FISH, MERMAID = 1, 2, 3, 4
DIAMOND = {BEING: (), WOMAN: (BEING,), FISH: (BEING,), MERMAID: (WOMAN, FISH)}


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
    with pytest.raises(DatasetProblem, match=r"\[train\].*wordnet-base.*SKETCHHASH_WORDNET.*'glove'"):
        find_wordnet()


@pytest.fixture
def vectors(small_wordnet):
    return HypernymVectors(read_nouns(small_wordnet))


def test_information_content_goes_from_none_at_the_root_to_one_at_a_leaf(small_wordnet):
    nouns = read_nouns(small_wordnet)
    content = information_content(nouns.hypernyms)
    found = {lemma: content[nouns.senses[lemma][-1]] for lemma in ("entity", "animal", "feline", "cheetah", "dolphin")}
    assert found == pytest.approx({"entity": 0, "animal": 1 / 4, "feline": 1 / 2, "cheetah": 1, "dolphin": 1})


def test_the_cosine_is_the_content_of_the_nearest_common_ancestor(vectors):
    rows = vectors.embed(["cheetah", "tiger", "dolphin", "hammer"])
    expected = [[1, 1 / 2, 1 / 4, 0], [1 / 2, 1, 1 / 4, 0], [1 / 4, 1 / 4, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(rows @ rows.T, expected, atol=1e-6)


def test_there_is_one_column_for_each_synset_of_any_lineage(vectors):
    rows = vectors.embed(["cheetah", "dolphin"])
    assert rows.dtype == np.float32
    # entity, animal, feline, cheetah, dolphin
    np.testing.assert_allclose(rows**2, [[0, 1 / 4, 1 / 4, 1 / 2, 0], [0, 1 / 4, 0, 0, 3 / 4]], atol=1e-6)


def test_the_order_of_categories_is_the_order_of_rows(vectors):
    forwards, backwards = vectors.embed(["bat", "tiger", "file"]), vectors.embed(["file", "tiger", "bat"])
    np.testing.assert_array_equal(forwards, backwards[::-1])


def test_an_unlisted_compound_is_its_whole_or_else_its_last_word(vectors):
    rows = vectors.embed(["grey seal", "snow leopard", "leopard"])
    np.testing.assert_array_equal(rows[1], rows[2])
    assert not np.array_equal(rows[0], rows[1])


def test_every_unknown_category_is_listed(vectors):
    with pytest.raises(UnknownWords, match=r"'blorb', 'seal', 'jaguar \(vehicle\)'"):
        vectors.embed(["blorb", "cheetah", "seal", "jaguar (vehicle)"])  # seal: the ninth sense is not in here


def test_a_lineage_follows_every_parent():
    assert lineage(MERMAID, DIAMOND) == {BEING, WOMAN, FISH, MERMAID}


def test_a_synset_below_two_parents_is_counted_once():
    content = information_content(DIAMOND)
    assert content == pytest.approx({BEING: 0, WOMAN: 1 / 2, FISH: 1 / 2, MERMAID: 1})


def test_what_has_two_parents_is_like_both():
    vectors = HypernymVectors(Nouns({"woman": (WOMAN,), "goby": (FISH,), "siren": (MERMAID,)}, DIAMOND))
    rows = vectors.embed(["woman", "goby", "siren"])
    np.testing.assert_allclose(rows @ rows.T, [[0.5, 0, 0.5], [0, 0.5, 0.5], [0.5, 0.5, 1.5]], atol=1e-6)


def test_a_cycle_does_not_trap_the_walk():
    assert lineage(1, {1: (2,), 2: (1,)}) == {1, 2}


def test_a_taxonomy_of_one_is_a_problem():
    with pytest.raises(DatasetProblem):
        information_content({1: ()})
