"""Searching over HTTP: by strokes, by pictures (also hostile ones) by category and by photos."""

import io
import struct
import time
import zlib
from dataclasses import replace
from datetime import datetime
from functools import partial

import numpy as np
import pytest
from PIL import Image, ImageDraw

from sketchhash.codes import hamming, pack, unpack
from sketchhash.gallery import Searcher, index_events
from sketchhash.imaging import Drawing
from sketchhash.imaging.details import Details
from sketchhash.server.limits import WorkPool


def search(client, **query):
    answer = client.post("/api/search", json=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def send(client, content, **fields):
    return client.post("/api/search", files={"picture": ("x.png", content)}, data=fields)


def test_strokes_find_photos_whose_bits_agree_with_the_values_of_the_drawing(client, strokes, model, gallery):
    found = search(client, strokes=strokes, k=3)
    (values,) = model.encode_drawing(Drawing.from_json(strokes))
    code = pack(values[np.newaxis])
    codes = {photo.id: np.frombuffer(gallery.code(photo.id), np.uint8)[None] for photo in gallery.photos()}
    best = sorted(codes, key=lambda photo: -float(unpack(codes[photo])[0] @ values))[:3]
    assert [hit["id"] for hit in found["hits"]] == best
    assert [hit["distance"] for hit in found["hits"]] == [int(hamming(code, codes[photo])[0, 0]) for photo in best]
    assert (found["code"], found["bits"], found["photos"]) == (code.tobytes().hex(), 32, 6)


def test_http_and_python_find_the_same_hits_in_the_same_order(client, strokes, photos, model, gallery):
    searcher = Searcher(model, gallery)
    content = (photos / "2024/winter/d.png").read_bytes()
    first = searcher.search(strokes, 1)[0].id
    pairs = [
        (searcher.search(strokes, 4), search(client, strokes=strokes, k=4)),
        (searcher.search(content, 4, kind="photo"), send(client, content, kind="photo", k="4").json()),
        (searcher.similar(first, 4), client.get(f"/api/photos/{first}/similar", params={"k": 4}).json()),
    ]
    for expected, found in pairs:
        assert [(hit["id"], hit["distance"]) for hit in found["hits"]] == [(hit.id, hit.distance) for hit in expected]


def test_the_description_says_that_hits_are_ranked_by_the_values_of_the_query(client):
    described = client.get("/openapi.json").json()["components"]["schemas"]["SearchAnswer"]["description"]
    assert "real values" in described and "distances need not rise" in described


def test_hits_say_where_they_lie_below_the_folder_that_all_photos_share(client, strokes):
    found = search(client, strokes=strokes)
    places = {(hit["folder"], hit["name"], hit["label"]) for hit in found["hits"]}
    assert ("2024/summer", "b.png", "summer") in places
    assert ("", "f.png", "photos") in places
    assert len(places) == 6


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({"folder": "2024"}, {"b.png", "c.png", "d.png", "e.bmp"}),
        ({"folder": "2024/summer"}, {"b.png", "c.png"}),
        ({"folder": "/2024/summer/"}, {"b.png", "c.png"}),
        ({"label": "winter"}, {"d.png", "e.bmp"}),
        ({"folder": "2023", "label": "winter"}, set()),
        ({"folder": "../../../etc"}, set()),
        ({"folder": "2024/\x00"}, set()),
    ],
)
def test_a_search_can_be_narrowed_down(client, strokes, wanted, names):
    assert {hit["name"] for hit in search(client, strokes=strokes, **wanted)["hits"]} == names


def test_a_search_tells_how_long_its_stages_took(client, strokes):
    answer = client.post("/api/search", json={"strokes": strokes})
    timings = answer.json()["timings_ms"]
    assert timings["total"] >= timings["ink"] + timings["encode"] + timings["search"] - 0.03 > 0
    assert answer.headers["server-timing"].startswith(f"ink;dur={timings['ink']}, encode;dur=")


def test_a_photo_that_is_sent_again_is_found_at_no_distance(client, photos):
    found = send(client, (photos / "2024/winter/d.png").read_bytes(), kind="photo", k="2").json()
    assert (found["hits"][0]["name"], found["hits"][0]["distance"]) == ("d.png", 0)
    assert len(found["hits"]) == 2


def test_a_picture_of_a_sketch_gets_the_code_of_a_sketch(client, tmp_path, paint_sketch, model):
    content = paint_sketch(tmp_path / "sketch.png").read_bytes()
    as_sketch, as_photo = (send(client, content, kind=kind, label="").json() for kind in ("sketch", "photo"))
    assert as_sketch["code"] != as_photo["code"]
    assert as_sketch["timings_ms"]["encode"] > 0


def test_similar_photos_leave_the_photo_itself_out(client, id_of):
    found = client.get(f"/api/photos/{id_of('f.png')}/similar", params={"k": 5}).json()
    assert len(found["hits"]) == 5
    assert id_of("f.png") not in {hit["id"] for hit in found["hits"]}


def test_similar_photos_can_be_narrowed_down(client, id_of):
    found = client.get(f"/api/photos/{id_of('f.png')}/similar", params={"folder": "2024", "label": "summer"}).json()
    assert {hit["name"] for hit in found["hits"]} == {"b.png", "c.png"}


def test_copies_of_a_photo_are_counted_and_can_be_asked_for(client, id_of, gallery, model, photos, paint_photo):
    paint_photo(photos / "f copy.png", 99)
    (photos / "f copy.png").write_bytes(next(photos.rglob("f.png")).read_bytes() + b"\0")
    list(index_events(gallery, model, [photos]))
    found = client.get(f"/api/photos/{id_of('2023/a.png')}/similar", params={"k": 6}).json()["hits"]
    counts = {hit["name"]: hit["copies"] for hit in found}
    assert sorted(filter(None, (counts.get("f.png"), counts.get("f copy.png")))) == [1]
    (copy,) = client.get(f"/api/photos/{id_of('f.png')}/copies").json()
    assert (copy["name"], copy["copy_of"], copy["distance"]) == ("f copy.png", id_of("f.png"), 0)
    assert client.get(f"/api/photos/{id_of('2023/a.png')}/copies").json() == []
    assert client.get("/api/photos/999/copies").status_code == 404


def test_photos_indexed_meanwhile_are_found(client, strokes, gallery, model, photos, paint_photo):
    assert search(client, strokes=strokes)["photos"] == 6
    paint_photo(photos / "new.jpg", 99)
    list(index_events(gallery, model, [photos]))
    found = search(client, strokes=strokes)
    assert found["photos"] == 7
    assert "new.jpg" in {hit["name"] for hit in found["hits"]}


def test_an_empty_gallery_finds_nothing_and_says_so(client, strokes, gallery, photos):
    gallery.remove([photos])
    found = search(client, strokes=strokes)
    assert (found["hits"], found["photos"], found["verdict"]) == ([], 0, "unsure")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({}, "strokes"),
        ({"strokes": []}, "strokes"),
        ({"strokes": [[]]}, "draw something first"),
        ({"strokes": [[[1]]]}, "strokes.0.0"),
        ({"strokes": [[[1, "2"]]]}, "strokes.0.0.1"),
        ({"strokes": [[[1, 1e10]]]}, "strokes.0.0.1"),
        ({"strokes": [[[1, True]]]}, "strokes.0.0.1"),
        ({"strokes": [[[1, 2]]] * 2001}, "2000"),
        ({"strokes": [[[1, 2]] * 10_001] * 2}, "20,000 points"),
        ({"strokes": [[[1, 2]]], "k": 0}, "k: "),
        ({"strokes": [[[1, 2]]], "k": 501}, "500"),
        ({"strokes": [[[1, 2]]], "speed": 1}, "speed"),
        ([], "The request"),
    ],
)
def test_a_drawing_that_cannot_be_used_is_explained(client, body, reason):
    answer = client.post("/api/search", json=body)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (422, "bad_argument")
    assert reason in answer.json()["error"]["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[" * 100_000, b'{"strokes": [[[NaN, 1]]]}', b"\xff\xfe", b'"\\ud800"'])
def test_broken_json_is_explained(client, body):
    answer = client.post("/api/search", content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (422, "bad_argument")
    assert len(answer.text) < 500


def repeated(item, times):
    return b",".join([item] * times)


FLOODS = {
    "numbers for points": b'{"strokes":[%s]}' % repeated(b"[%s]" % repeated(b"1", 19_990), 49),
    "points of one number": b'{"strokes":[%s]}' % repeated(b"[%s]" % repeated(b"[1]", 19_990), 24),
    "numbers for strokes": b'{"strokes":[%s]}' % repeated(b"1", 980_000),
    "points of text": b'{"strokes":[%s]}' % repeated(b'[["a","b"]]', 1999),
    "unknown names": b"{%s}" % b",".join(b'"%x":1' % number for number in range(190_000)),
    "some unknown names": b"{%s}" % b",".join(b'"%x":1' % number for number in range(5000)),
    "a long number": b'{"strokes":[[[%s,1]]]}' % (b"1" * 1_900_000),
    "a long label": b'{"strokes":[[[1,1]]],"label":"%s"}' % (b"x" * 1_900_000),
}


@pytest.mark.parametrize("body", FLOODS.values(), ids=FLOODS)
def test_json_that_is_wrong_in_many_places_costs_little(client, body):
    send_json = partial(client.post, "/api/search", content=body, headers={"Content-Type": "application/json"})
    assert send_json().status_code == 422
    before = time.process_time()
    answer = send_json()
    assert time.process_time() - before < 0.25
    assert (answer.json()["error"]["kind"], len(answer.text) < 500) == ("bad_argument", True)


def test_json_is_read_where_searches_run_and_not_on_the_event_loop(service, client_for):
    full = WorkPool("full", threads=1, queue=-1)
    assert client_for(replace(service, inference=full)).post("/api/search", json={"wrong": 1}).status_code == 503
    full.close()


def test_a_drawing_of_the_most_points_can_be_searched_for(client):
    stroke = [[number * 0.123, 511 - number * 0.123] for number in range(10)]
    assert search(client, strokes=[stroke] * 2000, k=500, label="a,b:" * 250, folder="c,d:" * 1000)["hits"] == []


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "image/png", ""])
def test_other_types_of_bodies_are_not_read(client, content_type):
    answer = client.post("/api/search", content=b"strokes", headers={"Content-Type": content_type})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (415, "unsupported_content")


def huge_png(width, height):
    """Write a PNG whose header promises more than its few bytes hold."""

    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + pixels + chunk(b"IEND", b"")


def jpeg():
    file = io.BytesIO()
    Image.effect_noise((64, 64), 50).save(file, "JPEG")
    return file.getvalue()


HOSTILE = {
    "empty": b"",
    "text": b"<script>alert(1)</script>",
    "svg": b"<svg xmlns='http://www.w3.org/2000/svg'><image href='file:///etc/passwd'/></svg>",
    "postscript": b"%!PS-Adobe-3.0 EPSF-3.0\n(/etc/passwd) (r) file",
    "truncated jpeg": jpeg()[:300],
    "bomb": huge_png(30_000, 30_000),
    "larger than any picture": huge_png(2**31 - 1, 2**31 - 1),
    "wide": huge_png(50_000_001, 1),
    "no pixels": huge_png(0, 0),
    "zip": b"PK\x03\x04" + bytes(100),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_picture_that_cannot_be_read_safely_is_explained(client, content):
    for kind in ("photo", "sketch"):
        answer = send(client, content, kind=kind)
        assert (answer.status_code, answer.json()["error"]["kind"]) == (422, "unreadable_image")
        message = answer.json()["error"]["message"]
        assert message.startswith("Cannot read the picture: ")
        assert message.endswith("Send another picture, such as a JPEG or PNG.")


def test_an_empty_page_is_no_sketch(client, png):
    answer = send(client, png(colour=(255, 255, 255)), kind="sketch")
    assert (answer.status_code, answer.json()["error"]["kind"]) == (422, "unreadable_image")
    assert "no ink" in answer.json()["error"]["message"]


def test_a_form_without_a_file_is_explained(client):
    for options in ({"files": {"other": b"x"}}, {"data": {"picture": "text"}, "files": {"x": b""}}):
        answer = client.post("/api/search", **options)
        assert (answer.status_code, answer.json()["error"]["kind"]) == (422, "bad_argument")


@pytest.mark.parametrize("fields", [{"k": "many"}, {"k": "0"}, {"kind": "film"}, {"label": "x" * 2000}])
def test_fields_that_cannot_be_used_are_explained(client, png, fields):
    answer = send(client, png(), **fields)
    assert (answer.status_code, answer.json()["error"]["kind"]) == (422, "bad_argument")
    assert next(iter(fields)) in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "body",
    [b"", b"--x", b"--x\r\nContent-Disposition: form-data\r\n\r\n", b"garbage", b"--x\r\n" + b"a" * 20_000],
)
def test_a_broken_form_is_explained(client, body):
    answer = client.post("/api/search", content=body, headers={"Content-Type": "multipart/form-data; boundary=x"})
    assert answer.status_code in (400, 422)
    assert answer.json()["error"]["message"]


def test_a_form_without_a_boundary_is_explained(client):
    answer = client.post("/api/search", content=b"x", headers={"Content-Type": "multipart/form-data"})
    assert answer.status_code == 400


@pytest.mark.parametrize("charset", ["punycode", "idna", "rot13", "hex", "undefined", "utf-16", "nothing", "\xe9"])
def test_a_form_in_a_strange_charset_is_explained(client, png, charset):
    kind = f'multipart/form-data; boundary=x; charset="{charset}"'.encode("latin-1")
    head = b'--x\r\nContent-Disposition: form-data; name="picture"; filename="abc-!!.png"\r\n\r\n'
    field = b'--x\r\nContent-Disposition: form-data; name="label"\r\n\r\nabc-!!\r\n'
    answer = client.post("/api/search", content=field + head + png() + b"\r\n--x--\r\n", headers={"Content-Type": kind})
    assert (answer.status_code, answer.json()["error"]["kind"]) == (415, "unsupported_content")
    assert "UTF-8" in answer.json()["error"]["message"]


@pytest.mark.parametrize("charset", ["utf-8", "UTF-8", '"utf8"', "us-ascii"])
def test_a_form_in_a_usual_charset_is_read(client, png, charset):
    head = b'--x\r\nContent-Disposition: form-data; name="picture"; filename="a.png"\r\n\r\n'
    kind = f"multipart/form-data; boundary=x; Charset={charset}"
    answer = client.post("/api/search", content=head + png() + b"\r\n--x--\r\n", headers={"Content-Type": kind})
    assert answer.status_code == 200


def test_fields_that_are_not_utf8_are_explained(client, png):
    field = b'--x\r\nContent-Disposition: form-data; name="label"\r\n\r\n\xff\r\n'
    head = b'--x\r\nContent-Disposition: form-data; name="picture"; filename="a.png"\r\n\r\n'
    kind = "multipart/form-data; boundary=x"
    answer = client.post("/api/search", content=field + head + png() + b"\r\n--x--\r\n", headers={"Content-Type": kind})
    assert answer.status_code in (200, 400, 422)


def test_a_form_of_many_files_or_fields_is_refused(client, png):
    files = [("picture", png()), ("more", png())]
    assert client.post("/api/search", files=files).status_code == 400
    assert send(client, png(), **{f"field{number}": "x" for number in range(20)}).status_code == 400


def test_the_service_goes_on_after_all_this(client, png):
    for content in HOSTILE.values():
        send(client, content)
    assert send(client, png()).status_code == 200


def test_a_model_without_calibration_is_unsure_and_names_no_chance(client, strokes):
    found = search(client, strokes=strokes)
    assert (found["verdict"], found["chance"], found["guesses"]) == ("unsure", None, [])
    assert {(hit["chance"], hit["likely"]) for hit in found["hits"]} == {(None, False)}


def test_a_category_is_searched_by_its_exact_name(client):
    unknown = client.post("/api/search/category", json={"category": "dgo"})
    assert unknown.status_code == 422
    assert "Did you mean 'dog'" in unknown.json()["error"]["message"]
    uncalibrated = client.post("/api/search/category", json={"category": "dog"})
    assert uncalibrated.status_code == 422
    assert "sketchhash model calibrate" in uncalibrated.json()["error"]["message"]


def test_categories_are_listed(client):
    assert client.get("/api/categories").json() == [{"category": "cat"}, {"category": "dog"}]
    assert client.get("/api/categories", params={"word": "kitten"}).json() == [{"category": "cat"}]
    assert client.get("/api/categories", params={"word": "xyzzy"}).json() == []


def test_there_are_no_examples_where_nothing_is_found(client):
    assert client.get("/api/examples").json() == []


@pytest.mark.parametrize(("kind", "taken_for"), [("auto", "sketch"), ("", "sketch"), ("photo", "photo")])
def test_a_picture_of_lines_on_paper_is_recognised_as_a_sketch(client, kind, taken_for):
    file = io.BytesIO()
    page = Image.new("L", (120, 120), 255)
    ImageDraw.Draw(page).line([(20, 20), (100, 30), (60, 100), (20, 20)], fill=0, width=3)
    page.save(file, "PNG")
    answer = client.post("/api/search", files={"picture": file.getvalue()}, data={"kind": kind}).json()
    assert answer["kind"] == taken_for


def test_a_picture_without_lines_is_taken_for_a_photo(client, png, strokes):
    assert client.post("/api/search", files={"picture": png()}).json()["kind"] == "photo"
    assert client.post("/api/search", json={"strokes": strokes}).json()["kind"] is None


@pytest.fixture
def dated(gallery, photos, id_of):
    """Give two photos dates and places; the other four have none."""
    with gallery.writing() as writer:
        writer.put_details(
            {
                id_of("2024/summer/b.png"): Details(datetime(2024, 7, 1, 12), "Leica Q3", 8, 8, 48.1, 11.6, "a lake"),
                id_of("2024/winter/d.png"): Details(datetime(2024, 12, 24), None, 8, 8, -33.9, 151.2),
            }
        )


@pytest.mark.parametrize(
    ("wanted", "names", "undated", "unplaced"),
    [
        ({"after": "2024-07", "before": "2024-07"}, {"b.png"}, 4, 0),
        ({"after": "2024"}, {"b.png", "d.png"}, 4, 0),
        ({"before": "2024-06"}, set(), 4, 0),
        ({"near": "48.2,11.6,20km"}, {"b.png"}, 0, 4),
        ({"folder": "2024", "after": "2024", "near": "-34,151,100km"}, {"d.png"}, 2, 2),
        ({}, {"a.png", "b.png", "c.png", "d.png", "e.bmp", "f.png"}, 0, 0),
    ],
)
def test_a_search_can_be_narrowed_by_date_and_place(
    client, strokes, dated, id_of, png, wanted, names, undated, unplaced
):
    for found in (search(client, strokes=strokes, **wanted), send(client, png(), kind="photo", **wanted).json()):
        assert {hit["name"] for hit in found["hits"]} == names
        assert (found["undated"], found["unplaced"]) == (undated, unplaced)
        dates = {hit["name"]: hit["taken_at"] for hit in found["hits"]}
        assert dates.get("b.png") in (None, "2024-07-01T12:00:00")
    similar = client.get(f"/api/photos/{id_of('f.png')}/similar", params=wanted).json()
    assert {hit["name"] for hit in similar["hits"]} == names - {"f.png"}


@pytest.mark.parametrize(
    "wrong", [{"after": "soon"}, {"near": "here"}, {"after": "2024", "before": "2023"}, {"near": 7}]
)
def test_a_date_or_place_that_makes_no_sense_is_refused(client, strokes, wrong):
    answer = client.post("/api/search", json={"strokes": strokes, **wrong})
    assert answer.status_code == 422
    assert answer.json()["error"]["message"]


def test_details_and_the_gallery_tell_when_and_where(client, dated, id_of):
    told = client.get(f"/api/photos/{id_of('2024/summer/b.png')}/details").json()
    assert (told["taken_at"], told["camera"], told["description"]) == ("2024-07-01T12:00:00", "Leica Q3", "a lake")
    assert (told["latitude"], told["longitude"], told["width"]) == (48.1, 11.6, 8)
    whole = client.get("/api/gallery").json()
    assert (whole["dated"], whole["placed"]) == (2, 2)
    assert (whole["first_taken"], whole["last_taken"]) == ("2024-07-01T12:00:00", "2024-12-24T00:00:00")
