"""The functions of ``native/tokens.c``, with the types of their arguments."""

from __future__ import annotations

import ctypes
from functools import cache

import numpy as np

from sketchhash.native import kernels

_SIZE = ctypes.c_int64
# Arguments that are refused unless they are contiguous arrays of this type.
_BYTES, _FLOATS, _INTEGERS, _PLACES = (
    np.ctypeslib.ndpointer(of, flags="C_CONTIGUOUS") for of in (np.uint8, np.float32, np.int32, np.int64)
)
_ARGUMENTS = {
    "smooth": (_FLOATS, _SIZE, _SIZE, _SIZE, _FLOATS, _SIZE, _FLOATS, _FLOATS),
    "convert_to_luv": (_BYTES, _SIZE, _FLOATS, _FLOATS, _FLOATS, _FLOATS),
    "find_strongest_slopes": (_FLOATS, _SIZE, _SIZE, _SIZE, _FLOATS, _FLOATS, _FLOATS, _FLOATS),
    "split_by_orientation": (_FLOATS, _FLOATS, _FLOATS, _SIZE, _FLOATS),
    "walk_forest": (
        *(_FLOATS, _PLACES, _SIZE, _PLACES, _SIZE),
        *(_INTEGERS, _SIZE, _INTEGERS, _FLOATS, _INTEGERS, _FLOATS, _SIZE),
        *(_INTEGERS, _FLOATS),
    ),
}


@cache
def native() -> ctypes.CDLL | None:
    """Return the compiled functions, or None where NumPy does the work."""
    library = kernels("tokens")
    if library is not None:
        for name, arguments in _ARGUMENTS.items():
            function = getattr(library, name)
            function.argtypes, function.restype = arguments, None
    return library
