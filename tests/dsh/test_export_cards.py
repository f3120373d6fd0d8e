from dataclasses import replace

import pytest

from sketchhash.datasets import draw_joined_split, join, keep_nothing_out, synthetic
from sketchhash.dsh.export import describe, read_notes
from sketchhash.dsh.recipe import load_recipe
from sketchhash.dsh.runs import Job
from sketchhash.errors import BadArgument
from sketchhash.model.card import NOTHING_KEPT_OUT

NOTES = """
summary = "Knows keys."
limits = ["Only keys."]
[data.home]
title = "Drawings made at home"
licence = "CC0"
"""


@pytest.fixture
def job():
    home, away = (
        synthetic.load(4, 3, categories=categories, size=32) for categories in (("key", "snowman"), ("key", "umbrella"))
    )
    collections = [type(home)(name, d.categories, d.sketches, d.photos) for name, d in (("home", home), ("away", away))]
    split = draw_joined_split(collections, 1, unseen_categories=["umbrella"])
    return Job(join(collections), split, load_recipe("tiny"), 16)


def test_a_card_counts_what_trained_in_each_dataset(job):
    data = {source.name: (source.sketches, source.photos) for source in describe(job).data}
    assert data == {"home": (6, 6), "away": (3, 3)}
    assert "So was everything of: umbrella." in describe(job).protocol


def test_a_card_says_when_nothing_was_kept_out(job):
    facts = describe(replace(job, split=keep_nothing_out(job.dataset)))
    assert facts.protocol == NOTHING_KEPT_OUT
    assert sum(source.sketches for source in facts.data) == len(job.dataset.sketches)


def test_notes_say_what_files_cannot(job, tmp_path):
    (tmp_path / "notes.toml").write_text(NOTES)
    facts = describe(job, read_notes(tmp_path / "notes.toml"))
    assert (facts.summary, facts.limits) == ("Knows keys.", ("Only keys.",))
    licences = {source.name: source.licence for source in facts.data}
    assert licences["Drawings made at home"] == "CC0"
    assert "ask its authors" in licences["away"]


@pytest.mark.parametrize("text", ["summary = ", "colour = 'red'", "[data.home]\nowner = 'me'", "[data]\nhome = 3"])
def test_notes_that_cannot_be_used_are_refused(tmp_path, text):
    (tmp_path / "notes.toml").write_text(text)
    with pytest.raises(BadArgument, match=r"notes\.toml cannot be used"):
        read_notes(tmp_path / "notes.toml")


def test_notes_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(BadArgument, match="cannot be read"):
        read_notes(tmp_path / "absent.toml")
