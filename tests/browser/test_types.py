"""The types in the JSDoc comments of the page and of the web component hold.

TypeScript's ``tsc`` is taken from the PATH, or from ``build/node``:

    npm install --no-save --prefix build/node typescript@5.9.3
"""

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
STATIC = REPOSITORY / "src" / "sketchhash" / "server" / "static"
SCRIPTS = [*sorted(STATIC.rglob("*.js")), *sorted((REPOSITORY / "web").rglob("*.js"))]


@pytest.fixture
def tsc():
    installed = REPOSITORY / "build" / "node" / "node_modules" / ".bin"
    program = shutil.which("tsc") or shutil.which("tsc", path=str(installed))
    if program is None:
        pytest.skip("the page's types are checked by tsc, which is neither on the PATH nor in build/node")
    return program


def test_the_types_of_the_page_hold(tsc):
    checked = subprocess.run([tsc, "--project", HERE], capture_output=True, text=True, timeout=300)
    assert (checked.returncode, checked.stdout) == (0, "")


def test_a_wrong_type_would_be_found(tsc, tmp_path):
    script = tmp_path / "wrong.js"
    script.write_text("/** @param {number} count */\nexport const twice = (count) => count * 2;\ntwice('two');\n")
    options = ["--allowJs", "--checkJs", "--noEmit", "--strict", "--target", "es2022"]
    checked = subprocess.run([tsc, *options, script], capture_output=True, text=True, timeout=300)
    assert checked.returncode != 0
    assert "wrong.js" in checked.stdout


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_every_module_asks_to_be_checked(script):
    assert script.read_text(encoding="utf-8").startswith("// @ts-check\n")
