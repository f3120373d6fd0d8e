"""The native kernels: optional, so that an install without a C compiler works, on NumPy."""

import sys
from pathlib import Path

from setuptools import Extension, setup

FLAGS = [] if sys.platform == "win32" else ["-O3", "-std=c11", "-fvisibility=hidden", "-ffp-contract=off"]

setup(
    ext_modules=[
        Extension(
            f"sketchhash.native._{name}",
            sources=[f"src/sketchhash/native/{name}.c"],
            depends=[str(header) for header in Path("src/sketchhash/native").glob("*.h")],
            extra_compile_args=FLAGS,
            py_limited_api=True,
            optional=True,
        )
        for name in ("hamming", "tokens")
    ]
)
