import numpy as np
import pytest

from sketchhash.baselines import Distance
from sketchhash.codes import sign
from sketchhash.evaluation import TieGroups, mean_average_precision, rank_distances
from sketchhash.paper.methods import rank_encodings

BRUTE_FORCE = {
    Distance.HAMMING: lambda x, y: (sign(x) != sign(y)).sum(),
    Distance.EUCLIDEAN: lambda x, y: np.linalg.norm(x - y),
    Distance.MANHATTAN: lambda x, y: np.abs(x - y).sum(),
    Distance.COSINE: lambda x, y: -(x @ y) / np.linalg.norm(x) / np.linalg.norm(y),
    Distance.INNER_PRODUCT: lambda x, y: -(x @ y),
    Distance.INTERSECTION: lambda x, y: -np.minimum(x, y).sum(),
}


@pytest.mark.parametrize("distance", Distance)
def test_each_distance_ranks_as_it_is_defined(distance):
    rng = np.random.default_rng(0)
    sketches, photos = rng.normal(size=(20, 16)), rng.normal(size=(50, 16))
    if distance is Distance.INTERSECTION:
        sketches, photos = np.abs(sketches), np.abs(photos)
    labels = rng.integers(0, 4, 20), rng.integers(0, 4, 50)
    found: TieGroups = rank_encodings(distance, sketches, photos, *labels)
    defined = np.array([[BRUTE_FORCE[distance](sketch, photo) for photo in photos] for sketch in sketches])
    expected = rank_distances([defined], *labels)
    assert mean_average_precision(found).value == pytest.approx(mean_average_precision(expected).value, abs=1e-12)
    np.testing.assert_array_equal(found.merged().sizes, expected.sizes)
    np.testing.assert_array_equal(found.merged().relevant, expected.relevant)
