import numpy as np

from sketchhash.baselines import ClassCodes


def test_ridge_without_penalty_is_least_squares(views):
    method = ClassCodes(8, ridge=0.0).fit(views)
    design = np.column_stack([views.photos, np.ones(len(views.photos))])
    codes = np.random.default_rng(0).choice([-1.0, 1.0], (6, 8))[views.photo_labels]
    expected = design @ np.linalg.lstsq(design, codes, rcond=None)[0]
    np.testing.assert_allclose(method.encode_photos(views.photos), expected, atol=1e-8)


def test_another_seed_draws_other_codes(views):
    first, other = (ClassCodes(16, seed=seed).fit(views).encode_photos(views.photos) for seed in (0, 1))
    assert not np.allclose(first, other)
