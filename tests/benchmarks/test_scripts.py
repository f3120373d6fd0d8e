import pytest

NAMES = (
    "by_values",
    "codes",
    "copies",
    "decoding",
    "detectors",
    "drawings",
    "engines",
    "formats",
    "full_size",
    "indexing",
    "model",
    "page",
    "paper_recipe",
    "paper_start",
    "photo_stages",
    "reliability",
    "scale",
    "search",
    "serving",
    "shape",
    "site",
    "storing",
    "table2",
    "tokens",
)


@pytest.mark.parametrize("name", NAMES)
def test_every_script_explains_itself(run_process, name):
    result = run_process(name, "--help")
    assert result.returncode == 0, result.stderr
    assert "--out" in result.stdout
