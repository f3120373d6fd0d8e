"""Tiny models for galleries on engines."""

import pytest

from sketchhash.model import Model


@pytest.fixture(scope="session")
def other_model(make_model_folder):
    return Model.load(make_model_folder(bits=64, seed=1))
