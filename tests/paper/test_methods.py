import numpy as np
import pytest
import torch

from sketchhash.baselines import Distance
from sketchhash.codes import sign
from sketchhash.dsh.progress import Silent
from sketchhash.dsh.recipe import load_recipe
from sketchhash.evaluation import TieGroups, mean_average_precision, rank_distances
from sketchhash.paper import Entry
from sketchhash.paper.methods import prepare_method, rank_encodings
from sketchhash.paper.workbench import Workbench

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


def test_a_recipe_that_trains_its_trunks_leaves_the_others_a_frozen_one(world, tmp_path):
    assert not load_recipe("tiny").frozen_trunks
    bench = Workbench(world, "seen", "tiny", 0, 3, tmp_path, Silent())
    assert prepare_method(Entry("dsh", 8), bench).recipe["name"] == "tiny"
    photos = prepare_method(Entry("cca", 8), bench).recipe["photo_features"]
    assert photos == {"trunk": "C1 of compact", "side": 192}


def test_plain_methods_see_features_of_trunks_that_learn_with_everything_else(world, quick_recipe, tmp_path):
    recipe = tmp_path / "thawed.toml"
    recipe.write_text(f'base = "{quick_recipe}"\ndescription = "All weights."\nfrozen_trunks = false\n')
    bench = Workbench(world, "seen", str(recipe), 0, 3, tmp_path, Silent())
    found = prepare_method(Entry("trunk-ridge", 8), bench).encode()
    assert found.gallery.shape == (len(bench.parts.gallery), 8)
    features = bench.pretrained(8).photos(bench.parts.gallery)
    assert features.batch(torch.arange(2), None).shape == (2, 64)
