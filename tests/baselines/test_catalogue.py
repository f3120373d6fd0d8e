import ast
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from sketchhash.baselines import CATALOGUE, Fitted, Kind, card_of, load_fitted
from sketchhash.errors import BadArgument, DamagedState, MissingExtra, NotFitted, UnknownName, UnwritableState


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
def test_a_card_says_why_ours_is_not_the_papers_number_where_there_is_one(card):
    assert bool(card.differs) == (card.tuberlin is not None)
    assert len(card.differs) < 250
    assert all(text.endswith(".") for text in (card.differs, card.earlier, card.published) if text)


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
    crossview = {card.title for card in CATALOGUE if card.kind is Kind.CROSSVIEW and card.tuberlin}
    assert crossview == {"CCA", "XQDA", "PLSR", "CVFL"}


def test_listing_the_methods_imports_no_heavy_package():
    script = "import sys, sketchhash.baselines; print([p for p in ('torch', 'scipy', 'sklearn') if p in sys.modules])"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.fixture
def fitted(views):
    card = card_of("xqda")
    return Fitted(card, 8, 3, card.build(8, 3).fit(views))


@pytest.fixture
def path(fitted, tmp_path):
    fitted.save(tmp_path / "xqda.npz")
    return tmp_path / "xqda.npz"


def test_a_file_says_what_it_holds(fitted, path):
    loaded = load_fitted(path)
    assert (loaded.card, loaded.size, loaded.seed) == (fitted.card, 8, 3)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DamagedState, match=r"nothing\.npz does not hold a fitted method"):
        load_fitted(tmp_path / "nothing.npz")


@pytest.mark.parametrize("keep", [0, 10, 500, -1])
def test_a_cut_file_is_refused(path, keep):
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(DamagedState, match="Fit it again"):
        load_fitted(path)


@pytest.mark.parametrize("name", ["photos_mean", "photos_weights", "sketches_weights", "metric"])
def test_a_flipped_bit_is_found(fitted, path, name):
    content = bytearray(path.read_bytes())
    content[content.index(fitted.method.state()[name].tobytes()) + 11] ^= 1
    path.write_bytes(content)
    with pytest.raises(DamagedState):
        load_fitted(path)


@pytest.mark.parametrize("change", [{"name": "xdqa"}, {"format": "other"}, {"learned.metric": np.zeros((3, 3))}])
def test_another_content_is_refused(path, change):
    with np.load(path) as stored:
        content = dict(stored)
    np.savez(path, **{**content, **{key: np.array(value) for key, value in change.items()}})
    with pytest.raises(DamagedState):
        load_fitted(path)


@pytest.mark.parametrize("lost", ["name", "learned.photos_mean", "learned.metric"])
def test_a_lost_array_is_missed(path, lost):
    with np.load(path) as stored:
        content = dict(stored)
    del content[lost]
    np.savez(path, **content)
    with pytest.raises(DamagedState, match=lost.removeprefix("learned.")):
        load_fitted(path)


def test_arrays_of_a_narrower_map_are_refused(path):
    with np.load(path) as stored:
        content = dict(stored)
    content["learned.photos_mean"] = content["learned.photos_mean"][:-1]
    np.savez(path, **content)
    with pytest.raises(DamagedState, match="do not fit"):
        load_fitted(path)


def test_a_method_that_learned_nothing_is_not_saved(tmp_path):
    card = card_of("cca")
    with pytest.raises(NotFitted):
        Fitted(card, 8, 0, card.build(8, 0)).save(tmp_path / "cca.npz")
    assert list(tmp_path.iterdir()) == []


def test_objects_are_never_pickled(fitted, tmp_path, monkeypatch):
    monkeypatch.setattr(type(fitted.method), "state", lambda self: {"words": np.array([{}], dtype=object)})
    with pytest.raises(BadArgument, match="objects"):
        fitted.save(tmp_path / "xqda.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_reported(fitted, tmp_path):
    with pytest.raises(UnwritableState, match="cannot be written"):
        fitted.save(tmp_path / "nowhere" / "xqda.npz")


def test_a_package_that_is_missing_is_no_damage(path, monkeypatch):
    def restore(self, state):
        raise MissingExtra("torch", "train")

    monkeypatch.setattr("sketchhash.baselines.crossview.CrossViewQuadratic.restore", restore)
    with pytest.raises(MissingExtra, match="torch"):
        load_fitted(path)
