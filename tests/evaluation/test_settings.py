"""The settings hold what they say: checked item by item against the split."""

from collections import Counter

import pytest

from sketchhash.datasets import draw_joined_split, draw_split, join
from sketchhash.errors import BadArgument, SplitProblem
from sketchhash.evaluation.settings import EvaluationData, PhotoLimit, SettingKind


@pytest.fixture
def settings(berlin, quick, elsewhere, split):
    return EvaluationData([berlin, quick], split).settings([elsewhere])


def ids(items):
    return {item.id for item in items}


def only(settings, kind, sketches="berlin", photos="berlin"):
    (found,) = (s for s in settings if (s.kind, s.sketches, s.photos) == (kind, sketches, photos))
    return found


def test_every_collection_of_sketches_searches_every_collection_of_photos(settings):
    assert [(s.sketches, s.photos, s.kind) for s in settings] == [
        ("berlin", "berlin", "seen photos"),
        ("quick", "berlin", "seen photos"),
        ("berlin", "berlin", "unseen photos"),
        ("quick", "berlin", "unseen photos"),
        ("berlin", "berlin", "unseen categories"),
        ("quick", "berlin", "unseen categories"),
        ("berlin", "elsewhere", "another collection"),
        ("quick", "elsewhere", "another collection"),
    ]


def test_no_sketch_that_trained_asks(settings, berlin, quick, split):
    trained = ids(split.apply(join([berlin, quick])).training_sketches)
    assert trained
    for setting in settings:
        assert setting.queries
        assert not trained & ids(setting.queries)


def test_seen_and_unseen_photos_are_those_of_the_split(settings, berlin, quick, split):
    parts = split.apply(join([berlin, quick]))
    seen, unseen = (only(settings, kind) for kind in (SettingKind.SEEN_PHOTOS, SettingKind.UNSEEN_PHOTOS))
    assert ids(seen.gallery) == ids(parts.training_photos)
    umbrella = parts.categories.index("umbrella")
    assert ids(unseen.gallery) == {
        photo.id for photo in parts.gallery if photo.id in split.held_out_photos and photo.label != umbrella
    }
    assert not ids(seen.gallery) & ids(unseen.gallery)
    assert Counter(photo.label for photo in unseen.gallery) == dict.fromkeys({0, 1, 2, 3, 4} - {0, umbrella}, 2)


def test_categories_kept_out_of_training_are_in_their_own_settings_alone(settings, berlin, quick):
    umbrella = join([berlin, quick]).categories.index("umbrella")
    for setting in settings:
        labels = {item.label for item in (*setting.queries, *setting.gallery)}
        if setting.kind is SettingKind.UNSEEN_CATEGORIES:
            assert labels == {umbrella}
        else:
            assert umbrella not in labels
    strange = only(settings, SettingKind.UNSEEN_CATEGORIES)
    assert len(strange.gallery) == 5  # held-out ones too
    assert len(strange.queries) == 2


def test_every_query_can_find_something(settings):
    for setting in settings:
        assert {query.label for query in setting.queries} <= {photo.label for photo in setting.gallery}


def test_another_collection_is_searched_over_the_categories_both_have(settings, berlin, quick):
    categories = join([berlin, quick]).categories
    for sketches in ("berlin", "quick"):
        other = only(settings, SettingKind.OTHER_COLLECTION, sketches, "elsewhere")
        assert Counter(categories[photo.label] for photo in other.gallery) == {"cat": 3, "key": 3}
        assert Counter(categories[query.label] for query in other.queries) == {"cat": 2, "key": 2}
        assert all(query.id.startswith(f"{sketches}: ") for query in other.queries)


def test_an_id_stands_for_one_item_in_all_settings(settings):
    contents = {}
    for setting in settings:
        for kind in ("queries", "gallery"):
            for item in getattr(setting, kind):
                assert contents.setdefault((kind, item.id), item.content) == item.content


def test_ids_do_not_depend_on_how_many_collections_there_are(berlin, quick):
    alone, joined = (EvaluationData(collections, None).settings()[0] for collections in ([berlin], [berlin, quick]))
    assert alone.sketches == joined.sketches
    assert ids(alone.queries) == ids(joined.queries)
    assert ids(alone.gallery) == ids(joined.gallery)


def test_without_a_split_everything_asks_and_is_searched(berlin):
    (setting,) = EvaluationData([berlin], None).settings()
    assert setting.kind is SettingKind.ALL_PHOTOS
    assert (len(setting.queries), len(setting.gallery)) == (24, 20)


def test_the_papers_split_has_no_unseen_photos_and_no_unseen_categories(berlin):
    (setting,) = EvaluationData([berlin], draw_split(berlin, queries=2)).settings()
    assert setting.kind is SettingKind.SEEN_PHOTOS
    assert (len(setting.queries), len(setting.gallery)) == (8, 20)


def test_a_cap_draws_the_same_photos_for_all_who_ask(berlin, quick, split):
    capped = EvaluationData([berlin, quick], split, PhotoLimit(2, seed=5)).settings()
    seen = only(capped, SettingKind.SEEN_PHOTOS)
    assert set(Counter(photo.label for photo in seen.gallery).values()) == {2}
    assert ids(seen.gallery) == ids(only(capped, SettingKind.SEEN_PHOTOS, "quick").gallery)
    assert ids(seen.gallery) < ids(
        only(EvaluationData([berlin, quick], split).settings(), SettingKind.SEEN_PHOTOS).gallery
    )
    draws = {
        frozenset(
            ids(
                only(
                    EvaluationData([berlin, quick], split, PhotoLimit(2, seed)).settings(), SettingKind.SEEN_PHOTOS
                ).gallery
            )
        )
        for seed in (5, 5, 6, 7)
    }
    assert 2 <= len(draws) <= 3


def test_a_split_of_other_data_is_refused(berlin, split):
    with pytest.raises(SplitProblem, match="another state"):
        EvaluationData([berlin], split)


def test_the_data_itself_is_no_other_collection(berlin, quick):
    with pytest.raises(BadArgument, match="berlin is given twice"):
        EvaluationData([berlin, quick], None).settings([berlin])


def test_sketches_of_a_zero_shot_category_of_one_collection_search_photos_of_another(berlin, quick):
    split = draw_joined_split([quick, berlin], queries=1, unseen_categories=["cat", "apple"])
    strange = only(EvaluationData([quick, berlin], split).settings(), SettingKind.UNSEEN_CATEGORIES, "quick")
    categories = join([quick, berlin]).categories
    assert {categories[query.label] for query in strange.queries} == {"cat"}
