"""What a method was built with, as data: two runs are alike when these are."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import fields, is_dataclass

from sketchhash.baselines import Method

Settings = Mapping[str, object]


def settings_of(method: Method) -> Settings:
    """Give the numbers that a method was built with, as far as it keeps them as fields."""
    if not is_dataclass(method):
        return {}
    return {field.name: getattr(method, field.name) for field in fields(method) if field.init}


def hash_of(settings: Settings) -> str:
    """Identify settings."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()
