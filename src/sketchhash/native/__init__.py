"""Compiled kernels: small C files, built with the package, each the fast twin of a NumPy reference.

Nothing needs them: without a C compiler the package installs and works on NumPy, and says so once. Setting
``SKETCHHASH_NATIVE=0`` leaves them out where they are built, to compare or to rule them out.
"""

from __future__ import annotations

import ctypes
import importlib.util
import logging
import os
from functools import cache

_LOG = logging.getLogger(__name__)


@cache
def kernels(name: str) -> ctypes.CDLL | None:
    """Give the functions of ``name.c``, or nothing if they were not built or are switched off.

    The lock of Python is released while one runs. They check nothing: callers pass contiguous arrays of the
    right type and size.
    """
    if os.environ.get("SKETCHHASH_NATIVE") == "0":
        return None
    built = importlib.util.find_spec(f"{__name__}._{name}")
    if built is None or built.origin is None:
        _LOG.warning(
            "The compiled kernel '%s' is missing: everything works, more slowly, on NumPy. "
            "Install a C compiler and type: pip install --force-reinstall --no-deps sketchhash",
            name,
        )
        return None
    return ctypes.CDLL(built.origin)
