"""Thumbnails beside Milvus: as files in a folder, and as objects in storage that speaks the protocol of S3."""

import re

import numpy as np
import pytest
from PIL import Image

from sketchhash.engines import create_gallery, open_gallery
from sketchhash.engines.thumbnail_stores import FileThumbnails
from sketchhash.errors import BadArgument, EngineProblem
from sketchhash.gallery import index

fsspec = pytest.importorskip("fsspec")

in_every_storage = pytest.mark.parametrize("storage", ["folder", "objects"])


@pytest.fixture
def objects(object_storage, monkeypatch, request):
    """Return the URL of an empty bucket."""
    for name, value in object_storage.settings.items():
        monkeypatch.setenv(name, value)
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    bucket = re.sub("[^a-z]+", "-", request.node.name)[-60:].strip("-")
    fsspec.filesystem("s3").mkdir(bucket)
    yield f"s3://{bucket}/small"
    fsspec.get_filesystem_class("s3").clear_instance_cache()


@pytest.fixture
def url(storage, request, tmp_path):
    return request.getfixturevalue("objects") if storage == "objects" else (tmp_path / "small").as_uri()


def stored(url):
    """Return the contents of all files below a URL."""
    files, root = fsspec.url_to_fs(url)
    files.invalidate_cache()
    return [files.cat_file(path) for path in files.find(root)]


@in_every_storage
def test_what_is_put_is_there_until_it_is_removed(url):
    store = FileThumbnails(url)
    assert store.get([1, 2]) == {}
    pictures = {number: bytes([number % 256]) * number for number in (1, 2, 1001, 5000)}
    store.put(pictures)
    store.put({1: b"another"})
    assert FileThumbnails(url).get([1, 2, 3, 1001, 5000]) == {**pictures, 1: b"another"}
    store.remove([1, 3, 5000])
    assert store.get([1, 2, 1001, 5000]) == {2: pictures[2], 1001: pictures[1001]}
    assert sorted(stored(url)) == sorted([pictures[2], pictures[1001]])


def test_a_bucket_that_is_not_there_is_made(objects):
    another = objects.replace("s3://", "s3://another-")
    FileThumbnails(another).put({1: b"jpeg"})
    assert stored(another) == [b"jpeg"]


def test_storage_that_is_away_is_a_clear_error(objects, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    fsspec.get_filesystem_class("s3").clear_instance_cache()
    away = FileThumbnails(objects)
    for ask in (lambda: away.get([1]), lambda: away.put({2: b"jpeg"}), lambda: away.remove([1])):
        with pytest.raises(EngineProblem, match="storage of thumbnails"):
            ask()


@in_every_storage
def test_thumbnails_may_lie_beside_milvus(url, storage, milvus_server, model, tmp_path):
    name = f"with_{storage}"
    plain = milvus_server.address(name, timeout=60)
    path = tmp_path / "photos" / "a.png"
    path.parent.mkdir()
    pixels = np.random.default_rng(1).integers(0, 256, (6, 8, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(path)
    with create_gallery(milvus_server.address(name, timeout=60, thumbnails=url), model) as gallery:
        index(gallery, model, [path.parent])
        ((row,),) = gallery.pages()
        assert stored(url) == [gallery.thumbnail(row.photo.id)]
        with open_gallery(plain, latest=True) as elsewhere:  # the gallery knows where they are
            assert [elsewhere.thumbnail(row.photo.id)] == stored(url)
        with pytest.raises(BadArgument, match="cannot be changed"):
            create_gallery(milvus_server.address(name, thumbnails="file:///elsewhere"), model)
        path.unlink()
        assert index(gallery, model, [path.parent], prune=True).removed == 1
        assert stored(url) == []


def test_a_kind_of_storage_that_does_not_exist_is_refused(milvus_server, model):
    with pytest.raises(BadArgument, match="cannot be kept at nothing://"):
        create_gallery(milvus_server.address("nowhere", thumbnails="nothing://there"), model)
