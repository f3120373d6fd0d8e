from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sketchhash.dsh import discrete, textbook
from sketchhash.dsh.discrete import random_codes, solve_basis, update_codes
from sketchhash.dsh.objective import Problem, Samples, objective, orthogonal_similarity, paper_similarity
from sketchhash.errors import BadArgument

CLASSES, DIMENSIONS = 4, 6


def samples_of(labels, bits, rng):
    labels = np.asarray(labels)
    values = rng.standard_normal((len(labels), bits), dtype=np.float32)
    return Samples(labels, random_codes(len(labels), bits, rng), values)


def total(problem, photos, sketches, basis):
    return objective(problem, photos, sketches, basis).total


@st.composite
def rounds(draw):
    """A problem with photos and sketches: few or many, any labels, weights and similarity."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    bits = draw(st.sampled_from([8, 16, 24, 32]))
    similarity = rng.standard_normal((CLASSES, CLASSES))
    problem = Problem(
        word_vectors=rng.standard_normal((CLASSES, DIMENSIONS)),
        similarity=draw(st.sampled_from([paper_similarity(CLASSES), np.eye(CLASSES), similarity + similarity.T])),
        semantic_weight=draw(st.sampled_from([0.0, 0.01, 1.0, 100.0])),
        quantisation_weight=draw(st.sampled_from([0.0, 1e-5, 1.0, 100.0])),
        pairwise_weight=draw(st.sampled_from([0.0, 0.1, 1.0])),
        basis_weight=draw(st.sampled_from([0.0, 0.5, 50.0])),
    )
    labels = st.lists(st.integers(0, draw(st.integers(0, CLASSES - 1))), min_size=1, max_size=30)
    return problem, samples_of(draw(labels), bits, rng), samples_of(draw(labels), bits, rng)


@pytest.fixture
def rng():
    return np.random.default_rng(11)


@pytest.fixture
def problem(rng):
    return Problem(rng.standard_normal((CLASSES, DIMENSIONS)), paper_similarity(CLASSES), 0.5, 0.3)


@settings(deadline=None, max_examples=60)
@given(rounds())
def test_no_step_raises_the_objective(case):
    problem, photos, sketches = case
    rng = np.random.default_rng(0)
    basis = rng.standard_normal((DIMENSIONS, photos.bits))
    totals = [total(problem, photos, sketches, basis)]
    for _ in range(3):
        basis = solve_basis(problem, photos, sketches)
        totals.append(total(problem, photos, sketches, basis))
        photos = update_codes(problem, photos, sketches, basis)
        totals.append(total(problem, photos, sketches, basis))
        sketches = update_codes(problem, sketches, photos, basis)
        totals.append(total(problem, photos, sketches, basis))
    assert all(after <= before + 1e-10 * totals[0] for before, after in pairwise(totals))


@settings(deadline=None, max_examples=60)
@given(rounds())
def test_no_single_bit_can_lower_the_objective_after_an_update(case):
    problem, photos, sketches = case
    basis = solve_basis(problem, photos, sketches)
    photos = update_codes(problem, photos, sketches, basis)
    best = textbook.objective(problem, photos, sketches, basis)
    rounding = 1e-12 * textbook.objective(problem, photos, sketches, np.zeros_like(basis))
    for bit in range(photos.bits):
        flipped = photos.codes.copy()
        flipped[0, bit] *= -1
        other = textbook.objective(problem, replace(photos, codes=flipped), sketches, basis)
        assert other >= best - rounding


@settings(deadline=None, max_examples=60)
@given(rounds(), st.sampled_from([1, 2, 50]))
def test_codes_without_real_parts_equal_the_textbook_even_at_ties(case, max_sweeps):
    problem, photos, sketches = case
    whole = replace(
        problem,
        similarity=paper_similarity(CLASSES),
        semantic_weight=0.0,
        quantisation_weight=0.0,
        pairwise_weight=1.0,
    )
    basis = np.zeros((DIMENSIONS, photos.bits))
    ours = update_codes(whole, photos, sketches, basis, max_sweeps=max_sweeps)
    theirs = textbook.update_codes(whole, photos, sketches, basis, max_sweeps=max_sweeps)
    np.testing.assert_array_equal(ours.codes, theirs.codes)


@pytest.mark.parametrize("max_sweeps", [1, 2, 50])
@pytest.mark.parametrize("bits", [8, 24, 32, 100])
@pytest.mark.parametrize("basis_weight", [0.0, 300.0])
def test_a_whole_round_equals_the_textbook_bit_for_bit(problem, rng, bits, max_sweeps, basis_weight):
    problem = replace(problem, basis_weight=basis_weight)
    photos = samples_of(rng.integers(0, CLASSES, 500), bits, rng)
    sketches = samples_of(rng.integers(0, CLASSES, 200), bits, rng)

    def one_round(steps):
        basis = steps.solve_basis(problem, photos, sketches)
        new_photos = steps.update_codes(problem, photos, sketches, basis, max_sweeps=max_sweeps)
        new_sketches = steps.update_codes(problem, sketches, new_photos, basis, max_sweeps=max_sweeps)
        return basis, new_photos.codes, new_sketches.codes

    ours, theirs = one_round(discrete), one_round(textbook)
    np.testing.assert_allclose(ours[0], theirs[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(ours[1], theirs[1])
    np.testing.assert_array_equal(ours[2], theirs[2])


@pytest.mark.parametrize(("quantisation", "is_shared"), [(0.0, True), (0.1, True), (1.5, False)])
def test_views_share_codes_unless_each_follows_its_own_network(rng, quantisation, is_shared):
    """Networks that lean another way on 4 of 32 bits, as they may when they start: a weight of 1.5 writes that down."""
    categories, each, bits = 40, 20, 32
    labels = np.repeat(np.arange(categories), each)
    leaning = np.zeros((len(labels), bits), dtype=np.float32)
    leaning[:, :4] = 0.5
    photos, sketches = (Samples(labels, random_codes(len(labels), bits, rng), lean) for lean in (leaning, -leaning))
    problem = Problem(
        rng.standard_normal((categories, DIMENSIONS)),
        orthogonal_similarity(categories, bits),
        semantic_weight=0.0,
        quantisation_weight=quantisation * len(labels),
    )
    basis = np.zeros((DIMENSIONS, bits))
    for _ in range(15):
        photos = update_codes(problem, photos, sketches, basis)
        sketches = update_codes(problem, sketches, photos, basis)
    assert np.array_equal(photos.codes, sketches.codes) == is_shared


@settings(deadline=None, max_examples=40)
@given(rounds())
def test_blocks_panels_and_threads_never_change_a_bit(case):
    problem, photos, sketches = case
    basis = solve_basis(problem, photos, sketches)
    reference = update_codes(problem, photos, sketches, basis, threads=1).codes
    for block, panel, threads in [(1, 3, 2), (7, 16, 3), (2048, 1, 1), (5, 64, 2)]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(discrete, "_BLOCK", block)
            patch.setattr(discrete, "_PANEL", panel)
            codes = update_codes(problem, photos, sketches, basis, threads=threads).codes
        np.testing.assert_array_equal(codes, reference)


def test_near_ties_fall_the_same_way_in_any_order_of_summation(rng, monkeypatch):
    """Tenths cancel in the reals but not in floats, where 0.1 + 0.2 - 0.3 depends on the order."""
    problem = Problem(np.zeros((1, 1)), np.eye(1), 1.0, 0.0, 0.0)
    basis = rng.integers(1, 9, (1, 64)) / 10
    photos, sketches = samples_of([0] * 300, 64, rng), samples_of([0], 64, rng)
    reference = update_codes(problem, photos, sketches, basis).codes
    for panel in (1, 5, 64):
        monkeypatch.setattr(discrete, "_PANEL", panel)
        np.testing.assert_array_equal(update_codes(problem, photos, sketches, basis).codes, reference)


def test_one_photo_alone_is_never_better_than_the_best_of_all_codes(problem, rng):
    photo, sketches = samples_of([1], 8, rng), samples_of(rng.integers(0, CLASSES, 9), 8, rng)
    basis = solve_basis(problem, photo, sketches)
    every_code = [np.array([bits], dtype=np.int8) for bits in product([-1, 1], repeat=8)]
    best = min((replace(photo, codes=code) for code in every_code), key=lambda p: total(problem, p, sketches, basis))

    found = update_codes(problem, photo, sketches, basis)
    lowest = total(problem, best, sketches, basis)
    assert lowest <= total(problem, found, sketches, basis) <= total(problem, photo, sketches, basis)
    kept = update_codes(problem, best, sketches, basis)
    np.testing.assert_array_equal(kept.codes, best.codes)


def test_the_sketch_step_mirrors_the_photo_step(problem, rng):
    photos = samples_of(rng.integers(0, CLASSES, 40), 16, rng)
    sketches = samples_of(rng.integers(0, CLASSES, 25), 16, rng)
    basis = solve_basis(problem, photos, sketches)
    updated = update_codes(problem, sketches, photos, basis)
    assert total(problem, photos, updated, basis) < total(problem, photos, sketches, basis)
    np.testing.assert_array_equal(updated.codes, textbook.update_codes(problem, sketches, photos, basis).codes)


def test_ties_become_plus_one(rng):
    indifferent = Problem(np.zeros((1, 1)), np.zeros((1, 1)), 0.0, 0.0, 0.0)
    photos, sketches = samples_of([0, 0, 0], 8, rng), samples_of([0], 8, rng)
    assert (update_codes(indifferent, photos, sketches, np.zeros((1, 8))).codes == 1).all()


@pytest.mark.parametrize("basis_weight", [0.0, 20.0])
def test_the_basis_is_where_the_gradient_vanishes_and_no_step_away_is_better(problem, rng, basis_weight):
    problem = replace(problem, basis_weight=basis_weight)
    photos, sketches = samples_of(rng.integers(0, CLASSES, 60), 8, rng), samples_of([0, 1, 2], 8, rng)
    basis = solve_basis(problem, photos, sketches)
    codes = np.vstack([photos.codes, sketches.codes]).T.astype(np.float64)
    labels = np.concatenate([photos.labels, sketches.labels])
    gradient = (basis @ codes - problem.word_vectors[labels].T) @ codes.T + basis_weight * basis
    np.testing.assert_allclose(gradient, 0.0, atol=1e-10)

    lowest = total(problem, photos, sketches, basis)
    for _ in range(20):
        assert total(problem, photos, sketches, basis + 0.01 * rng.standard_normal(basis.shape)) > lowest


def test_the_basis_is_optimal_and_smallest_where_the_codes_leave_it_open(problem, rng):
    photos, sketches = samples_of([0, 1, 1, 3], 24, rng), samples_of([2], 24, rng)
    repeated = np.hstack([photos.codes[:, :12]] * 2)
    photos = replace(photos, codes=repeated)
    codes = np.vstack([photos.codes, sketches.codes]).astype(np.float64)
    words = problem.word_vectors[np.concatenate([photos.labels, sketches.labels])]
    smallest = np.linalg.lstsq(codes, words, rcond=None)[0].T
    np.testing.assert_allclose(solve_basis(problem, photos, sketches), smallest, atol=1e-10)


@pytest.mark.parametrize(("basis_weight", "tells_them_apart"), [(0.0, False), (4.0, True)])
def test_only_a_basis_kept_small_tells_codes_that_follow_the_words_from_others(basis_weight, tells_them_apart):
    """Two pairs of alike words, and four codes of which each pair shares most bits, or four unrelated ones."""
    words = np.array([[1.0, 0.3, 0.0, 0.0], [1.0, -0.3, 0.0, 0.0], [0.0, 0.0, 1.0, 0.3], [0.0, 0.0, 1.0, -0.3]])
    problem = Problem(words, np.eye(4), 1.0, 0.0, 0.0, basis_weight)
    unrelated = np.array([[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1]]).repeat(2, axis=1)
    following = np.array([[1] * 8, [1] * 7 + [-1], [1, -1] * 4, [1, -1] * 3 + [1, 1]])

    def semantic_part(codes):
        samples = Samples(np.arange(4), codes.astype(np.int8), np.zeros((4, 8)))
        return total(problem, samples, samples, solve_basis(problem, samples, samples))

    assert (semantic_part(unrelated) - semantic_part(following) > 0.1) == tells_them_apart


def test_inputs_are_left_alone(problem, rng):
    photos, sketches = samples_of([0, 1, 2], 8, rng), samples_of([0, 3], 8, rng)
    basis = solve_basis(problem, photos, sketches)
    arrays = [photos.labels, photos.codes, photos.values, sketches.codes, sketches.values, basis]
    arrays += [problem.word_vectors, problem.similarity]
    before = [array.copy() for array in arrays]
    update_codes(problem, photos, sketches, basis)
    objective(problem, photos, sketches, basis)
    for array, copy in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_random_codes_are_fair_and_repeatable():
    codes = random_codes(4000, 16, np.random.default_rng(5))
    assert codes.dtype == np.int8
    assert set(np.unique(codes)) == {-1, 1}
    assert abs(codes.mean()) < 0.02
    np.testing.assert_array_equal(codes, random_codes(4000, 16, np.random.default_rng(5)))


@pytest.mark.parametrize("arguments", [{"max_sweeps": 0}, {"threads": 0}])
def test_no_sweeps_and_no_threads_are_refused(problem, rng, arguments):
    photos, sketches = samples_of([0], 8, rng), samples_of([1], 8, rng)
    with pytest.raises(BadArgument, match=next(iter(arguments))):
        update_codes(problem, photos, sketches, np.zeros((DIMENSIONS, 8)), **arguments)


@pytest.mark.parametrize(("count", "bits"), [(0, 8), (3, 0)])
def test_codes_without_samples_or_bits_are_refused(rng, count, bits):
    with pytest.raises(BadArgument):
        random_codes(count, bits, rng)
