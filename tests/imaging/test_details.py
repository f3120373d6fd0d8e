"""When, where and with what a photo was taken: from EXIF, XMP and Google Takeout, however wrong they are."""

import io
import json
from datetime import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import ExifTags, Image
from PIL.TiffImagePlugin import IFDRational

from sketchhash.errors import UnreadableImage
from sketchhash.imaging import DecoderPool
from sketchhash.imaging.details import MAX_SIDECAR_BYTES, Details, parse_details, read_details

MUNICH = {1: "N", 2: (48.0, 8.0, 15.0), 3: "E", 4: (11.0, 34.0, 30.0)}


def photo(form="JPEG", main=None, camera=None, place=None, **options):
    """Return a picture of 30 × 20 pixels with EXIF."""
    exif = Image.Exif()
    exif.update(main or {})
    exif.get_ifd(ExifTags.IFD.Exif).update(camera or {})
    exif.get_ifd(ExifTags.IFD.GPSInfo).update(place or {})
    file = io.BytesIO()
    Image.new("RGB", (30, 20)).save(file, form, exif=exif.tobytes(), **options)
    return file.getvalue()


def told(content, xmp=None, takeout=None):
    return parse_details(read_details(content, xmp, takeout))


def xmp(properties="", elements="", before=""):
    return f"""{before}<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF
        xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
        <rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:tiff="http://ns.adobe.com/tiff/1.0/"
        xmlns:photoshop="http://ns.adobe.com/photoshop/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"
        {properties}>{elements}</rdf:Description></rdf:RDF></x:xmpmeta>""".encode()


def takeout(**changes):
    document = {
        "title": "photo.jpg",
        "description": "from Google",
        "photoTakenTime": {"timestamp": "1687600000", "formatted": "24 Jun 2023"},
        "geoData": {"latitude": 48.5, "longitude": 11.5, "altitude": 0.0},
    }
    return json.dumps(document | changes).encode()


@pytest.mark.parametrize("form", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF"])
def test_what_a_camera_writes_is_read(form):
    content = photo(
        form,
        {271: "Canon", 272: "Canon EOS 5D", 270: "A walk\nin the park"},
        {36867: "2023:06:24 18:30:05"},
        MUNICH,
    )
    assert told(content) == Details(
        taken_at=datetime(2023, 6, 24, 18, 30, 5),
        camera="Canon EOS 5D",
        width=30,
        height=20,
        latitude=pytest.approx(48.1375),
        longitude=pytest.approx(11.575),
        description="A walk in the park",
    )


def test_south_and_west_are_negative_and_the_size_is_of_the_upright_picture():
    found = told(photo(main={274: 6}, place={1: "S", 2: (33.0, 52.0, 0.0), 3: "W", 4: (70.0, 30.0, 0.0)}))
    assert (found.latitude, found.longitude) == (pytest.approx(-33.8667, abs=1e-4), -70.5)
    assert (found.width, found.height) == (20, 30)


@pytest.mark.parametrize(
    ("make", "model", "camera"),
    [("NIKON CORPORATION", "NIKON D750", "NIKON D750"), ("Apple", "iPhone 15", "Apple iPhone 15"),
     ("", "X100V", "X100V"), ("Google", "", "Google"), ("\0\0", "\x1b[31m", "[31m"), ("x" * 9999, "", "x" * 100)],
)  # fmt: skip
def test_maker_and_model_are_named_once(make, model, camera):
    assert told(photo(main={271: make, 272: model})).camera == camera


@pytest.mark.parametrize(
    "date", ["0000:00:00 00:00:00", "2023:02:30 10:00:00", "    :  :     :  :  ", "1066:10:14 10:00:00",
             "9999:01:01 00:00:00", "yesterday", "2023:13:01 00:00:00", "2023:06:24 25:00:00", "", "20230624"]
)  # fmt: skip
def test_dates_that_cannot_be_are_left_out(date):
    found = told(photo(camera={36867: date}))
    assert found.taken_at is None
    assert found.width == 30


def test_a_wrong_first_date_leaves_room_for_the_second():
    content = photo(camera={36867: "0000:00:00 00:00:00", 36868: "2020:01:02 03:04:05"})
    assert told(content).taken_at == datetime(2020, 1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    "place",
    [
        {1: "N", 2: (91.0, 0.0, 0.0), 3: "E", 4: (11.0, 0.0, 0.0)},
        {1: "N", 2: (48.0, 0.0, 0.0), 3: "E", 4: (181.0, 0.0, 0.0)},
        {1: "N", 2: (IFDRational(0, 0),) * 3, 3: "E", 4: (11.0, 0.0, 0.0)},
        {1: "N", 2: (0.0, 0.0, 0.0), 3: "E", 4: (0.0, 0.0, 0.0)},
        {1: "N", 2: (48.0, 0.0, 0.0)},
    ],
)
def test_places_that_cannot_be_are_left_out(place):
    found = told(photo(place=place))
    assert (found.latitude, found.longitude, found.width) == (None, None, 30)


def test_xmp_is_read_from_attributes_and_elements():
    sidecar = xmp(
        'tiff:Make="FUJIFILM" exif:GPSLatitude="48,8.25N" exif:GPSLongitude="11,34,30W"',
        "<photoshop:DateCreated>2021-05-06T07:08:09+02:00</photoshop:DateCreated><tiff:Model>X-T4</tiff:Model>"
        '<dc:description><rdf:Alt><rdf:li xml:lang="x-default">Aunt &amp; uncle</rdf:li></rdf:Alt></dc:description>',
    )
    assert told(photo(), sidecar) == Details(
        taken_at=datetime(2021, 5, 6, 7, 8, 9),
        camera="FUJIFILM X-T4",
        width=30,
        height=20,
        latitude=pytest.approx(48.1375),
        longitude=pytest.approx(-11.575),
        description="Aunt & uncle",
    )


@pytest.mark.parametrize(("date", "moment"), [("1987", datetime(1987, 1, 1)), ("1987-06", datetime(1987, 6, 1))])
def test_a_photo_of_which_only_the_year_is_known_is_of_its_beginning(date, moment):
    assert told(photo(), xmp(f'exif:DateTimeOriginal="{date}"')).taken_at == moment


def test_each_fact_comes_from_the_first_source_that_has_it():
    content = photo(
        main={271: "Canon", 272: "R6"},
        camera={36867: "2023:06:24 18:30:05"},
        xmp=xmp('exif:DateTimeOriginal="2001-01-01" exif:GPSLatitude="10,0.0N" exif:GPSLongitude="20,0.0E"'),
    )
    assert told(content).taken_at == datetime(2023, 6, 24, 18, 30, 5)
    assert told(content).latitude == 10
    both = told(content, xmp('exif:DateTimeOriginal="1999-12-31T23:59:59"'), takeout())
    assert (both.taken_at, both.camera) == (datetime(1999, 12, 31, 23, 59, 59), "Canon R6")
    assert (both.latitude, both.longitude, both.description) == (10, 20, "from Google")


def test_google_takeout_fills_in_what_is_missing():
    found = told(photo("PNG"), takeout=takeout())
    assert found.taken_at == datetime(2023, 6, 24, 9, 46, 40)
    assert (found.latitude, found.longitude, found.description) == (48.5, 11.5, "from Google")
    nowhere = told(photo(), takeout=takeout(geoData={"latitude": 0.0, "longitude": 0.0}))
    assert nowhere.latitude is None
    elsewhere = takeout(geoData={"latitude": 0, "longitude": 0}, geoDataExif={"latitude": 1.5, "longitude": 2.5})
    assert told(photo(), takeout=elsewhere).longitude == 2.5


@pytest.mark.parametrize(
    "document",
    [b"", b"[]", b"{", b"[" * 100_000, b"\xff\xfe", takeout(photoTakenTime=7, geoData=[], description={}),
     takeout(photoTakenTime={"timestamp": "1e400"}, geoData={"latitude": "48", "longitude": None}, description=None),
     takeout(photoTakenTime={"timestamp": "9" * 5000}, geoData={"latitude": 1e999, "longitude": 3}, description=""),
     b'{"geoData": {"latitude": NaN, "longitude": Infinity}}', b" " * (MAX_SIDECAR_BYTES + 1)],
)  # fmt: skip
def test_json_that_makes_no_sense_is_ignored(document):
    assert told(photo(), takeout=document) == Details(width=30, height=20)


BILLION_LAUGHS = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;">]>'


@pytest.mark.parametrize(
    "document",
    [
        b"",
        b"<",
        b"\0\0\0",
        xmp('tiff:Model="X"', before=BILLION_LAUGHS),
        xmp(elements="<tiff:Model>&c;</tiff:Model>", before=BILLION_LAUGHS),
        xmp(elements="<tiff:Model>&e;</tiff:Model>", before='<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>'),
        xmp(elements="<a>" * 10_000 + "</a>" * 10_000),
        xmp('exif:DateTimeOriginal="soon" exif:GPSLatitude="91,0N" exif:GPSLongitude="x" tiff:Model=" "'),
        xmp('tiff:Model="X"') + b" " * MAX_SIDECAR_BYTES,
    ],
)
def test_xmp_that_makes_no_sense_or_would_grow_is_ignored(document):
    assert told(photo(), document) == Details(width=30, height=20)


def test_what_is_no_picture_is_refused():
    with pytest.raises(UnreadableImage):
        read_details(b"text", xmp(), takeout())


@given(st.binary(max_size=200))
def test_whatever_exif_holds_the_picture_has_a_size(junk):
    file = io.BytesIO()
    Image.new("RGB", (30, 20)).save(file, "JPEG", exif=b"Exif\0\0" + junk)
    found = told(file.getvalue())
    assert {found.width, found.height} == {30, 20}


@given(st.binary(max_size=300))
def test_whatever_a_decoder_answers_is_checked(answer):
    assert isinstance(parse_details(np.frombuffer(answer, dtype=np.uint8)), Details)


@given(
    st.dictionaries(
        st.sampled_from(["taken_at", "camera", "width", "height", "latitude", "longitude", "description"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.integers()),
    )
)
def test_facts_that_cannot_be_true_are_not_kept(facts):
    found = parse_details(np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8))
    assert found.latitude is None or (-90 <= found.latitude <= 90 and -180 <= found.longitude <= 180)
    assert found.taken_at is None or found.taken_at.year >= 1826
    assert found.width is None or (found.width > 0 and found.height > 0)
    assert Details.of_columns(found.columns()) == found


def test_details_are_read_in_a_process_of_their_own():
    pool = DecoderPool(1)
    try:
        content = photo(camera={36867: "2023:06:24 18:30:05"})
        assert parse_details(pool.run(read_details, content)) == told(content)
    finally:
        pool.close()
