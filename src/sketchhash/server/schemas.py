"""The types of requests and responses; the OpenAPI document is generated from them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, FailFast, Field

from sketchhash.gallery import PhotoKind
from sketchhash.imaging.ink import MAX_COORDINATE, MAX_POINTS, MAX_STROKES
from sketchhash.model import Verdict
from sketchhash.model.calibration import MOST_GUESSES
from sketchhash.server.limits import MOST_HITS

# FailFast: what is wrong in a million places is reported once.
Coordinate = Annotated[float, Field(ge=-MAX_COORDINATE, le=MAX_COORDINATE, allow_inf_nan=False)]
Point = Annotated[list[Coordinate], Field(min_length=2, max_length=2, description="x to the right, y down"), FailFast()]
Stroke = Annotated[list[Point], Field(max_length=MAX_POINTS), FailFast()]
HitCount = Annotated[int, Field(ge=1, le=MOST_HITS, description="How many hits.")]
Folder = Annotated[str, Field(max_length=4096, description="Only photos below this folder of the gallery.")]
After = Annotated[str, Field(max_length=32, description="Only photos taken then or later: 2023, 2023-06, 2023-06-24.")]
Before = Annotated[
    str, Field(max_length=32, description="Only photos taken then or earlier; all of a year, month or day is included.")
]
Place = Annotated[str, Field(max_length=100, description="Only photos taken near there: 48.1,11.6,20km.")]
Label = Annotated[str, Field(max_length=1024, description="Only photos with this label.")]
CategoryName = Annotated[str, Field(min_length=1, max_length=200, description="A category by its exact name.")]
Word = Annotated[str, Field(max_length=200, description="A word for what is looked for.")]
Chance = Annotated[float, Field(ge=0, le=1)]
PictureKind = Literal["photo", "sketch"]
PictureChoice = Literal["auto", "photo", "sketch"]


class SearchOptions(BaseModel):
    """How many photos a search returns, and from where."""

    k: HitCount = 40
    folder: Folder | None = None
    label: Label | None = None
    after: After | None = None
    before: Before | None = None
    near: Place | None = None


class DrawingQuery(SearchOptions):
    """A search by strokes; all strokes together may have 20,000 points."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        json_schema_extra={
            "examples": [{"strokes": [[[0, 0], [80, 10], [40, 70], [0, 0]]], "k": 5, "folder": None, "label": None}]
        },
    )

    strokes: Annotated[list[Stroke], Field(min_length=1, max_length=MAX_STROKES), FailFast()]


class CategoryQuery(SearchOptions):
    """A search for a kind of thing that the model knows; `GET /api/categories` lists them."""

    model_config = ConfigDict(
        strict=True, extra="forbid", json_schema_extra={"examples": [{"category": "cat", "k": 5}]}
    )

    category: CategoryName


class PictureQuery(SearchOptions):
    """The fields of a form beside the picture itself; *auto* lets the service tell sketches from photos."""

    kind: PictureChoice = "auto"


class HitAnswer(BaseModel):
    """A photo that was found; ``distance`` counts bits.

    ``chance`` is the calibrated chance that the photo shows what was asked for, and never rises from a hit to the
    next; it is null if the model has no calibration, and for drawings and what follows them. The ``likely`` hits are
    the good matches, and come first. ``taken_at`` is by the camera's clock, without a time zone; null if it is not
    known. ``copy_of`` is the id of an earlier hit that it is a copy of: resized, recompressed, brightened a little or
    cropped at the edges. ``copies`` counts the other photos of the whole gallery that are copies of it; null if they
    were not counted, as for a hit that is a copy itself. ``kind`` tells photos from drawings, such as icons.
    """

    id: int
    distance: int
    chance: Chance | None
    likely: bool
    label: str | None
    name: str
    folder: str
    taken_at: datetime | None
    copy_of: int | None
    copies: int | None
    kind: PhotoKind


class GuessAnswer(BaseModel):
    """A category that the query may show, and the calibrated chance that it does."""

    category: str
    chance: Chance


class TimingsAnswer(BaseModel):
    """Milliseconds; a stage that was not needed took none, and ``total`` includes waiting."""

    ink: float
    encode: float
    search: float
    total: float


class SearchAnswer(BaseModel):
    """The hits, best first, and the query's ``code`` in hexadecimal.

    The nearest photos are ordered by how well their bits agree with the real values that the network gave for the
    query, and not only with the signs of these values; so distances need not rise from hit to hit. Hits that agree
    equally well are ordered by distance, and then by id.

    ``verdict`` is *sure* if the first hits show what was asked for; *unsure* if that cannot be told yet, so that it
    helps to go on drawing; *unknown* if the query does not look like a kind of thing that the model knows, or if
    nothing of it is in this gallery. ``chance`` is the calibrated chance that the first hits show what was asked for,
    and ``guesses`` are the categories that the query may show, the most likely first. A model without calibration is
    always unsure, names no chance and guesses nothing. Chances were measured with photos: if one of the first five hits
    is a drawing, such as an icon, the answer is unsure and names none. ``kind`` is what a picture that was sent was
    taken for.

    ``undated`` and ``unplaced`` count the photos that a filter by date or place left out because they have none.
    """

    hits: list[HitAnswer]
    verdict: Verdict
    chance: Chance | None
    guesses: Annotated[list[GuessAnswer], Field(max_length=MOST_GUESSES)]
    code: str
    bits: int
    photos: int
    undated: int
    unplaced: int
    kind: PictureKind | None
    timings_ms: TimingsAnswer


class CategoryAnswer(BaseModel):
    """A category that the model knows."""

    category: str


class ExampleAnswer(BaseModel):
    """A drawing to try: its name, and strokes on a sheet 512 wide."""

    name: str
    strokes: list[Stroke]


class DetailsAnswer(BaseModel):
    """All that is known about a photo; width and height are those of the upright picture, if its file is there.

    ``taken_at`` is what the camera wrote into the file, on its own clock and so without a time zone; ``modified_at`` is
    when the file was last changed before it was indexed.
    """

    id: int
    path: str
    label: str | None
    size: int
    indexed_at: datetime
    taken_at: datetime | None
    modified_at: datetime
    width: int | None
    height: int | None
    camera: str | None
    latitude: float | None
    longitude: float | None
    description: str | None


class SvgAnswer(BaseModel):
    """The SVG of a drawing, as text."""

    svg: str


class FolderAnswer(BaseModel):
    """A folder, and the number of photos at any depth below it."""

    path: str
    photos: int


class ModelAnswer(BaseModel):
    """The model that made the codes; ``card`` is Markdown."""

    name: str
    categories: tuple[str, ...]
    card: str
    scores: dict[str, float]


class GalleryAnswer(BaseModel):
    """The gallery in numbers.

    ``edition`` changes with every start of the service: pictures fetched with ``?v=<edition>`` may be kept for ever.
    ``dated`` and ``placed`` count the photos of which it is known when and where they were taken, the first at
    ``first_taken`` and the last at ``last_taken``. ``drawings`` counts how many of all are drawings, such as icons.
    """

    photos: int
    bits: int
    memory_bytes: int
    labels: dict[str, int]
    folders: list[FolderAnswer]
    model: ModelAnswer
    version: str
    edition: str
    last_indexed: datetime | None
    dated: int
    placed: int
    first_taken: datetime | None
    last_taken: datetime | None
    drawings: int


class MapPoint(BaseModel):
    """A photo on the map of the gallery: x and y are -1 to 1, and photos with similar codes are close together.

    ``guess`` is the category that its code most likely means; null if that is none.
    """

    id: int
    x: float
    y: float
    label: str | None
    guess: str | None


class AddressAnswer(BaseModel):
    """An address of the page, with the token if one is asked for; ``qr`` is the path of an SVG ``side`` units wide."""

    address: str
    qr: str
    side: int


class HealthAnswer(BaseModel):
    """The service is running."""

    status: Literal["ok"]
    photos: int


class ErrorDetails(BaseModel):
    """What went wrong: ``kind`` is for programs, ``message`` tells people what to do next."""

    kind: str
    message: str


class ErrorAnswer(BaseModel):
    """The form of every error."""

    error: ErrorDetails
