"""The model folder: the one artefact that training writes and search reads.

A folder holds two ONNX networks, a manifest and a model card. Loading it unpickles nothing, needs no torch,
and refuses a folder that is damaged, incomplete or made for another version.
"""

from sketchhash.model.calibration import Calibration, Guess, Judgement, QueryKind, Verdict
from sketchhash.model.card import CardFacts, DataSource, model_card
from sketchhash.model.folder import (
    Inspection,
    read_manifest,
    says_nothing_was_kept_out,
    verify,
    write_calibration,
    write_model,
)
from sketchhash.model.manifest import (
    FileRecord,
    InkInput,
    MadeWith,
    Manifest,
    PhotoInput,
    TokenInput,
)
from sketchhash.model.model import Model, decoded_side, read_photo_for

__all__ = [
    "Calibration",
    "CardFacts",
    "DataSource",
    "FileRecord",
    "Guess",
    "InkInput",
    "Inspection",
    "Judgement",
    "MadeWith",
    "Manifest",
    "Model",
    "PhotoInput",
    "QueryKind",
    "TokenInput",
    "Verdict",
    "decoded_side",
    "model_card",
    "read_manifest",
    "read_photo_for",
    "says_nothing_was_kept_out",
    "verify",
    "write_calibration",
    "write_model",
]
