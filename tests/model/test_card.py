from dataclasses import replace

import pytest

from sketchhash.model import CardFacts, DataSource, model_card

SOURCE = DataSource("Doodles", "training", 1200, 34, "CC BY 4.0", "https://example.org/doodles")
FACTS = CardFacts(
    "A model to test cards with.", (SOURCE,), "Ten sketches query 34 photos.", ("It has seen two animals.",)
)


def section(card, title):
    return card.split(f"## {title}\n")[1].split("\n## ")[0]


def test_the_card_tells_the_manifest_s_facts(manifest):
    card = model_card(manifest, FACTS)
    assert card.startswith("# tiny\n")
    assert "16 bits" in card.replace("\n", " ")
    assert "| map | 0.5125 |" in section(card, "Numbers")
    assert "| torch | 2.13.0 |" in section(card, "Made with")
    assert "2 categories: cat, dog." in card


def test_the_card_gives_data_with_licence_protocol_and_limits(manifest):
    card = model_card(manifest, FACTS)
    row = "| Doodles | training | 1,200 | 34 | CC BY 4.0 | https://example.org/doodles |"
    assert row in section(card, "Data")
    assert "Ten sketches query 34 photos." in section(card, "Protocol")
    assert "- It has seen two animals.\n- Every drawing gets an answer" in section(card, "Limits")


def test_what_is_unknown_is_said_to_be_unknown(manifest):
    card = model_card(replace(manifest, scores={}), CardFacts("A model.", (), "None."))
    assert "Nothing was measured." in section(card, "Numbers")
    assert "Not recorded." in section(card, "Data")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({}, "sees a photo and the contours found in it."),
        ({"tokens": None}, "sees photos alone, without their contours."),
        ({"photos": None}, "sees the contours found in a photo, not the photo itself."),
    ],
)
def test_the_card_says_what_the_image_network_sees(manifest, changes, sentence):
    assert sentence in model_card(replace(manifest, **changes), FACTS)


def test_dollars_bars_and_line_breaks_in_facts_are_kept_harmless(manifest):
    odd = replace(SOURCE, name="a|b\nc", licence="$5")
    assert r"| a\|b c | training | 1,200 | 34 | $5 |" in model_card(manifest, replace(FACTS, data=(odd,)))


def test_the_card_is_settled_by_its_facts(manifest):
    assert model_card(manifest, FACTS) == model_card(manifest, FACTS)
