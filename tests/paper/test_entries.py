import pytest

from sketchhash.baselines import CATALOGUE, Kind
from sketchhash.errors import UnknownName
from sketchhash.paper import ABLATIONS, DSH, Entry, ablation_plan, method_names, plan, published


def test_everything_runs_once_at_each_of_its_sizes():
    entries = plan(None, [32, 64, 128], 128)
    assert len({entry.slug for entry in entries}) == len(entries)
    assert {entry.method for entry in entries} == set(method_names()) >= {DSH, *ABLATIONS, "cca", "sketch-a-net"}
    assert [entry.size for entry in entries if entry.method == "cca"] == [32, 64, 128]
    assert [entry.size for entry in entries if entry.method == "sketch-a-net"] == [512]
    assert [entry.size for entry in entries if entry.method in ABLATIONS] == [128] * 4


def test_some_methods_run_in_the_order_of_the_tables_whatever_the_order_asked():
    assert plan([DSH, "cca"], [16, 16, 8], 64) == [Entry("cca", 16), Entry("cca", 8), Entry(DSH, 16), Entry(DSH, 8)]


def test_table_4_brings_the_full_model_at_its_length():
    assert Entry(DSH, 64) in plan([DSH, "pairwise-only"], [32], 64)
    assert Entry(DSH, 64) not in plan([DSH], [32], 64)


def test_an_unknown_method_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'without-tokens'"):
        plan(["witout-tokens"], [32], 128)


def test_the_features_come_after_the_network_that_gives_them():
    names = method_names()
    assert all(names.index("sketch-a-net") < names.index(name) for name in ("cca", "cmfh", "seph"))


@pytest.mark.parametrize("gallery", published.GALLERIES, ids=lambda gallery: gallery.name)
def test_the_paper_has_costs_of_all_methods_of_table_2_and_of_no_others(gallery):
    for card in CATALOGUE:
        is_in_table_2 = card.kind in (Kind.HANDCRAFTED, Kind.DEEP)
        assert (published.cost(card.name, 0, gallery) is not None) == is_in_table_2, card.name
    assert all(published.cost(DSH, bits, gallery) for bits in (32, 64, 128))
    assert published.cost(DSH, 16, gallery) is None


def test_the_papers_memory_is_eight_bytes_a_dimension_and_a_bit_a_bit():
    for card in CATALOGUE:
        for gallery in published.GALLERIES:
            if cost := published.cost(card.name, 0, gallery):
                assert cost.megabytes == pytest.approx(gallery.photos * card.sizes[0] * 8 / 2**20, rel=0.01)
    for gallery in published.GALLERIES:
        for bits in (32, 64, 128):
            assert published.cost(DSH, bits, gallery).megabytes == pytest.approx(
                gallery.photos * bits / 8 / 2**20, abs=0.005
            )


def test_the_ablations_are_listed_once_with_plain_methods_at_every_length():
    listed = ablation_plan(64, lengths=[32, 64])
    assert len(listed) == len(set(listed)) == 2 * 3 + len(ABLATIONS)
    assert {entry.method for entry in ablation_plan(64)} == {*ABLATIONS, DSH}
    assert len({entry.slug for entry in ablation_plan(64, repeats=3)}) == 3 * (len(ABLATIONS) + 1)
