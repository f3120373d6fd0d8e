"""A tiny model that looks at contours too, as real ones do."""

from __future__ import annotations

from pathlib import Path

import pytest

from sketchhash.model import TokenInput
from sketchhash.tokens import TokenStyle, detector


@pytest.fixture(scope="session")
def token_model_folder(make_model_folder) -> Path:
    style = TokenStyle()
    return make_model_folder(
        tokens=TokenInput(
            "gradient", detector("gradient").fingerprint, style.threshold, style.floor, style.most_ink, style.fewest
        )
    )
