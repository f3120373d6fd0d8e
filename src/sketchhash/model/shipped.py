"""The model to use when none is named."""

from __future__ import annotations

import os
from pathlib import Path

from sketchhash.errors import BadArgument
from sketchhash.model import layout

VARIABLE = "SKETCHHASH_MODEL"

_SHIPPED = Path(__file__).with_name("shipped")


def default_model_folder() -> Path:
    """Give the folder named by the environment variable ``SKETCHHASH_MODEL``, or else of the model shipped here.

    Raises:
        BadArgument: If there is neither.
    """
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    if (_SHIPPED / layout.MANIFEST).is_file():
        return _SHIPPED
    raise BadArgument(
        "No model was named, and none came with this package. "
        f"Name a model folder with --model FOLDER, or once for all with: export {VARIABLE}=FOLDER"
    )
