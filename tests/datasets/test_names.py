import pytest

from sketchhash.datasets.names import (
    fold,
    meaning,
    sketchy_categories,
    tuberlin_categories,
    zero_shot_categories,
    zero_shot_lists,
)
from sketchhash.errors import UnknownName


@pytest.mark.parametrize(("categories", "count"), [(tuberlin_categories(), 250), (sketchy_categories(), 125)])
def test_no_two_categories_share_a_spelling(categories, count):
    assert len(categories.names) == count
    assert len({fold(name) for name in categories.names}) == count
    assert all(categories.find(name) == name for name in categories.names)


def test_misspelt_photo_folders_lead_to_their_category():
    categories = tuberlin_categories()
    assert categories.find("spacesshuttle") == "space shuttle"
    assert categories.find("bearanimal") == "bear (animal)"
    assert categories.find("unicorn") is None


@pytest.mark.parametrize(
    ("one", "other"),
    [("car (sedan)", "automobile"), ("crane (machine)", "crane"), ("ship", "cruise ship"), ("tv", "television")],
)
def test_names_of_other_datasets_mean_the_same(one, other):
    assert meaning(one) == meaning(other)


@pytest.mark.parametrize(
    ("one", "other"), [("computer monitor", "computer"), ("mug", "coffee cup"), ("nail", "hammer")]
)
def test_names_that_only_look_alike_stay_apart(one, other):
    assert meaning(one) != meaning(other)


@pytest.mark.parametrize("name", zero_shot_lists())
def test_zero_shot_lists_name_categories_of_their_dataset(name):
    unseen = zero_shot_categories(name)
    assert len(set(unseen)) == len(unseen) > 20
    known = {"tuberlin": tuberlin_categories(), "sketchy": sketchy_categories()}.get(name.split("-")[0])
    if known:
        assert all(known.find(category) for category in unseen)


def test_an_unknown_list_suggests_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'sketchy-sake'"):
        zero_shot_categories("sketchy-sak")
