"""What a model folder holds, as data."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MANIFEST = "manifest.json"
IMAGE_NETWORK = "image.onnx"
SKETCH_NETWORK = "sketch.onnx"
CARD = "README.md"
TOKEN_WEIGHTS = "tokens.npz"

CONTENTS: Mapping[str, str] = MappingProxyType(
    {
        IMAGE_NETWORK: "the network that turns a photo and its token map into one value per bit",
        SKETCH_NETWORK: "the network that turns a drawing into one value per bit",
        MANIFEST: "what the model expects, how it was made, and the checksum of every other file",
        CARD: "the model card: this text",
    }
)
"""Every file that a model folder must hold; the weights of a learned token detector may join them."""

LISTED = tuple(name for name in CONTENTS if name != MANIFEST)
"""The files whose checksums a manifest must carry."""
