"""``sketchhash gallery copy`` and ``serve`` with engines."""

import warnings

import pytest

from sketchhash.server import Access, create_app, open_service

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Starlette would rather have httpx2, which schemathesis does not use
    from fastapi.testclient import TestClient


def test_a_gallery_is_copied_and_served(run, gallery, tmp_path, postgres_server, model_folder):
    address = postgres_server.address("by_verb", timeout=60)
    assert run("gallery", "copy", address, "--gallery", gallery).stdout == "5 written, 0 removed, 0 unchanged\n"
    assert run("gallery", "copy", address, "--gallery", gallery).stdout == "0 written, 0 removed, 5 unchanged\n"
    back = tmp_path / "back.gallery"
    assert run("gallery", "copy", back, "--gallery", address).exit_code == 0
    exported = [run("gallery", "export", "--gallery", place, "--format", "jsonl").stdout for place in (gallery, back)]
    assert exported[0] == exported[1]

    strokes = {"strokes": [[[0, 0], [9, 0], [9, 9]]], "k": 3, "label": "dog"}
    answers = [ask(place, model_folder, strokes) for place in (str(gallery), address)]
    assert answers[0] == answers[1]


def ask(place, model_folder, strokes):
    """Give what a service tells about a gallery: a search, its numbers and a thumbnail."""
    with open_service(place, model_folder) as service:
        client = TestClient(create_app(service, Access(hosts=frozenset({"testserver"}))))
        found = client.post("/api/search", json=strokes).json()
        told = client.get("/api/gallery").json()
        first = found["hits"][0]["id"]
        thumbnail = client.get(f"/api/photos/{first}/thumbnail").content
        similar = client.get(f"/api/photos/{first}/similar").json()["hits"]
        health = client.get("/health").json()
    whole = {name: told[name] for name in ("photos", "labels", "folders", "last_indexed")}
    return found["hits"], found["verdict"], whole, thumbnail, similar, health


def test_a_service_says_that_its_engine_is_gone(run, gallery, postgres_server, model_folder):
    address = postgres_server.address("gone", timeout=60)
    run("gallery", "copy", address, "--gallery", gallery)
    with open_service(f"{address}&timeout=10", model_folder) as service:
        client = TestClient(create_app(service, Access(hosts=frozenset({"testserver"}))))
        postgres_server.kill()
        answer = client.post("/api/search", json={"strokes": [[[0, 0], [9, 9]]]})
        assert (answer.status_code, answer.json()["error"]["kind"]) == (503, "engine_problem")
        assert client.get("/health").json() == {"status": "ok", "photos": 5}
        postgres_server.start()
        assert client.post("/api/search", json={"strokes": [[[0, 0], [9, 9]]]}).status_code == 200


@pytest.mark.parametrize("verb", [["gallery", "verify"], ["gallery", "export"], ["index", "."]])
def test_verbs_say_that_no_engine_is_there(run, verb):
    told = run(*verb, "--gallery", "postgresql://me:secret@127.0.0.1:1/photos?timeout=2")
    assert told.exit_code == 1
    assert "see that it runs and can be reached" in told.stderr
    assert "secret" not in told.output
