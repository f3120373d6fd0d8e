import numpy as np
import pytest

from sketchhash.baselines import Fitted, card_of, load_fitted
from sketchhash.errors import BadArgument, DamagedState, MissingExtra, NotFitted, UnwritableState


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
