import json
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sketchhash.cli.search import _verdict
from sketchhash.codes import hamming, pack, unpack
from sketchhash.gallery import Answer, GalleryFile
from sketchhash.imaging import Drawing
from sketchhash.imaging.details import Details
from sketchhash.model import Model, TokenInput
from sketchhash.model.calibration import Guess, Judgement
from sketchhash.tokens import detector


def lines(result):
    assert result.exit_code == 0, result.output
    return [line.split("\t") for line in result.stdout.splitlines()]


def test_search_prints_rank_distance_path_and_label(run, gallery, sketch, photos):
    hits = lines(run("search", sketch, "--gallery", gallery, "-k", "3", "--no-rerank"))
    assert [hit[0] for hit in hits] == ["1", "2", "3"]
    distances = [int(hit[1]) for hit in hits]
    assert distances == sorted(distances)
    for _, _, path, label in hits:
        assert Path(path).is_relative_to(photos)
        assert label == Path(path).parent.name


def test_the_distance_is_that_of_the_codes(run, gallery, strokes, model_folder):
    code = pack(Model.load(model_folder).encode_drawing(Drawing.from_json(json.loads(strokes.read_text()))))
    with GalleryFile.open(gallery) as opened:
        for hit in json.loads(run("search", strokes, "--gallery", gallery, "--json").stdout):
            stored = np.frombuffer(opened.code(hit["id"]), dtype=np.uint8)[None]
            assert hit["distance"] == hamming(code, stored)[0, 0]


@pytest.mark.parametrize("source", ["sketch", "strokes"])
def test_a_sketch_from_standard_input_finds_the_same(run, gallery, source, request):
    path = request.getfixturevalue(source)
    piped = run("search", "-", "--gallery", gallery, input=path.read_bytes())
    assert lines(piped) == lines(run("search", path, "--gallery", gallery))


def test_content_and_not_the_name_tells_pictures_from_strokes(run, gallery, sketch, strokes):
    expected = lines(run("search", strokes, "--gallery", gallery))
    strokes.rename(sketch)
    assert lines(run("search", sketch, "--gallery", gallery)) == expected


@pytest.mark.parametrize("content", [b"[[[0, 0]", b"[" * 100_000, b'{"strokes": 1}', b"[]", b"", b"\x89PNG", b"text"])
def test_what_is_no_sketch_is_explained(run, gallery, content):
    result = run("search", "-", "--gallery", gallery, input=content)
    assert result.exit_code in (1, 2)
    assert result.stderr.startswith("Error: ")
    assert isinstance(result.exception, SystemExit)


def test_a_picture_that_is_no_sketch_is_named(run, gallery, tmp_path):
    Image.new("L", (50, 50), 255).save(tmp_path / "blank.png")
    assert f"{tmp_path / 'blank.png'}: no ink" in run("search", tmp_path / "blank.png", "--gallery", gallery).stderr


def test_a_search_can_be_narrowed(run, gallery, sketch, photos):
    by_label = lines(run("search", sketch, "--gallery", gallery, "--label", "cat"))
    by_folder = lines(run("search", sketch, "--gallery", gallery, "--folder", photos / "cat"))
    assert by_label == by_folder
    assert {path for _, _, path, _ in by_label} == {str(photos / "cat/a.jpg"), str(photos / "cat/b.jpg")}


def test_a_folder_without_photos_gives_no_hits_and_says_so(run, gallery, sketch, tmp_path):
    result = run("search", sketch, "--gallery", gallery, "--folder", tmp_path / "elsewhere")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "has no photos" in result.stderr


def test_an_unknown_label_suggests_the_nearest(run, gallery, sketch):
    assert "'dog'" in run("search", sketch, "--gallery", gallery, "--label", "dogg").stderr


def test_hits_are_ordered_by_how_well_the_values_agree(run, gallery, strokes, model_folder):
    (values,) = Model.load(model_folder).encode_drawing(Drawing.from_json(json.loads(strokes.read_text())))
    hits = json.loads(run("search", strokes, "--gallery", gallery, "--json").stdout)
    with GalleryFile.open(gallery) as opened:
        codes = [np.frombuffer(opened.code(hit["id"]), dtype=np.uint8)[None] for hit in hits]
    scores = [float(unpack(code)[0] @ values) for code in codes]
    assert len(scores) == 5
    assert scores == sorted(scores, reverse=True)


def test_a_sheet_shows_the_sketch_and_then_the_hits(run, gallery, sketch, tmp_path):
    sizes = []
    for k in (1, 5):
        assert run("search", sketch, "--gallery", gallery, "-k", k, "--show", tmp_path / "out.png").exit_code == 0
        with Image.open(tmp_path / "out.png") as sheet:
            sizes.append(sheet.size)
            pixels = np.asarray(sheet)
    assert sizes[0][0] < sizes[1][0]
    first_row, second_row = np.array_split(pixels.astype(int), 2)
    assert np.ptp(first_row, axis=2).max() == 0  # ink has no colour
    assert np.ptp(second_row, axis=2).max() > 50


def test_indexing_and_searching_import_no_research_code(photos, strokes, tmp_path, make_model_folder):
    model = make_model_folder(tokens=TokenInput("gradient", detector("gradient").fingerprint, 0.5, 0.1, 0.1, 3))
    code = (
        "import sys\n"
        "from sketchhash.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "heavy = {'torch', 'sklearn', 'scipy', 'matplotlib'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    for verb, argument, expected in (("index", photos, b"5 added"), ("search", strokes, b"1\t")):
        command = [sys.executable, "-c", code, verb, argument, "--gallery", tmp_path / "g", "--model", model]
        done = subprocess.run(command, check=True, capture_output=True, timeout=60)
        assert done.stdout.startswith(expected)


@pytest.mark.parametrize(
    ("verdict", "best", "words"),
    [
        ("sure", 0.9, "Sure of the first hits (30%)."),
        ("unsure", 0.9, "Not sure that the first hits show it (30%)."),
        ("unsure", 0.2, "Not sure of the first hits (30%): more of the drawing would help."),
        ("unknown", 0.9, "Nothing in this gallery seems to show it (30%)."),
        ("unknown", 0.2, "This is nothing that the model knows (30%)."),
    ],
)
def test_what_is_recognised_but_not_found_is_not_called_unknown(verdict, best, words):
    answer = Answer([], Judgement(verdict, 0.3, (Guess("umbrella", best),)))
    assert _verdict(answer) == f"{words} It may be: umbrella {best:.0%}."


def test_an_empty_gallery_says_how_to_fill_it_and_judges_nothing(run, sketch, tmp_path):
    (tmp_path / "empty").mkdir()
    run("index", tmp_path / "empty", "--gallery", tmp_path / "empty.gallery")
    result = run("search", sketch, "--gallery", tmp_path / "empty.gallery")
    assert (result.exit_code, result.stdout) == (0, "")
    place = tmp_path / "empty.gallery"
    assert result.stderr == f"This gallery has no photos yet. Fill it with: sketchhash index FOLDER --gallery {place}\n"


@pytest.fixture
def dated(gallery):
    """Give three photos of the gallery dates and places; the others have none."""
    with GalleryFile.open(gallery) as opened, opened.writing() as writer:
        ids = [photo.id for photo in opened.photos()]
        writer.put_details(
            {
                photo: Details(datetime(2020 + year, 6, 24, 18), None, 1, 1, 48.1, 11.6)
                for year, photo in enumerate(ids[:3])
            }
        )
    return ids


def test_only_photos_of_a_time_and_place_are_found_and_the_others_are_counted(run, gallery, strokes, dated):
    def found(*options):
        result = run("search", strokes, "--gallery", gallery, "-k", "100", "--json", *options)
        return {hit["id"] for hit in json.loads(result.stdout)}, result.stderr

    assert found("--after", "2021", "--before", "2022-06")[0] == set(dated[1:3])
    ids, said = found("--before", "2020")
    assert ids == {dated[0]}
    assert f"{len(dated) - 3} photos have no date and are left out." in said
    ids, said = found("--near", "48.2,11.6,20km")
    assert ids == set(dated[:3])
    assert "have no place and are left out" in said
    assert found("--near", "48.3,11.6,20km")[0] == set()


def test_hits_can_be_ordered_by_date(run, gallery, strokes, dated):
    def dates(order):
        result = run("search", strokes, "--gallery", gallery, "-k", "100", "--json", "--order", order)
        return [hit["taken_at"] for hit in json.loads(result.stdout)]

    some = [f"{year}-06-24T18:00:00" for year in (2020, 2021, 2022)]
    assert dates("oldest") == some + [None] * (len(dated) - 3)
    assert dates("newest") == some[::-1] + [None] * (len(dated) - 3)


@pytest.mark.parametrize(
    "options",
    [("--after", "soon"), ("--near", "Munich"), ("--after", "2023", "--before", "2022"), ("--order", "random")],
)
def test_a_date_or_place_that_makes_no_sense_is_explained_before_anything_is_loaded(run, gallery, strokes, options):
    result = run("search", strokes, "--gallery", gallery, *options)
    assert result.exit_code == 2


def test_info_tells_from_when_to_when_photos_were_taken(run, gallery, dated):
    assert "2020-06-24 to 2022-06-24" in run("gallery", "info", "--gallery", gallery).stdout
    told = json.loads(run("gallery", "info", "--gallery", gallery, "--json").stdout)
    assert (told["dated"], told["placed"], told["first_taken"]) == (3, 3, "2020-06-24T18:00:00")
