"""The script that trains the paper's recipe twice: what is left out, what is kept, and what the record shows."""

import json
from dataclasses import asdict, replace
from itertools import product

import numpy as np
from PIL import Image

import paper_recipe as script
from paper_recipe import Noting, Trained, reduced, shortened
from sketchhash.datasets import Dataset, Item
from sketchhash.dsh import training
from sketchhash.dsh.recipe import load_recipe

TRAINED = Trained(
    facts={"seed": 0},
    photos=800,
    sketches=1600,
    queries=400,
    epochs=[
        {"stage": "pre-training on photos", "epoch": 1, "loss": 8.0, "processor_seconds": 61.0},
        {
            "stage": "hashing",
            "epoch": 1,
            "loss": 31.5,
            "distinct_photo_codes": 7,
            "distinct_sketch_codes": 1200,
            "processor_seconds": 119.0,
        },
    ],
    mean_average_precision=0.0251,
    chance=0.0125,
    distinct_codes=(3, 1100),
)


def items(kind, counts):
    return tuple(Item(f"{kind}/{label}/{n}", label, None) for label, count in counts.items() for n in range(count))


def test_pictures_are_spread_over_their_list_and_categories_without_photos_are_left_out():
    whole = Dataset("berlin", ("ant", "bee", "cat"), items("s", {0: 6, 1: 6, 2: 6}), items("p", {0: 4, 2: 1}))
    part = reduced(whole, photos=2, sketches=3)
    assert [item.id for item in part.photos] == ["p/0/0", "p/0/2", "p/2/0"]
    assert [item.id for item in part.sketches] == [f"s/{label}/{n}" for label in (0, 2) for n in (0, 2, 4)]
    assert part.categories == whole.categories


def test_a_shortened_recipe_differs_in_its_epochs_alone():
    paper = load_recipe("paper")
    short = shortened(paper, pretraining=3, hashing=2)
    stages = ("pretrain_photos", "pretrain_sketches", "hashing")
    assert [getattr(short, stage).epochs for stage in stages] == [3, 3, 2]
    again = {stage: replace(getattr(short, stage), epochs=getattr(paper, stage).epochs) for stage in stages}
    assert replace(short, **again) == paper


def test_a_run_that_goes_on_adds_to_the_notes_of_the_one_before(tmp_path):
    for number in (1, 2):
        Noting(tmp_path / "notes.jsonl").report({"stage": "hashing", "epoch": number})
    notes = [json.loads(line) for line in (tmp_path / "notes.jsonl").read_text().splitlines()]
    assert [note["epoch"] for note in notes] == [1, 2]
    assert all(note["processor_seconds"] >= 0 for note in notes)


def test_a_record_is_shown_with_its_epochs_and_ends(tmp_path, run):
    (tmp_path / "record.json").write_text(json.dumps({"runs": {"paper": asdict(TRAINED)}}))
    shown = run(script, "--show", tmp_path / "record.json").output
    assert "| paper | pre-training on photos | 1 | 8.000 |  |  | 61 |" in shown
    assert "| paper | hashing | 1 | 31.500 | 7 | 1,200 | 119 |" in shown
    assert "| paper | 800 / 1,600 | 400 | 0.0251 | 0.0125 | 3 | 1,100 | 3.0 |" in shown


def test_a_dataset_must_be_named(run):
    run(script, code=2)


def test_both_recipes_are_trained_and_recorded_and_what_is_finished_is_not_done_again(tmp_path, run, monkeypatch):
    rng = np.random.default_rng(0)
    for category, kind, number in product(("apple", "bear"), ("sketches", "photos"), range(4)):
        path = tmp_path / "data" / kind / category / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        pixels = rng.integers(0, 256, (32, 32, 3)) if kind == "photos" else np.full((32, 32), 255)
        if kind == "sketches":
            pixels[rng.integers(4, 28)], pixels[:, rng.integers(4, 28)] = 0, 0
        Image.fromarray(pixels.astype(np.uint8)).save(path)
    monkeypatch.setattr(script, "load_recipe", lambda name: replace(load_recipe("tiny"), name=name))
    monkeypatch.setattr(training.words, "embed", lambda categories, *_: np.eye(len(categories), dtype=np.float32))
    options = ("--data", tmp_path / "data", "--photos", 3, "--sketches", 4, "--queries", 1, "--pretraining", 1)
    command = (script, *options, "--hashing", 2, "--bits", 8, "--work", tmp_path / "work")
    run(*command, "--out", tmp_path / "record.json")
    runs = json.loads((tmp_path / "record.json").read_text())["runs"]
    told = [[(epoch["stage"], epoch["epoch"]) for epoch in trained["epochs"]] for trained in runs.values()]
    hashing = [("hashing", 1), ("hashing", 2)]
    assert told == [[("pre-training on sketches", 1), ("pre-training on photos", 1), *hashing], hashing]
    assert [(trained["photos"], trained["sketches"], trained["queries"]) for trained in runs.values()] == [
        (6, 6, 2)
    ] * 2
    assert all(1 <= epoch["distinct_photo_codes"] <= 6 for epoch in runs["paper"]["epochs"][2:])
    assert runs["paper"]["chance"] == 0.5
    assert str(tmp_path) not in (tmp_path / "record.json").read_text()
    run(*command, "--out", tmp_path / "again.json")
    assert (tmp_path / "again.json").read_text() == (tmp_path / "record.json").read_text()
