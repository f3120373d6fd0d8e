import json
import time
from threading import Barrier

import numpy as np
import pytest
from PIL import Image

import model
from model import Memory, ModelRecord, measure, model_bytes, serve_random_codes
from serving import Memory as ServerMemory
from serving import ServingTimes
from sketchhash.errors import BadArgument
from sketchhash.gallery.photos import decode
from sketchhash.model import Model
from stages import Samples, Stages, take_samples
from timing import cost, in_another_process, resident_bytes


@pytest.fixture(scope="module")
def samples() -> Samples:
    return take_samples(3)


def test_a_call_costs_what_it_sleeps_and_sleeping_takes_no_processor_time():
    nap = cost(lambda number: time.sleep(0.05), [1, 2], seconds=0.2)
    assert nap.milliseconds >= 50
    assert nap.cpu_milliseconds < 25
    assert 0 < nap.per_second <= 20


def test_threads_work_at_the_same_time():
    everyone, done = Barrier(3), []

    def meet(number):
        if done:  # not in the first call, which does not count
            everyone.wait(timeout=60)
        done.append(number)

    assert cost(meet, [1], seconds=0, threads=3).calls == 3


def test_every_thread_works_at_least_once_and_the_first_call_does_not_count():
    done = []
    assert cost(done.append, ["a", "b"], seconds=0, threads=2).calls == 2
    assert sorted(done) == ["a", "a", "b"]


@pytest.mark.parametrize("folder", ["model_folder", "token_model_folder"])
def test_the_stages_together_give_what_the_model_gives(folder, samples, request):
    path = request.getfixturevalue(folder)
    stages, loaded = Stages(path), Model.load(path)
    photos = [decode(file) for file in samples.photo_files]
    np.testing.assert_array_equal(stages.image.run(stages.photo_inputs(photos)), loaded.encode_photos(photos))
    for drawing in samples.drawings:
        values = stages.sketch.run(stages.sketch_inputs([stages.ink(drawing)]))
        np.testing.assert_array_equal(values, loaded.encode_drawing(drawing))


def test_samples_are_pictures_of_the_same_drawings(samples, model_folder):
    stages = Stages(model_folder)
    assert len(samples.drawings) == len(samples.sketch_files) == len(samples.photo_files) == 3
    for drawing, file in zip(samples.drawings, samples.sketch_files, strict=True):
        drawn, read = (stages.ink(sketch).astype(float) for sketch in (drawing, file))
        assert np.abs(drawn - read).mean() < 20
    assert decode(samples.photo_files[0]).shape[2] == 3


def test_samples_of_a_folder_are_its_readable_photos(tmp_path, paint_photo):
    for number in range(5):
        paint_photo(tmp_path / "trip" / f"{number}.jpg", number)
    (tmp_path / "trip" / "0.jpg").write_bytes(b"junk")
    taken = take_samples(3, tmp_path / "trip")
    assert taken.photo_files == [(tmp_path / "trip" / f"{number}.jpg").read_bytes() for number in (1, 2, 3)]
    assert taken.source.startswith("3 photos of trip, ")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadArgument, match="no readable photo"):
        take_samples(3, tmp_path / "empty")


def test_a_folder_is_weighed_and_timed_by_stage(token_model_folder, samples):
    speed = measure(token_model_folder, samples, seconds=0)
    assert set(speed.files) == {"image.onnx", "sketch.onnx", "README.md", "manifest.json"}
    assert speed.files["README.md"] == len("# tiny\n")
    assert list(speed.photos) == ["decoding", "squeezing", "tokens", "network"]
    assert list(speed.sketches)[-2:] == ["strokes to code", "picture to code"]
    assert set(speed.indexing) == {1, 2}
    assert speed.indexing[2].calls == 6  # a batch of 3 photos on each of two threads
    assert all(each.per_second > 0 for each in (*speed.photos.values(), *speed.indexing.values()))


def test_a_model_without_contours_has_no_such_stage(model_folder, samples):
    assert list(measure(model_folder, samples, seconds=0, threads=(1,)).photos) == ["decoding", "squeezing", "network"]


def test_a_process_with_a_model_holds_more_than_one_without(model_folder):
    bare = in_another_process(resident_bytes)
    assert bare < model_bytes(model_folder) < bare + 500e6


def test_a_service_of_random_codes_is_measured(model_folder, monkeypatch):
    monkeypatch.setattr("serving._WARMING_SECONDS", 0.1)
    times = serve_random_codes(model_folder, codes=200, seconds=1)
    assert (times.photos, times.users) == (200, 1)
    assert times.memory.end > 10e6


def test_a_report_names_everything_that_was_measured(model_folder, samples):
    speed = measure(model_folder, samples, seconds=0, threads=(1,))
    service = ServingTimes(1, 1.0, 500, 9, 9.0, 0.004, 0.008, 0.009, {}, ServerMemory(1, 250_000_000))
    page = ModelRecord(speed, Memory(20_000_000, 90_000_000), service).page()
    assert "| Python alone | 20 MB |" in page
    assert "PyTorch" not in page
    assert "| service with 500 codes, searched | 250 MB |" in page
    assert "4 bytes a photo" in page
    assert "not measured here: CLIP ViT-B/32" in page
    assert "| the same networks in PyTorch | 70 MB |" in ModelRecord(speed, Memory(1, 1, 70_000_000), service).page()


def test_sizes_of_pictures_are_what_the_source_says(samples):
    assert samples.source == "3 photos of the synthetic world, JPEG, 640 × 640"
    for file in samples.photo_files:
        assert Image.fromarray(decode(file)).size == (512, 512)  # what galleries look at


QUICK = ("--seconds", 0, "--codes", 50, "--samples", 2)


@pytest.fixture
def in_no_time(monkeypatch):
    monkeypatch.setattr("serving._WARMING_SECONDS", 0.1)


def test_the_tables_are_printed_and_the_record_written(run, in_no_time, tmp_path, paint_photo):
    paint_photo(tmp_path / "trip" / "a.jpg", 1)
    result = run(model, *QUICK, "--photos", tmp_path / "trip", "--out", tmp_path / "speed.json")
    assert "1 photos of trip" in result.stdout
    assert "service with 50 codes" in result.stdout
    assert "Timing the stages" in result.stderr
    assert json.loads((tmp_path / "speed.json").read_text())["speed"]["bits"] == 32


def test_a_run_needs_its_data(run_process, tmp_path):
    result = run_process("model", "--run", tmp_path)
    assert result.returncode == 2
    assert "--run and --data go together" in result.stderr


@pytest.mark.slow
def test_a_run_is_measured_in_every_number_format(run, in_no_time, untrained_run, tmp_path):
    """The network is not trained: sizes, times and the way to the scores do not depend on it."""
    folder, world = untrained_run(("cat", "key"), 4)
    run(model, *QUICK, "--run", folder, "--data", world, "--out", tmp_path / "speed.json")
    record = json.loads((tmp_path / "speed.json").read_text())
    formats = {each["name"]: each for each in record["formats"]}
    assert list(formats) == ["float32", "float16", "int8, dynamic", "int8, static", "PyTorch, float32"]
    sizes = [each["bytes"] for each in formats.values()]
    assert sizes[2] < sizes[1] < sizes[0]
    scores = [each["scores"]["world → world, seen photos"] for each in formats.values()]
    assert all(0 < score <= 1 for score in scores)
    assert scores[0] == pytest.approx(scores[-1])
    assert record["memory"]["torch"] > 50e6
