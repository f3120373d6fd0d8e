"""Drawings over HTTP: their SVG without what is dangerous, from files and from packs, and their names as words."""

import json

import pytest

from sketchhash.gallery import index_events

pytest.importorskip("resvg_py")

OPEN = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">'
SQUARE = '<path d="M2 2h20v20h-20z"/>'


@pytest.fixture
def drawn(gallery, model, photos):
    """Add an SVG with a script, and a pack with one icon; return their ids by name."""
    (photos / "evil.svg").write_text(f"{OPEN}<script>alert(1)</script>{SQUARE}</svg>")
    pack = {"prefix": "test", "width": 24, "height": 24, "icons": {"arrow-left": {"body": SQUARE}}}
    (photos / "icons.json").write_text(json.dumps({**pack, "categories": {"Pointing": ["arrow-left"]}}))
    list(index_events(gallery, model, [photos]))
    return {photo.path.name: photo.id for photo in gallery.photos() if photo.kind == "drawing"}


def test_an_svg_comes_as_text_without_its_script(client, drawn):
    answer = client.get(f"/api/photos/{drawn['evil.svg']}/svg")
    assert answer.headers["content-type"] == "application/json"
    assert "script" not in answer.json()["svg"] and 'd="M2 2h20v20h-20z"' in answer.json()["svg"]


def test_a_drawing_of_a_pack_comes_like_a_file_of_its_own(client, drawn):
    assert 'd="M2 2h20v20h-20z"' in client.get(f"/api/photos/{drawn['arrow-left']}/svg").json()["svg"]


@pytest.mark.parametrize("name", ["evil.svg", "arrow-left"])
def test_the_picture_of_an_svg_is_a_jpeg_so_that_nothing_in_it_can_run(client, drawn, name):
    answer = client.get(f"/api/photos/{drawn[name]}")
    assert answer.headers["content-type"] == "image/jpeg"
    assert client.get(f"/api/photos/{drawn[name]}/details").status_code == 200


def test_a_photo_has_no_svg_and_a_changed_pack_has_none_either(client, drawn, id_of, photos):
    assert client.get(f"/api/photos/{id_of('f.png')}/svg").status_code == 404
    (photos / "icons.json").write_text('{"prefix": "test", "icons": {}}')
    answer = client.get(f"/api/photos/{drawn['arrow-left']}/svg")
    assert answer.status_code == 404
    assert "Index its pack again" in answer.json()["error"]["message"]


def test_words_mean_drawings_by_their_names_and_find_them(client, drawn):
    assert {"category": "arrow left"} in client.get("/api/categories", params={"word": "arrow"}).json()
    answer = client.post("/api/search/category", json={"category": "arrow left"}).json()
    assert [(hit["name"], hit["kind"]) for hit in answer["hits"]] == [("arrow-left", "drawing")]


def test_a_tag_means_itself_and_finds_the_drawings_that_have_it(client, drawn):
    assert client.get("/api/categories", params={"word": "pointing"}).json() == [{"category": "pointing"}]
    answer = client.post("/api/search/category", json={"category": "pointing"}).json()
    assert [hit["name"] for hit in answer["hits"]] == ["arrow-left"]


def test_the_gallery_counts_its_drawings(client, drawn):
    assert client.get("/api/gallery").json()["drawings"] == 2
