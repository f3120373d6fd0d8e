import numpy as np
import pytest
import torch

from sketchhash.baselines import Views
from sketchhash.baselines.later.gdh import DomainMigration, reversed_gradient
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


def test_a_reversed_gradient_changes_its_sign_and_not_the_values():
    values = torch.tensor([1.0, -2.0], requires_grad=True)
    after = reversed_gradient(values)
    assert torch.equal(after, values)
    after.sum().backward()
    assert values.grad.tolist() == [-1, -1]


def test_sketches_are_migrated_and_then_hashed_as_photos_are(views):
    method = DomainMigration(8, epochs=3).fit(views)
    state = method.state()
    shared = [name for name in state if "hashing" in name]
    assert shared and all(name.startswith("photos.") for name in shared)
    assert any(name.startswith("sketches.migrate") for name in state)


def test_pictures_of_a_category_learn_one_code_in_both_views(views):
    method = DomainMigration(16, epochs=40).fit(views)
    photos, sketches = (
        np.stack([np.sign(values)[labels == label].mean(axis=0) for label in range(6)])
        for values, labels in (
            (method.encode_photos(views.photos), views.photo_labels),
            (method.encode_sketches(views.sketches), views.sketch_labels),
        )
    )
    assert np.abs(photos).mean() > 0.8 and np.abs(sketches).mean() > 0.8
    assert (np.sign(photos) == np.sign(sketches)).mean() > 0.95


def test_judges_and_cycles_change_what_is_learned(views):
    plain, judged, cycled = (
        DomainMigration(8, epochs=2, adversarial=weight, cycle=cycle).fit(views).encode_sketches(views.sketches)
        for weight, cycle in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))
    )
    assert not np.allclose(plain, judged) and not np.allclose(plain, cycled)
