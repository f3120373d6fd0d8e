import ast
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from sketchhash.baselines import CATALOGUE, Kind, card_of
from sketchhash.errors import UnknownName


def test_every_method_is_listed_once_and_found_by_its_name():
    names = [card.name for card in CATALOGUE]
    assert len(set(names)) == len(names)
    assert [card_of(name) for name in names] == list(CATALOGUE)


def test_an_unknown_method_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'xqda'"):
        card_of("xdqa")


@pytest.mark.parametrize("card", CATALOGUE, ids=lambda card: card.name)
def test_a_card_is_filled_in(card):
    assert card.title and card.paper and 1900 < card.year < 2030
    assert card.choices
    for reported in filter(None, (card.tuberlin, card.sketchy)):
        for numbers in (reported.mean_average_precision, reported.precision_at_200):
            assert set(numbers) == set(card.sizes or (32, 64, 128))
            assert all(0 < number < 1 for number in numbers.values())
    assert (card.tuberlin is None) == (card.sketchy is None)


@pytest.mark.parametrize("card", CATALOGUE, ids=lambda card: card.name)
def test_a_method_says_where_it_comes_from_and_where_it_differs(card):
    module = find_spec(f"sketchhash.baselines.{card.implementation.partition(':')[0]}")
    text = ast.get_docstring(ast.parse(Path(module.origin).read_text(encoding="utf-8")))  # without importing PyTorch
    first_author = re.split(r"[,.]", card.paper)[0]
    assert first_author in text or "paper's own" in text
    assert "Where we differ" in text or card.tuberlin is None


def test_the_tables_of_the_paper_are_complete():
    hashing = [card.title for card in CATALOGUE if card.kind is Kind.HASHING and card.tuberlin]
    assert {"CMFH", "CMSSH", "SCM-Seq", "SCM-Orth", "CVH", "SePH"} <= set(hashing)
    assert {"CCA", "XQDA", "PLSR", "CVFL"} == {card.title for card in CATALOGUE if card.kind is Kind.CROSSVIEW}


def test_listing_the_methods_imports_no_heavy_package():
    script = "import sys, sketchhash.baselines; print([p for p in ('torch', 'scipy', 'sklearn') if p in sys.modules])"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
