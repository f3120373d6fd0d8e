"""An assistant searches a gallery, through the client of the protocol's own SDK."""

import json
import os
import sys
from base64 import b64decode, b64encode
from io import BytesIO
from pathlib import Path

import anyio
import pytest
from PIL import Image
from typer.testing import CliRunner

from sketchhash.cli import app
from sketchhash.gallery import GalleryFile, Searcher, index
from sketchhash.server.assistant import MOST_THUMBNAILS

mcp = pytest.importorskip("mcp")

STROKES = [[[0, 0], [80, 10], [40, 70], [0, 0]]]


@pytest.fixture
def photos(tmp_path, paint_photo):
    return [paint_photo(tmp_path / "photos" / name / f"{seed}.jpg", seed) for seed, name in enumerate("aabb")]


@pytest.fixture
def gallery(tmp_path, photos, model):
    place = tmp_path / "photos.gallery"
    with GalleryFile.create(place, model) as opened:
        index(opened, model, [tmp_path / "photos"], labels="folder")
    return place


@pytest.fixture
def ask(gallery, model_folder):
    """Return a function that starts the server as assistants do, and lets a coroutine talk to it."""
    command = [sys.executable, "-m", "sketchhash", "mcp", "--gallery", str(gallery), "--model", str(model_folder)]
    server = mcp.StdioServerParameters(command=command[0], args=command[1:])

    def talk(conversation):
        async def connected():
            # Its messages go to no file of the test's own: pytest has replaced that of standard error.
            with Path(os.devnull).open("w") as nowhere:
                async with mcp.Client(mcp.stdio_client(server, errlog=nowhere)) as client:
                    return await conversation(client)

        return anyio.run(connected)

    return talk


def parts(result):
    assert not result.is_error, result.content
    text, *pictures = result.content
    return json.loads(text.text), pictures


def complaint(result):
    assert result.is_error
    (text,) = result.content
    return text.text


def test_an_assistant_sees_four_tools_that_only_read(ask):
    async def conversation(client):
        return (await client.list_tools()).tools

    tools = ask(conversation)
    names = {"search_by_strokes", "search_by_picture", "similar_photos", "gallery_info"}
    assert {tool.name for tool in tools} == names
    assert all(tool.annotations.read_only_hint and tool.description for tool in tools)


def test_an_assistant_finds_what_a_search_finds(ask, gallery, model, photos):
    async def conversation(client):
        drawn = await client.call_tool("search_by_strokes", {"strokes": STROKES, "k": 3, "thumbnails": 2})
        info = await client.call_tool("gallery_info")
        alike = await client.call_tool("similar_photos", {"photo_id": 1, "label": "b"})
        picture = await client.call_tool("search_by_picture", {"path": str(photos[2]), "kind": "photo", "k": 1})
        sent = b64encode(photos[2].read_bytes()).decode()
        same = await client.call_tool("search_by_picture", {"base64": sent, "k": 1})
        below = await client.call_tool("search_by_strokes", {"strokes": STROKES, "folder": str(photos[0].parent)})
        return drawn, info, alike, picture, same, below

    drawn, info, alike, picture, same, below = ask(conversation)
    with GalleryFile.open(gallery, model) as opened:
        searcher = Searcher(model, opened)
        expected = searcher.search(STROKES, 3)
        answer, pictures = parts(drawn)
        assert [(hit["id"], hit["path"]) for hit in answer["hits"]] == [(hit.id, str(hit.path)) for hit in expected]
        assert [b64decode(each.data) for each in pictures] == [opened.thumbnail(hit.id) for hit in expected[:2]]
        assert {each.mime_type for each in pictures} == {"image/jpeg"}
    about = parts(info)[0]
    assert (about["photos"], about["labels"], about["model"]) == (4, {"a": 2, "b": 2}, "tiny")
    assert {hit["label"] for hit in parts(alike)[0]["hits"]} == {"b"}
    assert parts(picture)[0]["hits"][0]["path"] == str(photos[2])
    assert parts(same)[0]["hits"][0]["path"] == str(photos[2])
    assert {hit["path"] for hit in parts(below)[0]["hits"]} == {str(photo) for photo in photos[:2]}


def test_what_an_assistant_cannot_ask_is_refused_with_the_reason(ask, tmp_path):
    bomb = BytesIO()
    Image.new("1", (9000, 9000)).save(bomb, "PNG")
    (tmp_path / "bomb.png").write_bytes(bomb.getvalue())
    (tmp_path / "text.png").write_text("no picture")
    asked = {
        "of both": ("search_by_picture", {}),
        "base64": ("search_by_picture", {"base64": "?"}),
        "No such file": ("search_by_picture", {"path": str(tmp_path / "gone.jpg")}),
        "Is a directory": ("search_by_picture", {"path": str(tmp_path)}),
        "pixels": ("search_by_picture", {"path": str(tmp_path / "bomb.png")}),
        "Cannot read": ("search_by_picture", {"path": str(tmp_path / "text.png")}),
        "no photo with the id 99": ("similar_photos", {"photo_id": 99}),
        "less than or equal to 500": ("search_by_strokes", {"strokes": STROKES, "k": 501}),
        f"equal to {MOST_THUMBNAILS}": ("search_by_strokes", {"strokes": STROKES, "thumbnails": 99}),
        "at least 1 item": ("search_by_strokes", {"strokes": []}),
        "strokes.0.0.0": ("search_by_strokes", {"strokes": [[["left", 0]]]}),
    }

    async def conversation(client):
        answers = [await client.call_tool(name, arguments) for name, arguments in asked.values()]
        return answers, await client.call_tool("search_by_strokes", {"strokes": STROKES})

    answers, afterwards = ask(conversation)
    for reason, answer in zip(asked, answers, strict=True):
        assert reason in complaint(answer)
    assert len(parts(afterwards)[0]["hits"]) == 4


def test_it_ends_with_its_input(gallery, model_folder):
    result = CliRunner().invoke(app, ["mcp", "--gallery", str(gallery), "--model", str(model_folder)], input="")
    assert result.exit_code == 0, result.output
    assert "4 photos" in result.stderr
    assert result.stdout == ""


def test_without_the_package_it_says_what_to_install(gallery, monkeypatch):
    monkeypatch.setitem(sys.modules, "mcp", None)
    result = CliRunner().invoke(app, ["mcp", "--gallery", str(gallery)])
    assert result.exit_code == 1
    assert "[mcp]" in result.stderr
