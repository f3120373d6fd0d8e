"""Sources of batches: pictures, features of frozen trunks, and the store that keeps them."""

from contextlib import contextmanager

import numpy as np
import pytest
import torch

from sketchhash.datasets import open_dataset
from sketchhash.dsh import sources
from sketchhash.dsh.augment import augment_ink
from sketchhash.dsh.inputs import Reader
from sketchhash.dsh.networks import build_network, network_spec
from sketchhash.dsh.progress import Silent
from sketchhash.dsh.sources import (
    Absent,
    Alternating,
    Features,
    FeatureStore,
    InputSet,
    Joined,
    Loaded,
    Pictures,
    Redrawn,
    fused,
    weights_hash,
)
from sketchhash.dsh.tracing import traced_function

SPEC = network_spec("tiny", bits=8)


def shown(kind, items, source, views):
    return InputSet(kind, items, lambda: source, "\n".join(item.id for item in items), views)


@pytest.fixture
def net():
    return build_network(SPEC, seed=0).c2


@pytest.fixture
def items(shapes):
    return open_dataset(shapes).sketches[::3]


@pytest.fixture
def pictures(items, tmp_path):
    return Pictures(items, Reader.for_network(SPEC, "gradient", tmp_path).sketches, augment_ink)


@pytest.fixture
def store(tmp_path):
    return FeatureStore(tmp_path / "features", seed=0, progress=Silent())


class Untouchable:
    """A source that must not be read."""

    def batch(self, rows, generator):
        raise AssertionError("the trunk was run again")


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


def test_the_first_view_is_what_the_trunk_makes_of_plain_pictures(store, net, items, pictures):
    features = store.get(net, shown("sketches", items, pictures, 3))
    with torch.inference_mode():
        plain = net.eval().pool3(pictures.batch(torch.arange(len(items)), None))
    assert features.views.shape == (3, len(items), 64)
    assert torch.allclose(features.views[0], plain, atol=1e-6)
    assert torch.equal(features.batch(torch.tensor([4, 1]), None), features.views[0, [4, 1]])


def test_many_pictures_pass_through_a_traced_trunk_with_the_same_features(
    store, net, items, pictures, tmp_path, monkeypatch
):
    plain = store.get(net, shown("sketches", items, pictures, 2)).views
    traced = []
    monkeypatch.setattr(sources, "_MANY", 2 * len(items))
    monkeypatch.setattr(sources, "traced_function", lambda *given: traced.append(given) or traced_function(*given))
    fast = FeatureStore(tmp_path / "fast", seed=0, progress=Silent()).get(net, shown("sketches", items, pictures, 2))
    assert traced
    torch.testing.assert_close(fast.views, plain, rtol=1e-4, atol=1e-5)


def test_other_views_are_augmented_each_in_its_own_way(store, net, items, pictures):
    views = store.get(net, shown("sketches", items, pictures, 3)).views
    assert not torch.isclose(views[0], views[1]).all(dim=1).any()
    assert not torch.isclose(views[1], views[2]).all(dim=1).any()


def test_extracting_leaves_the_net_as_it_was(store, net, items, pictures):
    before = weights_hash(net)
    net.train()  # batch normalisation would count these pictures
    store.get(net, shown("sketches", items, pictures, 2))
    assert weights_hash(net) == before


def test_a_second_time_the_trunk_is_not_run(store, net, items, pictures):
    first = store.get(net, shown("sketches", items, pictures, 2))
    second = store.get(net, shown("sketches", items, Untouchable(), 2))
    assert torch.equal(first.views, second.views)


def test_everything_that_decides_has_a_file_of_its_own(store, net, items, pictures, tmp_path):
    other_net = build_network(SPEC, seed=1).c2
    store.get(net, shown("sketches", items, pictures, 1))
    store.get(other_net, shown("sketches", items, pictures, 1))
    store.get(net, shown("sketches", items[::-1], pictures, 1))
    store.get(net, shown("sketches", items, pictures, 2))
    store.get(net, shown("tokens", items, pictures, 1))
    FeatureStore(store.folder, seed=1, progress=Silent()).get(net, shown("sketches", items, pictures, 1))
    assert len(list(store.folder.iterdir())) == 6


def test_features_stay_on_disk_and_are_picked_without_a_copy(store, net, items, pictures):
    features = store.get(net, shown("sketches", items, pictures, 2))
    [path] = store.folder.iterdir()
    assert features.views.untyped_storage().nbytes() >= 2 * len(items) * 64 * 4
    picked = features.take(torch.tensor([5, 0, 3])).take(torch.tensor([2, 0]))
    assert picked.views.data_ptr() == features.views.data_ptr()
    assert torch.equal(picked.batch(torch.tensor([1, 0]), None), features.views[0, [5, 3]])
    assert torch.equal(picked.in_memory(), features.views[:, [3, 5]])
    features.views[0, 0] = 7  # stays in this process
    assert not (np.load(path)[0, 0] == 7).all()


def test_pictures_are_read_before_the_progress_of_features_begins(tmp_path, net, items, pictures):
    happened = []

    class Noting(Silent):
        @contextmanager
        def stage(self, name, steps):
            happened.append(name)
            yield lambda: None

    def load():
        happened.append("read")
        return pictures

    store = FeatureStore(tmp_path, seed=0, progress=Noting())
    store.get(net, InputSet("sketches", items, load, "", 1))
    assert happened == ["read", "features of sketches"]


def test_changed_weights_and_changed_statistics_change_the_key(store, net, items, pictures):
    store.get(net, shown("sketches", items, pictures, 1))
    with torch.no_grad():
        net.trunk.conv1_norm.running_mean += 1e-3
    with pytest.raises(AssertionError, match="run again"):
        store.get(net, shown("sketches", items, Untouchable(), 1))


def test_layers_behind_the_trunk_do_not_change_the_key(store, net, items, pictures):
    store.get(net, shown("sketches", items, pictures, 1))
    with torch.no_grad():
        net.fc_a.weight += 1
    store.get(net, shown("sketches", items, Untouchable(), 1))


@pytest.mark.parametrize("kept", [0, 50, -4], ids=["empty", "no header", "cut short"])
def test_a_damaged_file_is_made_again(store, net, items, pictures, kept):
    first = store.get(net, shown("sketches", items, pictures, 1)).views.clone()
    (path,) = store.folder.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[:kept])
    again = store.get(net, shown("sketches", items, pictures, 1))
    assert torch.equal(first, again.views)
    assert path.read_bytes() == whole


def test_augmenting_a_row_picks_one_of_its_own_views():
    views = torch.arange(4 * 100).reshape(4, 100, 1)
    rows = torch.arange(0, 100, 2)
    batch = Features(views).batch(rows, generator())[:, 0]
    assert torch.equal(batch % 100, rows)
    assert len((batch // 100).unique()) == 4


def test_pixels_on_disk_and_in_memory_give_the_same_batches(pictures):
    everything = torch.arange(len(pictures.items))
    loaded = Loaded(pictures.batch(everything, None), augment_ink)
    rows = torch.tensor([3, 0, 3])
    assert torch.equal(loaded.batch(rows, None), pictures.batch(rows, None))
    assert torch.equal(loaded.batch(rows, generator(5)), pictures.batch(rows, generator(5)))


def test_an_absent_branch_gives_zeros_of_its_shape():
    batch = Absent((1, 4, 4)).batch(torch.arange(3), None)
    assert batch.shape == (3, 1, 4, 4)
    assert not batch.any()


def test_two_joined_sources_answer_in_the_order_of_the_rows():
    first, second = Loaded(torch.arange(3)[:, None], augment_ink), Loaded(torch.arange(10, 14)[:, None], augment_ink)
    joined = Joined(first, 3, second)
    assert joined.batch(torch.tensor([6, 0, 3, 2]), None)[:, 0].tolist() == [13, 0, 10, 2]
    assert joined.batch(torch.tensor([1]), None)[:, 0].tolist() == [1]
    assert joined.batch(torch.tensor([4]), None)[:, 0].tolist() == [11]


def test_joined_sources_ask_neither_for_nothing():
    def read(items):
        return np.stack([np.full((1, 2, 2), item, dtype=np.uint8) for item in items])  # as a reader: nothing to stack

    joined = Joined(Pictures([0, 1], read, None), 2, Pictures([10, 11], read, None))
    assert joined.batch(torch.tensor([1, 0]), None)[:, 0, 0, 0].tolist() == [1, 0]
    assert joined.batch(torch.tensor([3]), None)[:, 0, 0, 0].tolist() == [11]


@pytest.mark.parametrize("size", ["tiny", "compact", "paper"])
def test_a_fused_trunk_gives_the_same_features_without_normalising(size):
    network = build_network(network_spec(size, bits=8), 0, pretrained=False).eval()
    for norm in (module for module in network.modules() if isinstance(module, torch.nn.BatchNorm2d)):
        torch.nn.init.uniform_(norm.running_mean, -1, 1)
        torch.nn.init.uniform_(norm.running_var, 0.5, 2)
    faster = fused(network.c2.trunk)
    assert not any(isinstance(module, torch.nn.BatchNorm2d) for module in faster.modules())
    ink = torch.randint(0, 256, (2, 1, network.spec.ink_side, network.spec.ink_side))
    with torch.inference_mode():
        torch.testing.assert_close(network.c2.pool3(ink, faster), network.c2.pool3(ink), rtol=1e-3, atol=1e-4)


def test_an_item_drawn_several_times_is_shown_in_all_its_drawings():
    pixels = torch.arange(6, dtype=torch.uint8).view(6, 1, 1, 1)
    source = Redrawn(pixels, torch.tensor([0, 1, 5, 6]), lambda batch, generator: batch)
    rows = torch.tensor([0, 1, 2])
    assert source.batch(rows, None).flatten().tolist() == [0, 1, 5]
    generator = torch.Generator().manual_seed(0)
    shown = torch.stack([source.batch(rows, generator).flatten() for _ in range(60)]).T
    assert [set(row.tolist()) for row in shown] == [{0}, {1, 2, 3, 4}, {5}]


def test_an_augmented_item_is_shown_in_any_of_its_styles_and_a_plain_one_in_the_first():
    first, second = (Loaded(torch.arange(5.0)[:, None] + style, lambda pixels, _: pixels) for style in (0, 10))
    source = Alternating([first, second])
    rows = torch.tensor([4, 0, 2] * 20)
    assert torch.equal(source.batch(rows, None)[:, 0], rows.float())
    shown_rows = source.batch(rows, generator())[:, 0]
    assert torch.equal(shown_rows % 10, rows.float())
    assert set((shown_rows // 10).tolist()) == {0, 1}
