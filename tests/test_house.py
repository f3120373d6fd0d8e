"""The house keeps its rules: what each room shows is sorted, and really there."""

import importlib
import pkgutil

import pytest

import sketchhash

ROOMS = [name for _, name, is_package in pkgutil.walk_packages(sketchhash.__path__, "sketchhash.") if is_package]


@pytest.mark.parametrize("room", ["sketchhash", *ROOMS])
def test_what_a_room_shows_is_sorted_and_there(room):
    module = importlib.import_module(room)
    shown = getattr(module, "__all__", [])
    assert shown == sorted(shown, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    assert all(hasattr(module, name) for name in shown)
