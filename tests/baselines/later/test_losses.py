import numpy as np
import pytest

from sketchhash.baselines import Views
from sketchhash.baselines.later.posteriors import CategoryChances
from sketchhash.baselines.later.sake import KnowledgePreservation
from sketchhash.baselines.later.triplet_hashing import TripletHashing
from sketchhash.errors import BadArgument, DamagedState


def test_chances_sum_to_1_and_follow_the_penalty(views):
    loose, tight = (CategoryChances(1, penalty=penalty).fit(views) for penalty in (1e-3, 10.0))
    chances = [method.encode_photos(views.photos) for method in (loose, tight)]
    for some in chances:
        np.testing.assert_allclose(some.sum(axis=1), 1)
    assert chances[0].max(axis=1).mean() > 0.9 > chances[1].max(axis=1).mean()


def test_chances_are_those_of_a_known_regression():
    sklearn = pytest.importorskip("sklearn.linear_model")
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 30)
    features = rng.normal(size=(90, 4)) + labels[:, None]
    method = CategoryChances(1, penalty=0.1).fit(Views(features, labels, features, labels))
    scaled = (features - features.mean(axis=0)) / features.std(axis=0)
    known = sklearn.LogisticRegression(C=1 / (0.1 * 90), max_iter=1000).fit(scaled, labels).predict_proba(scaled)
    np.testing.assert_allclose(method.encode_photos(features), known, atol=2e-3)


def test_knowledge_of_a_classifier_changes_what_is_learned(views):
    said = np.eye(6)[(views.photo_labels + 1) % 6]
    told = Views(views.photos, views.photo_labels, views.sketches, views.sketch_labels, said)
    plain, taught = (KnowledgePreservation(8, epochs=2).fit(some) for some in (views, told))
    assert not np.allclose(plain.encode_photos(views.photos), taught.encode_photos(views.photos))
    same = KnowledgePreservation(8, epochs=2, knowledge=1.0).fit(told)
    assert not np.allclose(same.encode_photos(views.photos), taught.encode_photos(views.photos))


def test_opinions_of_other_photos_are_refused(views):
    told = Views(views.photos, views.photo_labels, views.sketches, views.sketch_labels, np.eye(3))
    with pytest.raises(BadArgument, match="3 opinions"):
        KnowledgePreservation(8, epochs=1).fit(told)


def test_weights_of_something_else_are_refused(views):
    state = dict(TripletHashing(8, epochs=1).fit(views).state())
    state.pop("photos.standard.running_mean")
    with pytest.raises(DamagedState):
        TripletHashing(8).restore(state)
