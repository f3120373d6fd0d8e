import pytest

from sketchhash.words.names import Noun, listed_categories, nouns_of, without_vectors, words_of


@pytest.mark.parametrize("spelling", ["hot-air_balloon", "hot air balloon", "Hot Air Balloon", "hot_air_balloon"])
def test_spellings_of_a_compound_mean_the_same(spelling):
    assert words_of(spelling) == ("hot", "air", "balloon")
    assert nouns_of(spelling) == (Noun("hot-air_balloon"),)


def test_a_qualifier_in_parentheses_counts_as_words():
    assert words_of("car (sedan)") == ("car", "sedan")
    assert words_of("crane_(machine)") == ("crane", "machine")


def test_the_table_replaces_words_that_mislead():
    assert words_of("pipe (for smoking)") == ("pipe", "smoking")
    assert words_of("tablelamp") == ("table", "lamp")
    assert words_of("t-shirt") == ("shirt",)


@pytest.mark.parametrize(
    ("category", "noun"),
    [
        ("seal", Noun("seal", 9)),
        ("crane (machine)", Noun("crane", 4)),
        ("crane", Noun("crane", 4)),
        ("jack-o-lantern", Noun("jack-o'-lantern", 2)),
    ],
)
def test_the_table_chooses_the_sense(category, noun):
    assert nouns_of(category) == (noun,)


def test_a_name_outside_the_table_is_tried_whole_and_then_as_its_last_word():
    assert nouns_of("snow leopard")[0] == Noun("snow_leopard")
    assert nouns_of("snow leopard")[-1] == Noun("leopard")
    assert nouns_of("cheetah") == (Noun("cheetah"),)


def test_the_sense_of_an_unlisted_qualified_name_is_not_guessed():
    assert nouns_of("jaguar (vehicle)") == ()


def test_a_name_without_letters_means_nothing():
    assert words_of(" -_") == ()
    assert nouns_of(" -_") == ()


def test_every_listed_category_has_words_and_one_noun():
    names = listed_categories()
    assert len(names) == len(set(names)) >= 430
    assert all(words_of(name) for name in names)
    assert all(len(nouns_of(name)) == 1 and nouns_of(name)[0].sense >= 1 for name in names)


def test_the_error_for_missing_vectors_lists_all_names_and_the_table():
    text = str(without_vectors(["blorb", "zug zug"], "GloVe vocabulary"))
    assert "'blorb', 'zug zug'" in text
    assert "GloVe vocabulary" in text
    assert "categories.tsv" in text
