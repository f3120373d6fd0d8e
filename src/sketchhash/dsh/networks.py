"""The networks of Deep Sketch Hashing: two photo branches woven together, and the sketch net they share.

    photo  ──► C1 trunk ──► pool3 ──┬► fc_a ──┬► fc_b ──┐
                                    ╳         ╳         ├──► hash_c1 ──► m values of a photo
    tokens ──► C2 trunk ──► pool3 ──┴► fc_a ──┴► fc_b ──┘
                 ║                      ║         ║
    sketch ──► C2 trunk ──► pool3 ───► fc_a ───► fc_b ─────► hash_c2 ──► m values of a sketch

A code is the sign of the values. ║ is one set of weights, ╳ the cross-weights. A *trunk* turns pixels into
pool3, a flat vector, and knows nothing of hashing: while it is frozen, its output can be computed once and
kept.

| paper                         | here                                           |
|-------------------------------|------------------------------------------------|
| C1-Net (Bottom)               | `HashNetwork.c1`                               |
| C2-Net (Middle), C2-Net (Top) | `HashNetwork.c2`, one module for both          |
| cross-weights                 | `HashNetwork.cross`                            |
| F₁(O₁; Θ₁, Θ₂)                | `encode_photos`, or `photo_values` of pool3    |
| F₂(O₂; Θ₂)                    | `encode_sketches`, or `sketch_values` of pool3 |

References:
    Liu, Shen, Shen, Liu, Shao. Deep Sketch Hashing: Fast Free-hand Sketch-Based Image Retrieval. CVPR 2017,
    section 2.1 and Table 1, and the authors' released Caffe definitions for what the table leaves open.

Where we differ: the released definitions share only C2's convolutions between tokens and sketches; we share
fc_a and fc_b too, as the paper's text says. The table writes fc_a as a 7×7 convolution: on a 7×7 map that is
a linear layer on the flattened map, which is what stands here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import torch
from torch import Tensor, nn

from sketchhash.dsh.backbones import BACKBONES, Backbone
from sketchhash.errors import BadArgument, UnknownName

PHOTO_CHANNELS = 3
INK_CHANNELS = 1
IMAGE_CLASSES = 1000  # of ImageNet's challenge
_CLASSES_SCALE = 10.0  # a root of a chance is below 1, and should count as much as the trunk's features together


class Branches(StrEnum):
    """Which branches a photo's values are read from: both, or one as in the paper's component analysis."""

    FULL = "full"
    WITHOUT_TOKENS = "without-tokens"
    WITHOUT_PHOTOS = "without-photos"

    @property
    def has_photos(self) -> bool:
        """Whether photos pass through C1."""
        return self is not Branches.WITHOUT_PHOTOS

    @property
    def has_tokens(self) -> bool:
        """Whether a photo's sketch-tokens pass through C2."""
        return self is not Branches.WITHOUT_TOKENS


@dataclass(frozen=True)
class NetworkSpec:
    """What fixes the shape of a `HashNetwork`; c1 and c2 name rows of `BACKBONES`, sides are in pixels."""

    size: str
    c1: str
    c2: str
    photo_side: int
    ink_side: int
    fc_a: int
    fc_b: int
    dropout: float
    bits: int = 128
    branches: Branches = Branches.FULL
    sees_classes: bool = False

    def __post_init__(self) -> None:
        """Refuse backbones that do not exist or know no classes, and codes without bits."""
        for backbone in (self.c1, self.c2):
            if backbone not in BACKBONES:
                raise UnknownName("backbone", backbone, BACKBONES)
        if self.sees_classes and BACKBONES[self.c1].classifier is None:
            raise BadArgument(f"sees_classes needs a photo trunk with ImageNet's classifier; {self.c1} has none.")
        if self.bits < 1:
            raise BadArgument(f"A code needs at least one bit, got {self.bits}.")


def network_spec(size: str, bits: int, branches: Branches = Branches.FULL, sees_classes: bool = False) -> NetworkSpec:
    """Look up a size by name and set what varies between experiments.

    >>> network_spec("tiny", bits=32).ink_side
    48
    """
    if size not in SIZES:
        raise UnknownName("network size", size, SIZES)
    return replace(SIZES[size], bits=bits, branches=branches, sees_classes=sees_classes)


def build_network(spec: NetworkSpec, seed: int, pretrained: bool = True) -> HashNetwork:
    """Build a network whose random weights depend on ``seed`` alone; torch's own generator is left as it was.

    Args:
        spec: The shape.
        seed: Where the random weights come from.
        pretrained: Start trunks from published weights, where their backbone has any. Not needed when trained
            weights are loaded next.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = HashNetwork(spec, pretrained)
    network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # missing in torch's stubs
    return network


class HashNetwork(nn.Module):
    """Photos with their sketch-tokens, and sketches, to ``bits`` values each.

    Pictures are pixels from 0 to 255 of any dtype: photos ``(n, 3, photo_side, photo_side)``, tokens and
    sketches ``(n, 1, ink_side, ink_side)``; they are normalised inside. A branch that an ablation removes has
    no weights, and its pool3 features have width 0.
    """

    def __init__(self, spec: NetworkSpec, pretrained: bool = False) -> None:
        """Make the branches that ``spec`` asks for; see `build_network` for reproducible weights."""
        super().__init__()
        self.spec = spec
        has_photos, has_tokens = spec.branches.has_photos, spec.branches.has_tokens
        self.c2 = Net(spec, spec.c2, INK_CHANNELS, pretrained)
        self.c1 = Net(spec, spec.c1, PHOTO_CHANNELS, pretrained, spec.sees_classes) if has_photos else None
        self.cross = CrossWeights(spec) if has_photos and has_tokens else None
        self.hash_c1 = _hash_layer(spec.fc_b * (has_photos + has_tokens), spec.bits)
        self.hash_c2 = _hash_layer(spec.fc_b, spec.bits)

    def forward(self, photos: Tensor, tokens: Tensor, sketches: Tensor) -> tuple[Tensor, Tensor]:
        """Compute F₁ of the photos and F₂ of the sketches, the two values that Eq. 4 trains.

        Tokens and sketches cross C2 as one batch, so that its batch normalisation sees while training the
        mixture it will use afterwards.
        """
        if not self.spec.branches.has_tokens:
            tokens = tokens[:0]  # not even the batch normalisation of C2 may see them
        ink = self.ink_features(torch.cat([tokens, sketches]))
        token_pool3, sketch_pool3 = ink[: len(tokens)], ink[len(tokens) :]
        return self.photo_values(self.photo_features(photos), token_pool3), self.sketch_values(sketch_pool3)

    def photo_features(self, photos: Tensor) -> Tensor:
        """Run C1's trunk: pool3 ``(n, features)``, or ``(n, 0)`` without a photo branch."""
        return _no_features(photos) if self.c1 is None else self.c1.pool3(photos)

    def token_features(self, tokens: Tensor) -> Tensor:
        """Run C2's trunk on photos' tokens: pool3 ``(n, features)``, or ``(n, 0)`` without a token branch."""
        return self.ink_features(tokens) if self.spec.branches.has_tokens else _no_features(tokens)

    def ink_features(self, ink: Tensor) -> Tensor:
        """Run C2's trunk on sketches, or on tokens: pool3 ``(n, features)``."""
        return self.c2.pool3(ink)

    def photo_values(self, photo_pool3: Tensor, token_pool3: Tensor) -> Tensor:
        """Fuse pool3 of photos and of their tokens into values ``(n, bits)``."""
        p1, p2 = photo_pool3, token_pool3
        c1, c2, cross = self.c1, self.c2, self.cross
        if c1 is None:
            values: Tensor = self.hash_c1(c2(p2))
        elif cross is None:
            values = self.hash_c1(c1(p1))
        else:
            a1 = c1.activate(c1.first(p1) + cross.a_from_c2(p2))  # (n, fc_a)
            a2 = c2.activate(c2.first(p2) + cross.a_from_c1(p1))
            b1 = c1.activate(c1.fc_b(a1) + cross.b_from_c2(a2))  # (n, fc_b)
            b2 = c2.activate(c2.fc_b(a2) + cross.b_from_c1(a1))
            values = self.hash_c1(torch.cat([b1, b2], dim=1))
        return values

    def sketch_values(self, sketch_pool3: Tensor) -> Tensor:
        """Turn pool3 of sketches into values ``(n, bits)``."""
        values: Tensor = self.hash_c2(self.c2(sketch_pool3))
        return values

    def encode_photos(self, photos: Tensor, tokens: Tensor) -> Tensor:
        """Turn photos and their tokens into values ``(n, bits)``."""
        return self.photo_values(self.photo_features(photos), self.token_features(tokens))

    def encode_sketches(self, sketches: Tensor) -> Tensor:
        """Turn sketches into values ``(n, bits)``."""
        return self.sketch_values(self.ink_features(sketches))


class Net(nn.Module):
    """C1-Net or C2-Net up to fc_b: a trunk from pixels to pool3, then two fully connected layers."""

    def __init__(
        self, spec: NetworkSpec, backbone: str, channels: int, pretrained: bool, sees_classes: bool = False
    ) -> None:
        """Put the fully connected layers of ``spec`` on a backbone that reads ``channels``."""
        super().__init__()
        self.backbone = BACKBONES[backbone]
        self.trunk = self.backbone.build(channels, pretrained)
        self.fc_a = nn.Linear(self.backbone.features, spec.fc_a)
        self.fc_b = nn.Linear(spec.fc_a, spec.fc_b)
        self.classes = ImageClasses(self.backbone, spec.fc_a, pretrained) if sees_classes else None
        self.dropout = spec.dropout

    def pool3(self, pictures: Tensor, trunk: nn.Module | None = None) -> Tensor:
        """Turn pixels from 0 to 255 into the trunk's features ``(n, features)``; a faster ``trunk`` may stand in."""
        # Weights and input in this layout: on a processor about twice as fast as torch's default one.
        pixels = pictures.float().contiguous(memory_format=torch.channels_last)
        features: Tensor = (trunk or self.trunk)((pixels - self.backbone.offset) / self.backbone.scale)
        return features

    def forward(self, pool3: Tensor) -> Tensor:
        """Turn pool3 into fc_b ``(n, fc_b)``, without any cross-weights."""
        return self.activate(self.fc_b(self.activate(self.first(pool3))))

    def first(self, pool3: Tensor) -> Tensor:
        """Apply fc_a, which may see ImageNet's classes too: ``(n, fc_a)``, not rectified."""
        sums: Tensor = self.fc_a(pool3)
        return sums if self.classes is None else sums + self.classes(pool3)

    def activate(self, x: Tensor) -> Tensor:
        """Rectify and, while training, drop: what follows each fully connected layer."""
        return torch.dropout(torch.relu(x), self.dropout, self.training)


class ImageClasses(nn.Module):
    """What fc_a sees of the chances that ImageNet's classifier gives its classes.

    Layers that learn from a few photos of a category do not find again what the classifier was taught with a thousand
    of them. Its weights stay as they are; roots, because most chances are small. Ours: the paper has nothing like it.
    """

    def __init__(self, backbone: Backbone, outputs: int, pretrained: bool) -> None:
        """Load the classifier if ``pretrained``; what is seen of it starts at zero."""
        super().__init__()
        self.classifier = nn.Linear(backbone.features, IMAGE_CLASSES)
        if pretrained and backbone.classifier is not None:
            weights, biases = backbone.classifier()
            self.classifier.load_state_dict({"weight": weights, "bias": biases})
        self.classifier.requires_grad_(False)
        self.seen = nn.Linear(IMAGE_CLASSES, outputs, bias=False)
        nn.init.zeros_(self.seen.weight)

    def forward(self, pool3: Tensor) -> Tensor:
        """Turn pool3 into what is added to fc_a: ``(n, outputs)``."""
        chances = torch.softmax(self.classifier(pool3), dim=1)
        seen: Tensor = self.seen(_CLASSES_SCALE * chances.sqrt())
        return seen


class CrossWeights(nn.Module):
    """What each branch's fc_a and fc_b see of the other branch.

    They start at zero: at first every branch computes what it was pre-trained to compute, and the gradient,
    which is not zero because the other branch's activations are not, decides what is worth exchanging. They
    have no bias; the layer they add to has one.
    """

    def __init__(self, spec: NetworkSpec) -> None:
        """Make the four blocks, at zero."""
        super().__init__()
        features1, features2 = BACKBONES[spec.c1].features, BACKBONES[spec.c2].features
        self.a_from_c1 = nn.Linear(features1, spec.fc_a, bias=False)
        self.a_from_c2 = nn.Linear(features2, spec.fc_a, bias=False)
        self.b_from_c1 = nn.Linear(spec.fc_a, spec.fc_b, bias=False)
        self.b_from_c2 = nn.Linear(spec.fc_a, spec.fc_b, bias=False)
        for block in self.parameters():
            nn.init.zeros_(block)


class Classifier(nn.Module):
    """A net with a layer of category scores on top, to pre-train it before any hashing.

    The net is held, not copied: ``Classifier(network.c2, categories)`` trains the weights of ``network``, and
    is thrown away afterwards.
    """

    def __init__(self, net: Net, categories: int, image_classes: int = 0, normalised_short: bool = False) -> None:
        """Start the scores at zero: the labels break the tie, so nothing random is needed.

        With ``image_classes``, another layer above the trunk scores so many classes of photos. With
        ``normalised_short``, the short way sees pool3 normalised over the batch. Behind random convolutions pool3 is
        long and nearly the same for all pictures: as it is, steps along what they have in common grow without end.
        """
        super().__init__()
        self.net = net
        self.image_scores = _zero_layer(net.backbone.features, image_classes) if image_classes else None
        self.scores = _zero_layer(net.fc_b.out_features, categories)
        self.short_norm = nn.BatchNorm1d(net.backbone.features) if normalised_short else nn.Identity()
        self.short_scores = _zero_layer(net.backbone.features, categories)

    def forward(self, pictures: Tensor) -> tuple[Tensor, Tensor]:
        """Turn pixels into logits, see `logits`."""
        return self.logits(self.net.pool3(pictures))

    def logits(self, pool3: Tensor) -> tuple[Tensor, Tensor]:
        """Turn the trunk's features into logits ``(n, categories)``, by fc_b and the short way.

        The short way teaches the trunk from the first step, when the layers above it are still random.
        """
        return self.scores(self.net(pool3)), self.short_logits(pool3)

    def short_logits(self, pool3: Tensor) -> Tensor:
        """Turn the trunk's features into logits ``(n, categories)`` by the short way alone."""
        logits: Tensor = self.short_scores(self.short_norm(pool3))
        return logits


def _no_features(pictures: Tensor) -> Tensor:
    """Stand in for the pool3 features of a removed branch: ``(n, 0)``."""
    # shape[0], not len: the ONNX exporter would freeze len to the batch it was shown.
    return torch.empty(pictures.shape[0], 0, device=pictures.device)


def _zero_layer(inputs: int, outputs: int) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


def _hash_layer(inputs: int, bits: int) -> nn.Linear:
    """Start small and unbiased, as the released network does: no bit is decided before training."""
    layer = nn.Linear(inputs, bits)
    nn.init.normal_(layer.weight, std=0.01)
    nn.init.zeros_(layer.bias)
    return layer


SIZES: dict[str, NetworkSpec] = {
    "paper": NetworkSpec(
        size="paper",
        c1="paper-c1",
        c2="paper-c2",
        photo_side=227,
        ink_side=200,
        fc_a=4096,
        fc_b=1024,
        dropout=0.3,  # the released network: 0.3 in C1, 0.1 and 0.2 in C2
    ),
    "compact": NetworkSpec(
        size="compact",
        c1="efficientnet-lite0",
        c2="efficientnet-lite0",
        photo_side=192,
        ink_side=128,
        fc_a=512,
        fc_b=256,
        dropout=0.2,
    ),
    "tiny": NetworkSpec(
        size="tiny",
        c1="tiny",
        c2="tiny",
        photo_side=64,
        ink_side=48,
        fc_a=64,
        fc_b=32,
        dropout=0.0,
    ),
}
