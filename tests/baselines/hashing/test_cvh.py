import numpy as np

from sketchhash.baselines import CanonicalCorrelation
from sketchhash.baselines.hashing import CrossViewHashing
from sketchhash.codes import sign


def test_codes_are_the_signs_of_canonical_correlation(views):
    hashing, embedding = (kind(8, pairs=1200).fit(views) for kind in (CrossViewHashing, CanonicalCorrelation))
    for method in ("encode_photos", "encode_sketches"):
        given = views.photos if method == "encode_photos" else views.sketches
        np.testing.assert_array_equal(sign(getattr(hashing, method)(given)), sign(getattr(embedding, method)(given)))
