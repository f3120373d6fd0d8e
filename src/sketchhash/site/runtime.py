"""onnxruntime-web, which runs the model in browsers: taken from npm once, checked, and kept for the next site."""

from __future__ import annotations

import gzip
import tarfile
from base64 import b64encode
from dataclasses import dataclass
from hashlib import sha512
from io import BytesIO
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from sketchhash.errors import SketchHashError
from sketchhash.files import replacing, user_cache

VERSION = "1.30.0"
_INTEGRITY = "q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ=="
_ADDRESS = f"https://registry.npmjs.org/onnxruntime-web/-/onnxruntime-web-{VERSION}.tgz"
_SECONDS = 120.0
_SCRIPT = "package/dist/ort.wasm.bundle.min.mjs"
_BINARY = "package/dist/ort-wasm-simd-threaded.wasm"

LICENCE = f"""ort.js and ort.wasm.gz are onnxruntime-web {VERSION}, https://github.com/microsoft/onnxruntime

MIT License

Copyright (c) Microsoft Corporation

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
"""


class RuntimeUnavailable(SketchHashError):
    """onnxruntime-web cannot be fetched, or is not what it should be."""


@dataclass(frozen=True)
class Runtime:
    """The module of onnxruntime-web, and its WebAssembly, packed by gzip."""

    script: bytes
    binary: bytes


def find_runtime(package: Path | None = None, cache: Path | None = None) -> Runtime:
    """Return onnxruntime-web, from the cache or else from npm, which is asked once.

    Args:
        package: The package as ``npm pack`` writes it, where there is no network.
        cache: The folder in which it is kept; by default the user's.

    Raises:
        RuntimeUnavailable: If it cannot be fetched, or its checksum is wrong.
    """
    folder = (cache or user_cache()) / f"onnxruntime-web-{VERSION}"
    script, binary = folder / "ort.js", folder / "ort.wasm.gz"
    if package is None and script.is_file() and binary.is_file():
        return Runtime(script.read_bytes(), binary.read_bytes())
    runtime = _unpack(_fetch() if package is None else _read(package))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, content in ((script, runtime.script), (binary, runtime.binary)):
            with replacing(path) as file:
                file.write(content)
    except OSError:
        pass  # it is only fetched again the next time
    return runtime


def _fetch() -> bytes:
    try:
        with urlopen(_ADDRESS, timeout=_SECONDS) as response:
            return bytes(response.read())
    except (URLError, TimeoutError, ConnectionError) as problem:
        raise RuntimeUnavailable(
            f"onnxruntime-web {VERSION} cannot be fetched from npm ({problem}). Where there is a network, type: "
            f"npm pack onnxruntime-web@{VERSION} and then here: "
            f"sketchhash gallery site OUT --gallery FILE --runtime onnxruntime-web-{VERSION}.tgz"
        ) from problem


def _read(package: Path) -> bytes:
    try:
        return package.read_bytes()
    except OSError as problem:
        raise RuntimeUnavailable(
            f"{package} cannot be read ({problem.strerror}). Type: npm pack onnxruntime-web@{VERSION}"
        ) from problem


def _unpack(package: bytes) -> Runtime:
    if b64encode(sha512(package).digest()).decode() != _INTEGRITY:
        raise RuntimeUnavailable(
            f"This is not the package of onnxruntime-web {VERSION}: its checksum is another. "
            f"Type: npm pack onnxruntime-web@{VERSION} and name the file with --runtime."
        )
    with tarfile.open(fileobj=BytesIO(package)) as archive:
        script, binary = (archive.extractfile(name) for name in (_SCRIPT, _BINARY))
        assert script is not None  # the checksum says that both are there
        assert binary is not None
        return Runtime(script.read(), gzip.compress(binary.read(), mtime=0))
