"""Health, metrics, the page and the form of errors."""

import re

from fastapi.testclient import TestClient

from sketchhash.server import Access, create_app


def metric(client, name, **labels):
    """Return the value of a metric, by its labels in any order."""
    for line in client.get("/metrics").text.splitlines():
        found = re.fullmatch(r"(\w+)(?:\{(.*)\})? (\S+)", line)
        if found and found[1] == name and dict(re.findall(r'(\w+)="([^"]*)"', found[2] or "")) == labels:
            return float(found[3])
    return 0.0


def test_health_counts_the_photos(client):
    assert client.get("/health").json() == {"status": "ok", "photos": 6}


def test_metrics_count_stages_and_answers(client, strokes):
    for _ in range(3):
        client.post("/api/search", json={"strokes": strokes})
    client.post("/api/search", json={})
    client.get("/api/photos/1/similar")
    assert metric(client, "sketchhash_stage_seconds_count", stage="ink") == 3
    assert metric(client, "sketchhash_stage_seconds_count", stage="encode") == 3
    assert metric(client, "sketchhash_stage_seconds_count", stage="search") == 4
    assert metric(client, "sketchhash_answers_total", route="/api/search", status="200") == 3
    assert metric(client, "sketchhash_answers_total", route="/api/search", status="422") == 1
    assert metric(client, "sketchhash_photos") == 6
    assert metric(client, "sketchhash_work_pending", pool="inference") == 0


def test_what_clients_invent_makes_no_new_metrics(client):
    for number in range(5):
        client.get(f"/invented/{number}")
        client.get(f"/api/photos/{number}/details")
    assert metric(client, "sketchhash_answers_total", route="other", status="404") == 5
    assert "invented" not in client.get("/metrics").text
    assert metric(client, "sketchhash_request_seconds_count", route="/api/photos/{photo_id}/details") == 5


def test_errors_of_the_framework_have_the_same_form(client):
    missing, refused = client.get("/nothing"), client.put("/health")
    assert (missing.status_code, missing.json()["error"]["kind"]) == (404, "not_found")
    assert (refused.status_code, refused.json()["error"]["kind"]) == (405, "method_not_allowed")
    assert refused.headers["allow"] == "GET"


def test_a_gallery_that_was_indexed_with_another_model_is_explained(client, gallery, strokes):
    gallery.rows("UPDATE settings SET value = 'other' WHERE name = 'fingerprint'")
    answer = client.post("/api/search", json={"strokes": strokes})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (503, "incompatible_gallery")


def test_the_description_names_no_page_of_others(client):
    assert client.get("/docs").status_code == 404
    assert client.get("/redoc").status_code == 404
    description = client.get("/openapi.json").json()
    body = description["paths"]["/api/search"]["post"]["requestBody"]["content"]
    assert set(body) == {"application/json", "multipart/form-data"}
    assert body["application/json"]["schema"]["examples"]


def test_the_page_comes_from_the_package(client):
    page = client.get("/")
    assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert page.headers["cache-control"] == "no-cache"
    scripts = re.findall(r'src="([^"]+\.js)"', page.text)
    assert scripts
    for script in scripts:
        assert client.get(f"/{script}").headers["cache-control"] == "no-cache"


def test_a_defect_is_answered_in_the_same_form_and_tells_nothing(service, monkeypatch, strokes):
    def fail(*_):
        raise ZeroDivisionError("/home/someone/secret")

    monkeypatch.setattr(service.finder, "find_by_drawing", fail)
    client = TestClient(create_app(service, Access()), base_url="http://localhost", raise_server_exceptions=False)
    answer = client.post("/api/search", json={"strokes": strokes})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (500, "internal_error")
    assert "secret" not in answer.text
