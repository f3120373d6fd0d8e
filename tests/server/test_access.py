"""Who may ask: hosts, pages of other sites, tokens and sessions."""

import socket
from ipaddress import ip_address

import pytest
from fastapi.testclient import TestClient

from sketchhash.errors import BadArgument
from sketchhash.server import Access, access, create_app

TOKEN = "0123456789abcdef"
GUARDED = [
    "/api/addresses",
    "/api/gallery",
    "/api/gallery/map",
    "/api/photos/1",
    "/api/photos/1/thumbnail",
    "/metrics",
    "/api/nothing",
]


@pytest.fixture
def guarded(client_for, service):
    return client_for(service, Access(TOKEN))


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8765", "127.0.0.1", "127.0.0.1:80", "[::1]:8765", "10.0.0.7"])
def test_the_service_goes_by_addresses_and_its_name(client, host):
    assert client.get("/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example:8765",
        "",
        "[evil",
        "0.0.0.0",
        "0.0.0.0:8765",
        "[::]:8765",
        "[::ffff:0.0.0.0]",
        "0",
    ],
)
def test_a_name_that_was_pointed_here_by_others_is_not_answered(client, host):
    for path in ("/", "/health", "/api/gallery", "/static/main.js"):
        answer = client.get(path, headers={"Host": host})
        assert (answer.status_code, answer.json()["error"]["kind"]) == (400, "unknown_host")


def test_names_can_be_allowed(client_for, service):
    client = client_for(service, Access(hosts=frozenset({"photos.example"})))
    assert client.get("/health", headers={"Host": "photos.example."}).status_code == 200
    assert client.get("/health", headers={"Host": "localhost"}).status_code == 400


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_pages_of_other_sites_may_not_ask(client, site, strokes):
    answer = client.post("/api/search", json={"strokes": strokes}, headers={"Sec-Fetch-Site": site})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (400, "foreign_page")
    assert client.get("/health", headers={"Sec-Fetch-Site": site}).status_code == 200


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://localhost.evil.example",
        "http://localhost:3000",
        "http://127.0.0.1",
        "http://evil.example@localhost",
        "http://localhost@evil.example",
        "null",
        "",
        "localhost",
        "http://[localhost",
        "http://localhost:port",
    ],
)
def test_an_origin_of_another_site_is_enough_to_be_refused(client, origin, strokes):
    for path, body in (("/api/search", {"strokes": strokes}), ("/api/session", None)):
        answer = client.post(path, json=body, headers={"Origin": origin})
        assert (answer.status_code, answer.json()["error"]["kind"]) == (400, "foreign_page")
    assert client.get("/api/gallery", headers={"Origin": origin}).status_code == 200


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost", "http://localhost"),
        ("localhost", "http://localhost:80"),
        ("127.0.0.1:8765", "http://127.0.0.1:8765"),
        ("LOCALHOST:8765", "http://localhost:8765"),
        ("[::1]:8765", "http://[::1]:8765"),
        ("photos.example", "https://photos.example"),
        ("photos.example:443", "https://photos.example"),
        ("127.0.0.1:8765", "https://photos.example"),  # a proxy that names the service by its own address
    ],
)
def test_the_pages_own_origin_may_ask(client_for, service, host, origin, strokes):
    client = client_for(service, Access(hosts=frozenset({"localhost", "photos.example"})))
    answer = client.post("/api/search", json={"strokes": strokes}, headers={"Host": host, "Origin": origin})
    assert answer.status_code == 200


def test_a_name_that_is_only_this_machines_is_no_origin_of_its_own(client_for, service, strokes):
    client = client_for(service, Access(hosts=frozenset({"localhost", "10.0.0.7", "photos.example"})))
    for origin in ("http://localhost", "http://10.0.0.7", "https://photos.example:8443"):
        headers = {"Host": "127.0.0.1:8765", "Origin": origin}
        assert client.post("/api/search", json={"strokes": strokes}, headers=headers).status_code == 400


def test_no_site_is_told_that_it_may_read_answers(client, strokes):
    origin = {"Origin": "https://evil.example"}
    preflight = {**origin, "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "content-type"}
    for answer in (
        client.options("/api/search", headers=preflight),
        client.post("/api/search", json={"strokes": strokes}, headers=origin),
    ):
        assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer wrong"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": TOKEN},
        {"Authorization": "Bearer \xe9".encode("latin-1")},
        {"Cookie": f"sketchhash={TOKEN}"},
    ],
)
def test_without_the_token_nothing_is_told(guarded, headers):
    for path in GUARDED:
        answer = guarded.get(path, headers=headers)
        assert (answer.status_code, answer.json()["error"]["kind"]) == (401, "unauthorised")
        assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("path", ["/health", "/openapi.json"])
def test_health_and_the_description_need_no_token(guarded, path):
    assert guarded.get(path).status_code == 200


def test_the_token_opens_the_gallery(guarded):
    assert guarded.get("/api/gallery", headers={"Authorization": f"bearer {TOKEN}"}).status_code == 200


def test_a_session_lets_images_through(guarded):
    assert guarded.post("/api/session").status_code == 401
    opened = guarded.post("/api/session", headers={"Authorization": f"Bearer {TOKEN}"})
    assert opened.status_code == 204
    cookie = opened.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert guarded.get("/api/photos/1/thumbnail").status_code == 200


def test_a_session_of_another_token_is_worth_nothing(guarded, client_for, service):
    other = client_for(service, Access("another-long-token"))
    opened = other.post("/api/session", headers={"Authorization": "Bearer another-long-token"})
    cookie = opened.headers["set-cookie"].partition(";")[0]
    assert guarded.get("/api/gallery", headers={"Cookie": cookie}).status_code == 401


def test_without_a_token_there_is_no_session_to_open(client):
    opened = client.post("/api/session")
    assert opened.status_code == 204
    assert "set-cookie" not in opened.headers


@pytest.mark.parametrize(
    "token", ["", "short", "with a space in the middle", "ünïcode-ünïcode-ünïcode", "line\nbreak" * 3]
)
def test_a_token_that_would_not_protect_is_refused(token):
    with pytest.raises(BadArgument, match="SKETCHHASH_TOKEN"):
        Access(token)


def test_every_answer_has_the_headers_that_keep_others_out(client, id_of):
    for path in ("/health", f"/api/photos/{id_of('f.png')}", "/nothing", "/api/photos/0"):
        headers = client.get(path).headers
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert headers["cache-control"]
    assert client.get("/health").headers["cache-control"] == "no-store"
    assert "frame-ancestors" in client.get("/", headers={"Host": "evil.example"}).headers["content-security-policy"]


def test_a_service_on_all_addresses_names_those_that_a_phone_can_open(monkeypatch):
    monkeypatch.setattr(access, "own_addresses", lambda: ["192.168.1.5", "10.0.0.7"])
    everywhere = Access(TOKEN)
    assert everywhere.addresses_elsewhere("0.0.0.0", 8765) == [
        f"http://192.168.1.5:8765/#token={TOKEN}",
        f"http://10.0.0.7:8765/#token={TOKEN}",
    ]
    assert everywhere.address("0.0.0.0", 8765) == f"http://localhost:8765/#token={TOKEN}"
    assert everywhere.addresses_elsewhere("192.168.1.5", 80) == [f"http://192.168.1.5:80/#token={TOKEN}"]
    assert everywhere.addresses_elsewhere("127.0.0.1", 80) == []


def test_a_machine_without_a_network_is_called_by_its_name(monkeypatch):
    monkeypatch.setattr(access, "own_addresses", list)
    assert Access().addresses_elsewhere("0.0.0.0", 80) == [f"http://{socket.gethostname()}:80/"]


def test_own_addresses_are_no_loopback():
    assert all(not ip_address(each).is_loopback for each in access.own_addresses())


def test_the_page_learns_its_addresses_elsewhere(service):
    address = "http://192.168.1.5:8765/"
    app = create_app(service, Access(), addresses=[address, f"http://{'long' * 40}:8765/"])
    (only,) = TestClient(app, base_url="http://localhost").get("/api/addresses").json()
    assert only["address"] == address
    assert only["qr"].startswith("M") and only["side"] == 33
