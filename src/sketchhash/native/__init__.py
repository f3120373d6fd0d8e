"""Compiled kernels: small C files, built with the package, each the fast twin of a NumPy reference.

They are plain shared libraries that use nothing of Python, so one build serves every version of it, and optional:
without a C compiler the package installs and works on NumPy, and logs one warning. Set ``SKETCHHASH_NATIVE=0`` to
switch them off, to compare or to rule them out.
"""

from __future__ import annotations

import ctypes
import logging
import os
import sys
from functools import cache
from pathlib import Path

__all__ = ["kernel_file", "kernels"]

_LOG = logging.getLogger(__name__)


def kernel_file(name: str) -> Path:
    """Return the path of the library built from ``name.c``, whether or not it was built."""
    return Path(__file__).with_name(f"_{name}.dll" if sys.platform == "win32" else f"_{name}.so")


@cache
def kernels(name: str) -> ctypes.CDLL | None:
    """Return the functions of ``name.c``, or None if they were not built or are switched off.

    The GIL is released while one runs. They check nothing: callers pass contiguous arrays of the right type and size.
    """
    if os.environ.get("SKETCHHASH_NATIVE") == "0":
        return None
    library = kernel_file(name)
    if not library.exists():
        _LOG.warning(
            "The compiled kernel '%s' is missing: everything works, more slowly, on NumPy. "
            "Install a C compiler and type: pip install --force-reinstall --no-deps sketchhash",
            name,
        )
        return None
    return ctypes.CDLL(str(library))
