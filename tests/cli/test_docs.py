"""The documents keep up with the command line and the package."""

from pathlib import Path

import pytest
import typer

from sketchhash.cli import app

ROOT = Path(__file__).parents[2]
TEXT = "\n".join(path.read_text(encoding="utf-8") for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


def verbs(command, name):
    """Walk down to the commands that do something, giving each one's full name and help."""
    children = getattr(command, "commands", None)
    if children is None:
        yield name, command.help
    else:
        for child, below in children.items():
            yield from verbs(below, f"{name} {child}")


@pytest.mark.parametrize(("verb", "help_text"), list(verbs(typer.main.get_command(app), "sketchhash")))
def test_every_verb_has_help_and_is_in_the_documents(verb, help_text):
    assert help_text
    assert verb in TEXT


def test_the_two_commands_of_the_readme_are_targets():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in ("demo", "test"):
        assert f"    make {target}" in TEXT
        assert f"\n{target}:" in makefile
