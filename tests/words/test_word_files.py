import gzip
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sketchhash.errors import DatasetProblem
from sketchhash.words.word_files import read_glove_text, read_word2vec_binary, read_word2vec_text

CAT, DOG = [1.0, 2.0, -0.5], [0.25, 0.0, 4.0]
TABLE = {"cat": CAT, "dog": DOG}


def text_lines(table):
    return "".join(f"{word} {' '.join(repr(value) for value in vector)}\n" for word, vector in table.items()).encode()


def glove_text(table):
    return text_lines(table)


def word2vec_text(table):
    return f"{len(table)} {len(next(iter(table.values())))}\n".encode() + text_lines(table)


def word2vec_binary(table, end=b"\n"):
    entries = (word.encode() + b" " + struct.pack(f"<{len(v)}f", *v) + end for word, v in table.items())
    return f"{len(table)} {len(next(iter(table.values())))}\n".encode() + b"".join(entries)


def word2vec_binary_without_newlines(table):
    return word2vec_binary(table, end=b"")


FORMATS = [
    (glove_text, read_glove_text),
    (word2vec_text, read_word2vec_text),
    (word2vec_binary, read_word2vec_binary),
    (word2vec_binary_without_newlines, read_word2vec_binary),
]
every_format = pytest.mark.parametrize(("write", "read"), FORMATS, ids=[write.__name__ for write, _ in FORMATS])

floats = st.floats(-1e6, 1e6, width=32).filter(lambda value: abs(value) > 1e-6)
words = st.text(st.characters(categories=("L", "N", "P")), min_size=1, max_size=8)
tables = st.integers(1, 5).flatmap(
    lambda dimensions: st.dictionaries(
        words, st.lists(floats, min_size=dimensions, max_size=dimensions), min_size=1, max_size=5
    )
)


@every_format
@settings(max_examples=50, deadline=None)
@given(table=tables)
def test_what_was_written_is_read_back_exactly(write, read, table, tmp_path_factory):
    path = tmp_path_factory.mktemp("vectors") / "vectors"
    path.write_bytes(write(table))
    found = read(path, table.keys())
    assert found.keys() == table.keys()
    for word, vector in table.items():
        assert found[word].dtype == np.float32
        np.testing.assert_array_equal(found[word], np.array(vector, dtype=np.float32))


@every_format
def test_only_wanted_words_are_kept(write, read, tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(write(TABLE))
    assert read(path, {"dog", "unicorn"}).keys() == {"dog"}


@every_format
def test_gzipped_files_are_read_whatever_their_name(write, read, tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(gzip.compress(write(TABLE)))
    np.testing.assert_array_equal(read(path, {"cat"})["cat"], CAT)


@every_format
def test_a_truncated_file_is_a_problem_that_names_the_file(write, read, tmp_path):
    path = tmp_path / "vectors.cut"
    path.write_bytes(write(TABLE)[:-6])
    with pytest.raises(DatasetProblem, match=r"vectors\.cut"):
        read(path, {"dog", "unicorn"})


@every_format
def test_a_truncated_gzip_is_a_problem_that_names_the_file(write, read, tmp_path):
    path = tmp_path / "vectors.gz"
    path.write_bytes(gzip.compress(write(TABLE))[:-12])
    with pytest.raises(DatasetProblem, match=r"vectors\.gz"):
        read(path, {"dog", "unicorn"})


@every_format
@pytest.mark.parametrize("content", [b"", b"\n", b"not a table of vectors"])
def test_a_file_of_another_kind_is_a_problem(write, read, content, tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(content)
    with pytest.raises(DatasetProblem):
        read(path, {"vectors", "not"})


@every_format
@pytest.mark.parametrize("vector", [[0.0, 0.0], [1.0, float("nan")], [float("inf"), 1.0]])
def test_a_vector_without_direction_is_a_problem_that_names_the_word(write, read, vector, tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(write({"fine": [1.0, 1.0], "broken": vector}))
    assert read(path, {"fine"}).keys() == {"fine"}
    with pytest.raises(DatasetProblem, match="broken"):
        read(path, {"broken"})


@every_format
def test_reading_stops_when_all_words_are_found(write, read, tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(write(TABLE)[:-6])
    assert read(path, {"cat"}).keys() == {"cat"}


@pytest.mark.parametrize("line", ["dog 1.0 2.0", "dog 1.0 2.0 3.0 4.0", "dog", "dog one two three"])
@pytest.mark.parametrize(("write", "read"), FORMATS[:2])
def test_a_line_of_the_wrong_length_is_a_problem_that_names_it(write, read, line, tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(write({"cat": CAT}).replace(b"1 3\n", b"2 3\n") + line.encode() + b"\n")
    with pytest.raises(DatasetProblem, match="dog"):
        read(path, {"dog"})


def test_a_broken_line_is_named_by_number(tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(text_lines(TABLE) + b"bird 1.0\n")
    with pytest.raises(DatasetProblem, match=r"line 3.*3 numbers.*has 1"):
        read_glove_text(path, {"bird"})


def test_a_file_with_fewer_words_than_promised_is_a_problem(tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(b"5 3\n" + text_lines(TABLE))
    with pytest.raises(DatasetProblem, match=r"promises 5.*holds 2"):
        read_word2vec_text(path, {"unicorn"})


def test_a_truncated_binary_names_the_word_it_ends_in(tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(word2vec_binary(TABLE)[:-6])
    with pytest.raises(DatasetProblem, match="word 2 of 2, 'dog'"):
        read_word2vec_binary(path, {"dog"})


@pytest.mark.parametrize("header", [b"2\n", b"2 3 4\n", b"two 3\n", b"2 0\n", b"-1 3\n", b"2 99999999999\n"])
@pytest.mark.parametrize("read", [read_word2vec_text, read_word2vec_binary])
def test_a_header_that_makes_no_sense_is_a_problem(read, header, tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(header + text_lines(TABLE))
    with pytest.raises(DatasetProblem, match="line 1"):
        read(path, {"cat"})


def test_trailing_spaces_and_words_with_spaces_are_read_past(tmp_path):
    path = tmp_path / "vectors"
    path.write_bytes(b"cat 1.0 2.0 -0.5 \n. . . 1.0 1.0 1.0\nat mail@home.org 1.0 1.0 1.0\ndog 0.25 0.0 4.0 \n")
    found = read_glove_text(path, {"cat", "dog"})
    np.testing.assert_array_equal([found["cat"], found["dog"]], [CAT, DOG])


def test_a_file_that_is_not_there_is_a_problem(tmp_path):
    with pytest.raises(DatasetProblem, match="nowhere"):
        read_glove_text(tmp_path / "nowhere", {"cat"})
