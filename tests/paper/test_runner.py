import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sketchhash.baselines import CATALOGUE, Distance, Input
from sketchhash.baselines.crossview.cca import CanonicalCorrelation
from sketchhash.baselines.deep import pictures
from sketchhash.errors import BadArgument, DamagedState, NotFitted
from sketchhash.evaluation import mean_average_precision
from sketchhash.evaluation.ranking import rank_distances
from sketchhash.paper import Entry, Records
from sketchhash.paper.methods import CatalogueMethod, prepare_method, rank_encodings
from sketchhash.paper.records import FILE
from sketchhash.paper.runner import Failed, Finished, distances_from, gallery_bytes, nearest, run_entries, time_queries

CCA, CODES = Entry("cca", 8), Entry("class-codes", 16)


def crash(*_):
    raise RuntimeError("the matrix\nis singular")


def run_one(bench, folder, entry):
    (outcome,) = run_entries(bench, folder, [entry])
    return outcome


def lines(folder):
    return [json.loads(line) for line in (folder / FILE).read_text().splitlines()]


def test_a_run_keeps_all_that_it_was_made_of(finished):
    records = Records(finished)
    run = next(run for run in records.runs() if run.entry == CCA)
    recipe = next(line["recipe"] for line in lines(finished) if line.get("recipe", {}).get("hash") == run.recipe)
    experiment = records.experiment()
    assert recipe["implementation"] == "crossview.cca:CanonicalCorrelation"
    assert recipe["pairs"] == 100_000
    assert recipe["sketch_features"]["size"] == 49
    assert len(run.recipe) == len(experiment.split_hash) == len(experiment.data_hash) == 64
    assert {"numpy", "sketchhash", "torch"} <= set(run.versions)
    assert run.seconds >= run.fit_seconds > 0
    assert run.query_seconds > 0
    assert run.gallery_bytes == 30 * 8 * 4
    ranked = mean_average_precision(records.rankings(CCA)).value
    assert ranked == pytest.approx(run.scores.mean_average_precision, rel=1e-5)
    assert (run.sample, run.examples) == (None, ())


def test_dsh_keeps_codes_and_examples_for_the_figures(finished):
    run = next(run for run in Records(finished).runs() if run.entry == Entry("dsh", 16))
    assert run.sample.photos == 30
    assert run.sample.packed.shape == (30 + 9, 2)
    assert len(run.examples) == 3
    assert all(len(example.photos) == len(example.labels) == 20 for example in run.examples)


def test_a_recipe_is_written_once(finished):
    hashes = [line["recipe"]["hash"] for line in lines(finished) if "recipe" in line]
    assert len(hashes) == len(set(hashes))
    assert {run.recipe for run in Records(finished).runs()} == set(hashes)


def test_learned_features_find_more_than_chance(finished):
    run = next(run for run in Records(finished).runs() if run.entry == CODES)
    assert run.scores.mean_average_precision > 0.45


def test_finished_runs_are_not_repeated(fakes, make_bench, tmp_path, monkeypatch):
    first = run_one(make_bench(), tmp_path / "results", CCA)
    assert not first.before
    monkeypatch.setattr(CatalogueMethod, "encode", lambda self: pytest.fail("a finished run was repeated"))
    again = run_one(make_bench(), tmp_path / "results", CCA)
    assert again.before
    assert again.record == first.record


@pytest.mark.parametrize("card", CATALOGUE, ids=lambda card: card.name)
def test_the_recipe_of_every_method_can_be_recorded(card, fakes, finished, make_bench, tmp_path):
    run, groups = Records(finished).runs()[0], Records(finished).rankings(Records(finished).runs()[0].entry)
    recipe = prepare_method(Entry(card.name, *(card.sizes or (8,))), make_bench()).recipe
    records = Records(tmp_path)
    records.begin(Records(finished).experiment())
    assert records.add(replace(run, recipe=recipe["hash"]), recipe, groups) in records.runs()


def test_another_recipe_is_another_run(fakes, make_bench, tmp_path, monkeypatch):
    bench, results = make_bench(), tmp_path / "results"
    run_one(bench, results, CCA)
    monkeypatch.setattr("sketchhash.paper.methods.settings_of", lambda method: {"ridge": method.ridge + 1})
    assert not run_one(bench, results, CCA).before


def test_a_method_that_crashes_is_reported_and_tried_again(fakes, make_bench, tmp_path):
    bench, results = make_bench(), tmp_path / "results"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CanonicalCorrelation, "fit", crash)
        failed = run_one(bench, results, CCA)
        assert isinstance(run_one(bench, results, CODES), Finished)
    assert isinstance(failed, Failed)
    assert failed.problem == "RuntimeError: the matrix is singular"
    assert failed.path == tmp_path / "results" / "cca-8.failed.txt"
    assert "Traceback" in failed.path.read_text()
    assert CCA not in [run.entry for run in Records(results).runs()]

    assert isinstance(run_one(bench, results, CCA), Finished)
    assert not failed.path.exists()


def test_a_method_that_cannot_be_built_does_not_stop_the_others(fakes, make_bench, tmp_path):
    failed = run_one(make_bench(), tmp_path / "results", Entry("hog", 7))
    assert "1296 dimensions, not 7" in failed.problem


def test_an_interrupted_comparison_goes_on(fakes, make_bench, tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    bench, results = make_bench(), tmp_path / "results"
    run_one(bench, results, CODES)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(CanonicalCorrelation, "encode_photos", interrupt)
        run_one(bench, results, CCA)
    assert [run.entry.slug for run in Records(results).runs()] == ["class-codes-16"]
    bench = make_bench()
    assert run_one(bench, results, CODES).before
    assert not run_one(bench, results, CCA).before


def test_another_split_needs_another_folder(fakes, make_bench, tmp_path):
    run_one(make_bench(), tmp_path / "results", CODES)
    with pytest.raises(BadArgument, match="Give another --out"):
        run_one(make_bench(protocol="unseen"), tmp_path / "results", CODES)


def test_a_line_that_was_cut_off_is_run_again(fakes, make_bench, tmp_path):
    bench, results = make_bench(), tmp_path / "results"
    run_one(bench, results, CODES)
    run_one(bench, results, CCA)
    path = results / FILE
    path.write_bytes(path.read_bytes()[:-40])
    assert [run.entry for run in Records(results).runs()] == [CODES]
    assert not run_one(bench, results, CCA).before
    with pytest.raises(DamagedState, match="line 5"):  # a damaged line that is not the last is told
        Records(results).runs()


def test_the_last_of_two_runs_of_an_entry_counts(fakes, make_bench, tmp_path):
    bench, results = make_bench(), tmp_path / "results"
    first = run_one(bench, results, CODES).record
    Records(results).add(replace(first, recipe="another", seconds=7.0), {"hash": "another"}, rankings(results))
    assert [(run.recipe, run.seconds) for run in Records(results).runs()] == [("another", 7.0)]


def rankings(folder):
    return Records(folder).rankings(CODES)


def test_the_sketch_network_is_fitted_once_for_all(fakes, make_bench, tmp_path):
    first = make_bench()
    seconds = run_one(first, tmp_path / "results", Entry("sketch-a-net", 49)).record.fit_seconds
    run_one(first, tmp_path / "results", CCA)
    assert fakes.taught == ((0, 1, 2),)
    later = make_bench()  # another process, with the same cache
    assert run_one(later, tmp_path / "other", Entry("sketch-a-net", 49)).record.fit_seconds == seconds
    assert fakes.taught == ((0, 1, 2),)


def test_the_sketch_networks_accuracy_on_the_queries_is_recorded(fakes, make_bench, tmp_path):
    bench, results = make_bench(), tmp_path / "results"
    run_one(bench, results, Entry("sketch-a-net", 49))
    run_one(bench, results, CODES)
    assert [run.accuracy for run in Records(results).runs()] == [pytest.approx(1 / 3, abs=1e-4), None]


def forget_accuracy(folder, entry):
    """Keep the run of an entry as older versions did, and return the folder's records."""
    records = Records(folder)
    run = next(run for run in records.runs() if run.entry == entry)
    records.add(replace(run, accuracy=None), {"hash": run.recipe}, records.rankings(entry))
    return records


def test_a_run_of_the_sketch_network_without_accuracy_is_made_again(fakes, make_bench, tmp_path):
    eyes, results = Entry("sketch-a-net", 49), tmp_path / "results"
    for entry in (eyes, CCA):
        run_one(make_bench(), results, entry)
    records = forget_accuracy(results, eyes)
    again = run_one(make_bench(), results, eyes)
    assert not again.before
    assert {run.method: run.accuracy for run in records.runs()} == {
        "cca": None,
        "sketch-a-net": pytest.approx(1 / 3, abs=1e-4),
    }
    assert run_one(make_bench(), results, eyes).before
    assert run_one(make_bench(), results, CCA).before


def test_a_sketch_network_that_was_kept_without_its_classifier_has_no_accuracy(
    fakes, make_bench, tmp_path, monkeypatch
):
    def classify(self, sketches):
        raise NotFitted("kept without")

    monkeypatch.setattr(fakes, "classify", classify)
    assert make_bench().sketch_accuracy() is None
    eyes, results = Entry("sketch-a-net", 49), tmp_path / "results"
    assert run_one(make_bench(), results, eyes).record.accuracy is None
    assert run_one(make_bench(), results, eyes).before  # again would not tell more


def test_pixels_that_do_not_fit_into_memory_go_into_the_cache(fakes, make_bench, tmp_path, monkeypatch):
    folders, fit, made = [], fakes.fit, pictures.TemporaryFile
    monkeypatch.setattr(fakes, "fit", lambda self, views: (pictures.read_photos(views.photos, 8), fit(self, views))[1])
    monkeypatch.setattr(pictures, "_IN_MEMORY", 0)
    monkeypatch.setattr(pictures, "TemporaryFile", lambda dir: folders.append(dir) or made(dir=dir))
    run_one(make_bench(), tmp_path / "results", CODES)  # the features of sketches need the network
    assert folders == [tmp_path / "cache" / "baselines"]


def test_categories_without_photos_teach_the_sketch_network_alone(fakes, make_bench, world):
    bench = make_bench(replace(world, photos=[photo for photo in world.photos if photo.label != 1]))
    assert set(bench.training(Input.FEATURES).sketch_labels.tolist()) == {0, 2}
    assert fakes.taught == ((0, 1, 2),)
    assert bench.experiment.queries == (3, 0, 3)


def test_features_are_those_of_the_pictures_asked_for(fakes, make_bench):
    bench = make_bench()
    ink = bench.queries(Input.PICTURES)
    expected = bench.sketch_net.fitted.method.encode_sketches(ink)
    np.testing.assert_allclose(bench.queries(Input.FEATURES), expected, rtol=1e-6)
    everything = bench.photo_trunk.features(bench.parts.gallery)
    np.testing.assert_array_equal(bench.photo_trunk.features(bench.parts.gallery[3:5]), everything[3:5])
    assert everything.shape == (30, 64)


def test_unseen_photos_are_found_and_not_learned_from(fakes, make_bench):
    bench = make_bench(protocol="unseen")
    assert len(bench.gallery(Input.PICTURES)) == 6
    assert len(bench.training(Input.PICTURES).photos) == 24
    assert not {item.id for item in bench.parts.gallery} & {item.id for item in bench.parts.training_photos}


@pytest.mark.slow
def test_a_training_is_shared_by_comparisons(make_bench, tmp_path, monkeypatch):
    monkeypatch.setattr("sketchhash.dsh.training.words.embed", lambda names, source, path: np.eye(len(names), 8))
    first = run_one(make_bench(), tmp_path / "results", Entry("dsh", 16))
    again = run_one(make_bench(), tmp_path / "other", Entry("dsh", 16))
    assert again.record.scores == first.record.scores
    assert len(list((tmp_path / "cache" / "runs").iterdir())) == 1  # trained once for both


REAL = [distance for distance in Distance if distance is not Distance.HAMMING]


def test_codes_take_a_bit_a_column_and_vectors_four_bytes():
    gallery = np.ones((10, 64))
    assert gallery_bytes(Distance.HAMMING, gallery) == 80
    assert gallery_bytes(Distance.COSINE, gallery) == 2560


@pytest.mark.parametrize("distance", REAL)
def test_what_is_timed_ranks_as_the_scores_do(distance):
    rng = np.random.default_rng(0)
    queries, gallery = rng.random((6, 5)), rng.random((40, 5))
    gallery[3] = 0
    labels = rng.integers(0, 3, 6), rng.integers(0, 3, 40)
    timed = np.stack(
        [distances_from(distance, gallery.astype(np.float32))(query) for query in queries.astype(np.float32)]
    )
    expected = rank_encodings(distance, queries, gallery, *labels)
    found = rank_distances([timed], *labels)
    np.testing.assert_array_equal(found.sizes, expected.sizes)
    np.testing.assert_array_equal(found.relevant, expected.relevant)


@given(arrays(np.float32, st.integers(1, 30), elements=st.floats(-5, 5, width=16)), st.integers(1, 30))
def test_the_nearest_are_the_smallest_in_order(distances, depth):
    rows = nearest(distances, min(depth, len(distances)))
    np.testing.assert_array_equal(distances[rows], np.sort(distances)[:depth])
    assert len(set(rows.tolist())) == len(rows)


@pytest.mark.parametrize("distance", Distance)
def test_a_query_takes_some_time(distance):
    rng = np.random.default_rng(0)
    timing = time_queries(distance, rng.normal(size=(3, 16)), rng.normal(size=(50, 16)))
    assert 0 < timing.best <= timing.p50
    assert timing.calls >= 5
