"""Filters: what dates and places mean, and that a gallery gives exactly what looking at each photo gives."""

import math
from datetime import datetime, timedelta
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sketchhash.errors import BadArgument
from sketchhash.gallery import EVERYTHING, Filter, GalleryFile, LeftOut, Near, Period, PhotoFile
from sketchhash.imaging.details import Details


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2023", datetime(2023, 1, 1), datetime(2024, 1, 1)),
        ("2024-02", datetime(2024, 2, 1), datetime(2024, 3, 1)),
        ("2023-12", datetime(2023, 12, 1), datetime(2024, 1, 1)),
        ("2023-6-4", datetime(2023, 6, 4), datetime(2023, 6, 5)),
        ("2023-06-24 18", datetime(2023, 6, 24, 18), datetime(2023, 6, 24, 19)),
        ("2023-06-24T18:30", datetime(2023, 6, 24, 18, 30), datetime(2023, 6, 24, 18, 31)),
        (" 2023-06-24 18:30:05 ", datetime(2023, 6, 24, 18, 30, 5), datetime(2023, 6, 24, 18, 30, 6)),
    ],
)
def test_a_partial_date_means_all_of_it(text, start, end):
    assert Period.parse(text) == (start, end)


@pytest.mark.parametrize(
    "text", ["", "23", "2023-13", "2023-02-30", "0000", "9999", "June", "2023-06-24-01", "2023-06x"]
)
def test_what_is_no_date_is_refused_with_examples(text):
    with pytest.raises(BadArgument, match="2023-06-24"):
        Period.parse(text)


@pytest.mark.parametrize(
    "text", ["", "48.1", "48.1,11.6", "48.1,11.6,20", "48.1,11.6,0km", "91,0,1km", "0,181,1km", "a,b,ckm", "1..2,3,4km",
             "48.1,11.6,-5km", "nan,0,1km"]
)  # fmt: skip
def test_what_is_no_place_is_refused(text):
    with pytest.raises(BadArgument, match="is no place"):
        Near.parse(text)


def test_after_and_before_include_what_they_name():
    only = Filter.parse(after="2023", before="2023")
    assert (only.start, only.end) == (datetime(2023, 1, 1), datetime(2024, 1, 1))
    with pytest.raises(BadArgument, match="Exchange"):
        Filter.parse(after="2024", before="2023")
    assert Filter.parse() == EVERYTHING


def test_distances_are_those_of_a_globe():
    munich = Near(48.137, 11.575, 600)
    cities = np.array([[52.52, 13.405], [48.137, 11.575], [-48.137, -168.425]])
    np.testing.assert_allclose(munich.distances(*cities.T), [504.4, 0, math.pi * 6371.0088], rtol=1e-3)
    assert munich.contains(*cities.T).tolist() == [True, True, False]


latitudes = st.one_of(st.floats(-90, 90), st.sampled_from([-90.0, -89.999, 0.0, 48.1, 89.999, 90.0]))
longitudes = st.one_of(st.floats(-180, 180), st.sampled_from([-180.0, -179.999, 0.0, 11.6, 179.999, 180.0]))


@given(latitudes, longitudes, latitudes, longitudes, st.floats(1e-3, 25_000))
def test_the_box_holds_all_of_the_circle(latitude, longitude, other_latitude, other_longitude, kilometres):
    near = Near(latitude, longitude, kilometres)
    if near.contains(np.array([other_latitude]), np.array([other_longitude]))[0]:
        place = {"latitude": other_latitude, "longitude": other_longitude}
        for column, operator, value in near.box():
            assert place[column] >= value if operator == ">=" else place[column] <= value


def far(one, other):
    """Return the distance of two places in kilometres, by another formula than the package's."""
    here, there = (
        np.array([math.cos(a) * math.cos(b), math.cos(a) * math.sin(b), math.sin(a)])
        for a, b in (np.radians(one), np.radians(other))
    )
    return 6371.0088 * math.atan2(np.linalg.norm(np.cross(here, there)), here @ there)


@pytest.fixture(scope="module")
def photos(tmp_path_factory, model):
    """Return a gallery of 400 photos with random dates and places, and what each has."""
    rng = np.random.default_rng(0)
    centres = [(48.1, 11.6), (48.2, 11.5), (-89.8, 10.0), (89.9, -170.0), (0.0, 179.99), (0.1, -179.99), (-33.9, 151.2)]
    known = {}
    with GalleryFile.create(tmp_path_factory.mktemp("filters") / "test.gallery", model) as gallery:
        with gallery.writing() as writer:
            for number in range(400):
                name = f"/{'ab'[number % 2]}/{number}.jpg"
                near = np.array(centres[number % len(centres)]) + rng.normal(0, 0.2, 2)
                place = (None, None) if rng.random() < 0.3 else (near.clip([-90, -180], [90, 180])).tolist()
                moment = datetime(2020, 1, 1) + timedelta(seconds=int(rng.integers(4 * 365 * 86400)))
                details = Details(None if rng.random() < 0.3 else moment, None, 1, 1, *place)
                label = None if number % 3 else "cat"
                file = PhotoFile(Path(name), sha256(name.encode()).hexdigest(), 1, 1, label)
                writer.put(file, rng.bytes(model.bits // 8), b"jpeg", details=None if number % 50 == 0 else details)
                known[number + 1] = (file, Details() if number % 50 == 0 else details)
        yield gallery, known


moments = st.datetimes(datetime(2019, 6, 1), datetime(2024, 6, 1)).map(lambda moment: moment.replace(microsecond=0))
filters = st.builds(
    Filter,
    folder=st.sampled_from([None, Path("/a")]),
    label=st.sampled_from([None, "cat"]),
    start=st.none() | moments,
    end=st.none() | moments,
    near=st.none()
    | st.builds(
        Near,
        st.sampled_from([48.1, 48.15, -90.0, 90.0, 0.05, -33.9]) | st.floats(-90, 90),
        st.sampled_from([11.6, 11.55, 180.0, -180.0, 151.0]) | st.floats(-180, 180),
        st.floats(0.1, 500) | st.floats(500, 21_000),
    ),
)


@settings(deadline=None, max_examples=150)
@given(only=filters)
def test_a_gallery_finds_exactly_what_passes(photos, only):
    gallery, known = photos

    def passes_others(file):
        return (only.folder is None or only.folder in file.path.parents) and only.label in (None, file.label)

    def passes(file, details):
        moment = details.taken_at
        if only.needs_date and moment is None:
            return False
        if (only.start and moment < only.start) or (only.end and moment >= only.end):
            return False
        if only.near is None:
            return True
        place = (only.near.latitude, only.near.longitude)
        return (
            details.latitude is not None and far(place, (details.latitude, details.longitude)) <= only.near.kilometres
        )

    right = {photo for photo, (file, details) in known.items() if passes_others(file) and passes(file, details)}
    hits = gallery.search(np.ones(gallery.model.bits), 1000, only)
    assert {hit.id for hit in hits} == right
    assert [hit.taken_at for hit in hits] == [known[hit.id][1].taken_at for hit in hits]
    others = [details for file, details in known.values() if passes_others(file)]
    assert gallery.left_out(only) == LeftOut(
        sum(details.taken_at is None for details in others) if only.needs_date else 0,
        sum(details.latitude is None for details in others) if only.near else 0,
    )


def test_a_gallery_tells_how_many_have_dates_and_places_and_from_when_to_when(photos):
    gallery, known = photos
    info, dates = gallery.info(), [details.taken_at for _, details in known.values() if details.taken_at]
    assert (info.dated, info.first_taken, info.last_taken) == (len(dates), min(dates), max(dates))
    assert info.placed == sum(details.latitude is not None for _, details in known.values())
