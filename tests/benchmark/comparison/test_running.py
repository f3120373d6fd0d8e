import json
from dataclasses import replace

import numpy as np
import pytest

from sketchhash.baselines import Input
from sketchhash.baselines.crossview.cca import CanonicalCorrelation
from sketchhash.benchmark.comparison.contenders import Compared
from sketchhash.benchmark.comparison.entries import Entry
from sketchhash.benchmark.comparison.records import Records
from sketchhash.benchmark.comparison.running import Comparison, Failed, Finished
from sketchhash.benchmark.study import Entry as StudyEntry
from sketchhash.benchmark.study import Study
from sketchhash.codes import hamming
from sketchhash.dsh.progress import Silent
from sketchhash.errors import BadArgument, DamagedState
from sketchhash.evaluation import TieGroups, mean_average_precision

CCA, CODES = Entry("cca", 8), Entry("class-codes", 16)


def crash(*_):
    raise RuntimeError("the matrix\nis singular")


def test_a_run_keeps_all_that_it_was_made_of(finished):
    document = json.loads((finished / "cca-8.json").read_text())
    assert document["recipe"]["implementation"] == "crossview.cca:CanonicalCorrelation"
    assert document["recipe"]["pairs"] == 100_000
    assert document["recipe"]["sketch_features"]["size"] == 49
    assert len(document["recipe"]["hash"]) == len(document["split_hash"]) == len(document["data_hash"]) == 64
    assert {"numpy", "sketchhash", "torch"} <= set(document["versions"])
    assert document["seconds"] >= document["fit_seconds"] > 0
    assert document["query_seconds"] > 0
    assert document["gallery_bytes"] == 30 * 8 * 4
    groups = TieGroups.load(finished / "cca-8.npz")
    assert mean_average_precision(groups).value == document["scores"]["mean_average_precision"]["value"]
    assert not (finished / "cca-8.codes.npz").exists()


def test_codes_are_kept_in_the_order_of_the_task(finished):
    records = Records(finished)
    record = records.read("class-codes-16")
    codes = records.codes(record)
    assert record.gallery_bytes == codes.gallery.nbytes == 30 * 2
    groups = TieGroups.load(finished / "class-codes-16.npz")
    sizes = [np.bincount(row, minlength=17) for row in hamming(codes.queries, codes.gallery)]
    np.testing.assert_array_equal(groups.sizes, np.concatenate(sizes))


def test_learned_features_find_more_than_chance(finished):
    records = Records(finished)
    assert records.scores(records.read("class-codes-16")).mean_average_precision.value > 0.45


def test_finished_runs_are_not_repeated(fakes, make_bench, tmp_path, monkeypatch):
    first = Comparison(make_bench(), tmp_path / "results").run(CCA)
    assert not first.before
    monkeypatch.setattr(Compared, "encode", lambda self: pytest.fail("a finished run was repeated"))
    again = Comparison(make_bench(), tmp_path / "results").run(CCA)
    assert again.before
    assert again.record == first.record
    assert again.scores == first.scores


def test_another_recipe_is_another_run(fakes, make_bench, tmp_path, monkeypatch):
    comparison = Comparison(make_bench(), tmp_path / "results")
    comparison.run(CCA)
    monkeypatch.setattr(
        "sketchhash.benchmark.comparison.contenders.settings_of", lambda method: {"ridge": method.ridge + 1}
    )
    assert not comparison.run(CCA).before


def test_a_method_that_crashes_is_reported_and_tried_again(fakes, make_bench, tmp_path):
    comparison = Comparison(make_bench(), tmp_path / "results")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CanonicalCorrelation, "fit", crash)
        failed = comparison.run(CCA)
        assert isinstance(comparison.run(CODES), Finished)
    assert isinstance(failed, Failed)
    assert failed.problem == "RuntimeError: the matrix is singular"
    assert failed.path == tmp_path / "results" / "cca-8.failed.txt"
    assert "Traceback" in failed.path.read_text()
    assert not (tmp_path / "results" / "cca-8.json").exists()

    assert isinstance(comparison.run(CCA), Finished)
    assert not failed.path.exists()


def test_a_method_that_cannot_be_built_does_not_stop_the_others(fakes, make_bench, tmp_path):
    failed = Comparison(make_bench(), tmp_path / "results").run(Entry("hog", 7))
    assert "1296 dimensions, not 7" in failed.problem


def test_an_interrupted_comparison_goes_on(fakes, make_bench, tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    comparison = Comparison(make_bench(), tmp_path / "results")
    comparison.run(CODES)
    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(CanonicalCorrelation, "encode_photos", interrupt)
        comparison.run(CCA)
    assert Records(tmp_path / "results").slugs() == ["class-codes-16"]
    comparison = Comparison(make_bench(), tmp_path / "results")
    assert comparison.run(CODES).before
    assert not comparison.run(CCA).before


def test_another_split_needs_another_folder(fakes, make_bench, tmp_path):
    Comparison(make_bench(), tmp_path / "results")
    with pytest.raises(BadArgument, match="Give another --out"):
        Comparison(make_bench(protocol="unseen"), tmp_path / "results")


def test_a_damaged_document_is_named(fakes, make_bench, tmp_path):
    comparison = Comparison(make_bench(), tmp_path / "results")
    comparison.run(CODES)
    path = tmp_path / "results" / "class-codes-16.json"
    path.write_text("{")
    with pytest.raises(DamagedState, match=r"class-codes-16\.json"):
        Records(tmp_path / "results").read("class-codes-16")
    assert "Remove it and run again" in comparison.run(CODES).problem


def test_the_sketch_network_is_fitted_once_for_all(fakes, make_bench, tmp_path):
    first = Comparison(make_bench(), tmp_path / "results")
    seconds = first.run(Entry("sketch-a-net", 49)).record.fit_seconds
    first.run(CCA)
    assert fakes.taught == ((0, 1, 2),)
    (tmp_path / "results" / "sketch-a-net-49.json").unlink()
    later = Comparison(make_bench(), tmp_path / "results")  # another process, with the same cache
    assert later.run(Entry("sketch-a-net", 49)).record.fit_seconds == seconds
    assert fakes.taught == ((0, 1, 2),)


def test_categories_without_photos_teach_the_sketch_network_alone(fakes, make_bench, world):
    bench = make_bench(replace(world, photos=[photo for photo in world.photos if photo.label != 1]))
    assert set(bench.training(Input.FEATURES).sketch_labels.tolist()) == {0, 2}
    assert fakes.taught == ((0, 1, 2),)
    assert set(bench.task.queries.labels) == {0, 2}


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


def test_a_recipe_that_trains_its_trunks_is_refused(world, tmp_path):
    from sketchhash.benchmark.comparison.workbench import Workbench

    with pytest.raises(BadArgument, match="frozen trunks"):
        Workbench(world, "seen", "tiny", 0, 3, tmp_path, Silent())


@pytest.mark.slow
def test_dsh_scores_in_a_comparison_what_it_scores_in_a_study(make_bench, quick_recipe, world, tmp_path, monkeypatch):
    monkeypatch.setattr("sketchhash.dsh.training.words.embed", lambda names, source: np.eye(len(names), 8))
    bench = make_bench()
    run = Comparison(bench, tmp_path / "results").run(Entry("dsh", 16))
    study = Study(world, tmp_path / "study", tmp_path / "cache", seed=0, queries=3, progress=Silent())
    result = next(iter(study.run([StudyEntry("full", quick_recipe, 16)])))
    assert run.scores.mean_average_precision.value == result.mean_average_precision
    assert len(list((tmp_path / "cache" / "runs").iterdir())) == 1  # trained once for both
