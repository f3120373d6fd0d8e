"""A WordNet of sixteen nouns, in the real format."""

from __future__ import annotations

from pathlib import Path

import pytest

LICENCE = "  1 The licence stands here.  \n  2 WordNet 3.0 Copyright 2006 by Princeton University.  \n"
PARENTS = {
    "entity": None,
    "animal": "entity",
    "feline": "animal",
    "cheetah": "feline",
    "tiger": "feline",
    "leopard": "feline",
    "dolphin": "animal",
    "bat": "animal",
    "grey_seal": "animal",
    "tool": "entity",
    "hammer": "tool",
    "saw": "tool",
    "file": "tool",
    "rasp": "tool",
    "chisel": "tool",
    "awl": "tool",
}
# The table of categories asks for the second sense of these: the first is a decoy.
DECOYS = {"tiger": "awl", "dolphin": "rasp", "hammer": "animal", "saw": "feline"}


@pytest.fixture
def small_wordnet(tmp_path) -> Path:
    """Write the noun files; information content is 1/4 for animal, 1/2 for feline and 1 for a leaf."""
    offsets = {lemma: 100 * number for number, lemma in enumerate(PARENTS, 1)}
    synsets = [
        f"{offsets[lemma]:08} 05 n 02 {lemma} 0 {lemma}_too 0 002 {'@' if lemma != 'bat' else '@i'} "
        f"{offsets[parent]:08} n 0000 %p {offsets['entity']:08} n 0000 | a {lemma} | or so  \n"
        if parent
        else f"{offsets[lemma]:08} 03 n 01 {lemma} 0 001 ~ {offsets['animal']:08} n 0000 | all there is  \n"
        for lemma, parent in PARENTS.items()
    ]
    lemmas = []
    for lemma in sorted(PARENTS):
        senses = [DECOYS[lemma], lemma] if lemma in DECOYS else [lemma]
        listed = " ".join(f"{offsets[sense]:08}" for sense in senses)
        lemmas.append(f"{lemma} n {len(senses)} 2 @ ~ {len(senses)} 0 {listed}  \n")

    folder = tmp_path / "wordnet"
    folder.mkdir()
    (folder / "data.noun").write_text(LICENCE + "".join(synsets), encoding="utf-8")
    (folder / "index.noun").write_text(LICENCE + "".join(lemmas), encoding="utf-8")
    return folder
