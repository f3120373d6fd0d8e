import numpy as np
import pytest

from sketchhash.errors import DatasetProblem, UnknownWords
from sketchhash.words.hypernyms import HypernymVectors, information_content, lineage
from sketchhash.words.wordnet import Nouns, read_nouns

# A mermaid is a woman and a fish; both are beings.
BEING, WOMAN, FISH, MERMAID = 1, 2, 3, 4
DIAMOND = {BEING: (), WOMAN: (BEING,), FISH: (BEING,), MERMAID: (WOMAN, FISH)}


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
