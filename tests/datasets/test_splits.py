import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sketchhash.datasets import (
    Dataset,
    Item,
    Split,
    draw_split,
    draw_zero_shot_split,
    halve_queries,
    inventory_hash,
    open_dataset,
    with_validation,
)
from sketchhash.errors import BadArgument, SplitProblem
from sketchhash.imaging.ink import Drawing


def make(sketches: list[int], photos: list[int]) -> Dataset:
    """Build a dataset with so many sketches and photos in each category."""
    names = tuple(f"c{label}" for label in range(len(sketches)))

    def items(counts: list[int], kind: str) -> tuple[Item, ...]:
        return tuple(
            Item(f"c{label}/{kind}{n}", label, Drawing(())) for label, count in enumerate(counts) for n in range(count)
        )

    return Dataset("made", names, items(sketches, "s"), items(photos, "p"))


counts = st.lists(st.tuples(st.integers(4, 12), st.integers(0, 9)), min_size=2, max_size=5)


@given(counts, st.integers(1, 3), st.integers(0, 5), st.sampled_from([0.0, 0.2, 0.5]))
def test_nobody_trains_on_what_asks_or_on_what_is_kept_unseen(counts, queries, seed, share):
    dataset = make([sketches for sketches, _ in counts], [photos for _, photos in counts])
    split = draw_split(dataset, queries, seed, share)
    parts = split.apply(dataset)
    assert set(split.query_sketches).isdisjoint(sketch.id for sketch in parts.training_sketches)
    assert len(split.query_sketches) + len(parts.training_sketches) == len(dataset.sketches)
    assert {query.id for query in parts.queries} <= set(split.query_sketches)
    for label, (_, photos) in enumerate(counts):
        assert sum(photo.label == label for photo in parts.training_photos) == photos - round(share * photos)
    if split.held_out_photos:
        assert {photo.id for photo in parts.gallery} == set(split.held_out_photos)
        assert {photo.id for photo in parts.gallery}.isdisjoint(photo.id for photo in parts.training_photos)


@given(counts, st.integers(1, 2), st.integers(0, 5), st.sampled_from([0.0, 0.2, 0.5]), st.integers(1, 2))
def test_validation_is_apart_from_training_queries_and_gallery(counts, queries, seed, share, validation):
    counts = [(2 * sketches, photos) for sketches, photos in counts]
    dataset = make([sketches for sketches, _ in counts], [photos for _, photos in counts])
    split = draw_split(dataset, queries, seed, share, validation)
    parts = split.apply(dataset)
    sketches = [split.query_sketches, split.validation_sketches, [item.id for item in parts.training_sketches]]
    assert sorted(name for group in sketches for name in group) == sorted(item.id for item in dataset.sketches)
    photos = [split.held_out_photos, split.validation_photos, [item.id for item in parts.training_photos]]
    assert sorted(name for group in photos for name in group) == sorted(item.id for item in dataset.photos)
    assert {photo.id for photo in parts.gallery}.isdisjoint(split.validation_photos)
    assert {photo.id for photo in parts.validation_gallery} == set(split.validation_photos)
    assert {query.id for query in parts.validation_queries} <= set(split.validation_sketches)
    assert {query.label for query in parts.validation_queries} <= {photo.label for photo in parts.validation_gallery}
    for label, (drawn, shown) in enumerate(counts):
        left = shown - round(share * shown)
        for names, count in ((split.validation_sketches, drawn - queries), (split.validation_photos, left)):
            assert sum(name.startswith(f"c{label}/") for name in names) == min(validation, count // 5)


@given(counts, st.integers(0, 5))
def test_halves_keep_the_same_out_of_training_and_share_no_query(counts, seed):
    dataset = make([sketches for sketches, _ in counts], [photos for _, photos in counts])
    whole = draw_split(dataset, 3, seed, 0.2)
    reported, for_choices = halve_queries(whole)
    assert {*reported.query_sketches} | {*for_choices.query_sketches} == {*whole.query_sketches}
    assert {*reported.query_sketches}.isdisjoint(for_choices.query_sketches)
    for half in (reported, for_choices):
        parts, undivided = half.apply(dataset), whole.apply(dataset)
        assert parts.training_sketches == undivided.training_sketches
        assert parts.training_photos == undivided.training_photos
        assert parts.gallery == undivided.gallery


def test_a_split_with_validation_is_not_halved():
    with pytest.raises(BadArgument, match="not divided"):
        halve_queries(draw_split(make([20, 20], [9, 9]), validation=2))


@given(counts, st.integers(0, 5), st.sampled_from([0.0, 0.2]))
def test_validation_does_not_change_what_is_reported(counts, seed, share):
    dataset = make([sketches for sketches, _ in counts], [photos for _, photos in counts])
    plain, validated = draw_split(dataset, 1, seed, share), draw_split(dataset, 1, seed, share, validation=2)
    assert validated.query_sketches == plain.query_sketches
    assert validated.held_out_photos == plain.held_out_photos
    assert validated.hash != plain.hash


def test_validation_is_drawn_by_seed_and_not_by_the_order_of_items():
    dataset = make([40, 40], [30, 30])
    split = draw_split(dataset, seed=1, validation=5)
    assert draw_split(dataset, seed=1, validation=5) == split
    assert draw_split(dataset, seed=2, validation=5).validation_sketches != split.validation_sketches
    plain = replace(draw_split(dataset, seed=1), inventory="")
    for order in (dataset, replace(dataset, sketches=dataset.sketches[::-1], photos=dataset.photos[::-1])):
        again = with_validation(replace(plain, inventory=inventory_hash(order)), order, 5)
        assert again.validation_sketches == split.validation_sketches
        assert again.validation_photos == split.validation_photos


def test_the_order_in_which_files_were_made_does_not_change_a_split(tmp_path, paint_photo, paint_sketch):
    for name, numbers in (("a", range(12)), ("b", reversed(range(12)))):
        for number in numbers:
            for category in ("cat", "dog") if name == "a" else ("dog", "cat"):
                paint_sketch(tmp_path / name / "zoo" / "sketches" / category / f"{number}.png")
                paint_photo(tmp_path / name / "zoo" / "photos" / category / f"{number}.jpg")
    first, second = (draw_split(open_dataset(tmp_path / name / "zoo"), 2, 3, 0.2, 2) for name in ("a", "b"))
    assert first == second
    assert len(first.validation_sketches) == 4


def test_zero_shot_validation_has_no_unseen_category():
    dataset = make([10, 10, 10], [10, 10, 10])
    split = draw_zero_shot_split(dataset, ["c1"], seed=3, validation=2)
    parts = split.apply(dataset)
    assert {item.label for item in parts.validation_queries + parts.validation_gallery} == {0, 2}
    assert {item.label for item in parts.queries + parts.gallery} == {1}
    assert draw_zero_shot_split(dataset, ["c1"], seed=3) == draw_zero_shot_split(dataset, ["c1"])


def test_a_negative_validation_is_refused():
    with pytest.raises(BadArgument, match="validation"):
        draw_split(make([4, 4], [2, 2]), queries=1, validation=-1)


def test_splits_without_validation_keep_the_hashes_and_files_of_format_1(tmp_path):
    dataset = make([12, 12], [5, 7])
    split = draw_split(dataset, 3, 1, 0.2)
    assert split.hash == "c4defe4b61b9ac3c1bfd997880177ab5e8776687e26f044d4828554e5f78b5c3"
    split.write(tmp_path / "split.json")
    document = json.loads((tmp_path / "split.json").read_text())
    assert document["format"] == 1
    assert not any("validation" in name for name in document)


def test_a_split_file_gives_back_validation(tmp_path):
    split = draw_split(make([12, 12], [5, 7]), 3, validation=2)
    split.write(tmp_path / "split.json")
    assert Split.read(tmp_path / "split.json") == split
    assert json.loads((tmp_path / "split.json").read_text())["format"] == 2


def test_the_papers_gallery_is_every_photo_and_every_photo_trains():
    dataset = make([12, 12], [5, 7])
    parts = draw_split(dataset, queries=10).apply(dataset)
    assert parts.gallery == parts.training_photos == dataset.photos
    assert len(parts.queries) == 20
    assert len(parts.training_sketches) == 4


def test_the_same_seed_draws_the_same_split_and_another_another():
    dataset = make([40, 40], [3, 3])
    assert draw_split(dataset, seed=1) == draw_split(dataset, seed=1)
    assert draw_split(dataset, seed=1).query_sketches != draw_split(dataset, seed=2).query_sketches


def test_keeping_photos_out_does_not_change_who_asks():
    dataset = make([40, 40], [10, 10])
    assert draw_split(dataset).query_sketches == draw_split(dataset, unseen_photos=0.2).query_sketches


def test_queries_of_categories_without_photos_neither_train_nor_ask():
    dataset = make([12, 12], [5, 0])
    parts = draw_split(dataset, queries=10).apply(dataset)
    assert {query.label for query in parts.queries} == {0}
    assert sum(sketch.label == 1 for sketch in parts.training_sketches) == 2


def test_zero_shot_categories_are_absent_from_training_and_alone_in_the_gallery():
    dataset = make([4, 4, 4], [2, 3, 4])
    parts = draw_zero_shot_split(dataset, ["C-1"]).apply(dataset)
    assert {item.label for item in parts.training_sketches + parts.training_photos} == {0, 2}
    assert {item.label for item in parts.queries + parts.gallery} == {1}
    assert (len(parts.queries), len(parts.gallery)) == (4, 3)


def test_zero_shot_needs_known_categories_and_leaves_some_to_train():
    dataset = make([4, 4], [2, 2])
    with pytest.raises(SplitProblem, match="no category 'unicorn'"):
        draw_zero_shot_split(dataset, ["unicorn"])
    with pytest.raises(SplitProblem, match="at least one"):
        draw_zero_shot_split(dataset, ["c0", "c1"])


def test_a_category_with_too_few_sketches_is_named():
    with pytest.raises(SplitProblem, match=r"c1.*--queries"):
        draw_split(make([12, 10], [1, 1]), queries=10)


@pytest.mark.parametrize(("queries", "share"), [(0, 0.0), (1, 1.0), (1, -0.1)])
def test_senseless_numbers_are_refused(queries, share):
    with pytest.raises(BadArgument):
        draw_split(make([4, 4], [2, 2]), queries=queries, unseen_photos=share)


def test_a_split_file_gives_back_the_same_split(tmp_path):
    split = draw_split(make([12, 12], [5, 5]), unseen_photos=0.2)
    split.write(tmp_path / "split.json")
    assert Split.read(tmp_path / "split.json") == split
    assert [path.name for path in tmp_path.iterdir()] == ["split.json"]


def test_a_tampered_split_file_is_refused(tmp_path):
    split = draw_split(make([12, 12], [5, 5]))
    split.write(tmp_path / "split.json")
    document = json.loads((tmp_path / "split.json").read_text())
    document["query_sketches"].pop()
    (tmp_path / "split.json").write_text(json.dumps(document))
    with pytest.raises(SplitProblem, match="changed after it was written"):
        Split.read(tmp_path / "split.json")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1, "hash": "", "surprise": 1}'])
def test_what_is_no_split_file_is_refused(tmp_path, text):
    (tmp_path / "split.json").write_text(text)
    with pytest.raises(SplitProblem, match="not a split file"):
        Split.read(tmp_path / "split.json")


def test_a_newer_format_is_refused(tmp_path):
    split = draw_split(make([12, 12], [5, 5]))
    split.write(tmp_path / "split.json")
    text = (tmp_path / "split.json").read_text().replace('"format": 1', '"format": 3')
    (tmp_path / "split.json").write_text(text)
    with pytest.raises(SplitProblem, match="format 3"):
        Split.read(tmp_path / "split.json")


def test_a_split_does_not_fit_a_changed_dataset():
    dataset = make([12, 12], [5, 5])
    split = draw_split(dataset)
    with pytest.raises(SplitProblem, match="another state"):
        split.apply(replace(dataset, photos=dataset.photos[1:]))


def test_a_split_that_cannot_be_written_says_so_and_leaves_nothing(tmp_path):
    with pytest.raises(SplitProblem, match="cannot be written"):
        draw_split(make([12, 12], [5, 5])).write(tmp_path / "nowhere" / "split.json")
    assert not list(tmp_path.iterdir())


def test_a_split_that_is_nested_without_end_is_refused(tmp_path):
    path = tmp_path / "deep.json"
    path.write_text("[" * 100_000 + "]" * 100_000, encoding="utf-8")
    with pytest.raises(SplitProblem, match="not a split file"):
        Split.read(path)
