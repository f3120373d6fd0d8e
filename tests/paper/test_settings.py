import pytest

from sketchhash.baselines import CATALOGUE, card_of
from sketchhash.errors import BadArgument, UnknownName
from sketchhash.paper.methods import CatalogueMethod
from sketchhash.paper.settings import changed, parse_settings


def test_values_have_the_kind_of_what_they_replace():
    texts = ("gn-triplet.side=224", "gn-triplet.width=1", "gn-triplet.pretrained=false", "siamese-cnn.epochs=40")
    assert parse_settings(texts) == {
        "gn-triplet": {"side": 224, "width": 1.0, "pretrained": False},
        "siamese-cnn": {"epochs": 40},
    }
    method = changed(card_of("gn-triplet").build(1024, 3), parse_settings(texts)["gn-triplet"])
    assert (method.side, method.width, method.pretrained, method.epochs, method.seed) == (224, 1.0, False, 12, 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("gn-triplet.sides=224", r"no setting named 'sides'. It has: epochs=12, side=128, .*pretrained=True"),
        ("gn-triplet.seed=1", "no setting named 'seed'"),
        ("cca.dimensions=9", r"no setting named 'dimensions'. It has: ridge=0.1, pairs"),
        ("gn-triplet.side=large", "gn-triplet.side is a int, not 'large'"),
        ("gn-triplet=224", "METHOD.NAME=VALUE"),
        ("gn-triplet.side", "METHOD.NAME=VALUE"),
    ],
)
def test_what_cannot_be_set_is_explained(text, said):
    with pytest.raises(BadArgument, match=said):
        parse_settings([text])


def test_an_unknown_method_is_answered_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'gn-triplet'"):
        parse_settings(["gn-tripled.side=224"])


def test_a_comparison_without_changes_keeps_its_hashes(make_bench):
    assert "changed" not in CatalogueMethod(card_of("class-codes"), 8, make_bench()).recipe


@pytest.mark.parametrize("card", CATALOGUE, ids=lambda card: card.name)
def test_every_method_can_be_asked_what_it_has(card):
    with pytest.raises(BadArgument, match=r"no setting named 'nonsense'\. It has: "):
        parse_settings([f"{card.name}.nonsense=1"])
