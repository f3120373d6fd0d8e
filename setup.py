"""Build the native kernels as plain shared libraries, and one wheel a platform for every Python.

The kernels are called through ctypes and use nothing of Python, so a wheel is tagged ``py3-none-PLATFORM``. They
are optional: where there is no C compiler the package installs without them and works on NumPy.
"""

import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

IS_WINDOWS = sys.platform == "win32"
FLAGS = [] if IS_WINDOWS else ["-O3", "-std=c11", "-fvisibility=hidden", "-ffp-contract=off"]


class BuildLibraries(build_ext):
    """Build shared libraries that are no Python modules."""

    def get_ext_filename(self, fullname: str) -> str:
        """Return the path of a library, named without a Python's version."""
        return str(Path(*fullname.split("."))) + (".dll" if IS_WINDOWS else ".so")

    def get_export_symbols(self, ext: Extension) -> list[str]:
        """Return no symbols: the sources mark what they export, and there is no ``PyInit``."""
        return []


class WheelForEveryPython(bdist_wheel):
    """Tag the wheel for its platform alone."""

    def get_tag(self) -> tuple[str, str, str]:
        """Return ``py3-none`` and the platform."""
        return "py3", "none", super().get_tag()[2]


setup(
    ext_modules=[
        Extension(
            f"sketchhash.native._{name}",
            sources=[f"src/sketchhash/native/{name}.c"],
            depends=[str(header) for header in Path("src/sketchhash/native").glob("*.h")],
            extra_compile_args=FLAGS,
            optional=True,
        )
        for name in ("hamming", "tokens")
    ],
    cmdclass={"build_ext": BuildLibraries, "bdist_wheel": WheelForEveryPython},
)
