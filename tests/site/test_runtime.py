import gzip
from urllib.error import URLError

import pytest

from sketchhash.site import RuntimeUnavailable, find_runtime, runtime


def test_a_package_is_unpacked_and_kept_for_the_next_site(package, tmp_path, monkeypatch):
    found = find_runtime(package, cache=tmp_path)
    assert found.script == runtime._SCRIPT.encode()
    assert gzip.decompress(found.binary) == runtime._BINARY.encode()
    monkeypatch.setattr(runtime, "urlopen", None)
    assert find_runtime(cache=tmp_path) == found


def test_it_is_fetched_from_npm_once(package, tmp_path, monkeypatch):
    asked = []

    def urlopen(address, timeout):
        asked.append(address)
        return package.open("rb")

    monkeypatch.setattr(runtime, "urlopen", urlopen)
    assert find_runtime(cache=tmp_path / "cache") == find_runtime(cache=tmp_path / "cache")
    assert asked == [f"https://registry.npmjs.org/onnxruntime-web/-/onnxruntime-web-{runtime.VERSION}.tgz"]


def test_a_package_that_was_changed_is_refused(package, tmp_path):
    package.write_bytes(package.read_bytes()[:-1])
    with pytest.raises(RuntimeUnavailable, match=r"checksum.*npm pack onnxruntime-web@"):
        find_runtime(package, cache=tmp_path)
    assert not list(tmp_path.glob("onnxruntime*"))


def test_without_a_network_it_says_what_to_type(tmp_path, monkeypatch):
    def urlopen(address, timeout):
        raise URLError("no route")

    monkeypatch.setattr(runtime, "urlopen", urlopen)
    with pytest.raises(RuntimeUnavailable, match=r"no route.*npm pack onnxruntime-web@.*--runtime"):
        find_runtime(cache=tmp_path)


def test_a_missing_package_is_named(tmp_path):
    with pytest.raises(RuntimeUnavailable, match=r"none\.tgz cannot be read"):
        find_runtime(tmp_path / "none.tgz", cache=tmp_path)
