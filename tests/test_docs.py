"""The documents lead somewhere: every link, every anchor, every path; and the index names every page."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import typer

from sketchhash.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def links(text: str) -> list[str]:
    """Return what a page links to, leaving code blocks out."""
    prose = re.sub(r"```.*?```|^    .*$|`[^`\n]*`", "", text, flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"\]\(([^)\s]+)\)", prose)


def anchors(text: str) -> set[str]:
    """Return the anchors that headings get: lower case, punctuation dropped, spaces to hyphens."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> list[str]:
    """Return the links of a page that lead to no file, or to no heading in it."""
    broken = []
    for link in links(page.read_text(encoding="utf-8")):
        if "://" in link or link.startswith("mailto:"):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text(encoding="utf-8"))):
            broken.append(link)
    return broken


def missing_paths(page: Path) -> list[str]:
    """Return the paths in backticks that look like files of the repository and are none."""
    text = page.read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests|docs|results|benchmarks|web|\.github)/[\w./-]+)`", text)
    return [name for name in named if not (ROOT / name).exists()]


def wrong_commands(text: str) -> list[str]:
    """Return the commands in code blocks whose verb or options the command line does not know."""
    blocks = re.findall(r"```.*?```|(?:^    .*\n)+", text, flags=re.DOTALL | re.MULTILINE)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    commands = [match[1] for line in lines if (match := re.match(r"\s*(?:torchrun .*-m )?sketchhash (.*)", line))]
    return [command for command in commands if not _is_known(command.split("#")[0].replace("'", "").split())]


def _is_known(words: list[str]) -> bool:
    command = typer.main.get_command(app)
    while hasattr(command, "commands"):
        if not words or (words[0].startswith("-") and words[0] in _options(command)):
            return bool(words)
        if (word := words.pop(0)) not in command.commands:
            return False
        command = command.commands[word]
    given = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    return given <= _options(command)


def _options(command) -> set[str]:
    own = {each for parameter in command.params for each in (*parameter.opts, *parameter.secondary_opts)}
    return own | {"--help", "-h"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_are_ones_that_the_command_line_knows(page):
    assert wrong_commands(page.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert broken_links(page) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_of_the_repository_exist(page):
    assert missing_paths(page) == []


def test_the_index_names_every_page_once():
    index = ROOT / "docs" / "README.md"
    named = [link for link in links(index.read_text(encoding="utf-8")) if link.endswith(".md") and "/" not in link]
    assert sorted(named) == sorted(page.name for page in PAGES if page.parent == index.parent and page != index)


def test_citation_and_package_have_one_version():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")


def test_wrong_commands_are_noticed():
    good, bad = "sketchhash index DIR --gallery x", "sketchhash index DIR \\\n        --galery x"
    assert wrong_commands(f"Type\n\n    {good}   # fine\n    sketchhash indx DIR\n    {bad}\n") == [
        "indx DIR",
        "index DIR          --galery x",
    ]
    assert wrong_commands("```sh\nsketchhash data nothing\nsketchhash --version\n```\n") == ["data nothing"]


def test_broken_links_and_missing_paths_are_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A heading, here\n[a](none.md) [b](#a-heading-here) [c](#nowhere) `src/none.py`\n")
    assert broken_links(page) == ["none.md", "#nowhere"]
    assert missing_paths(page) == ["src/none.py"]
