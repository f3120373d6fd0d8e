# Every target makes its own environment: a fresh clone needs Python 3.11+, pip and make, nothing else.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: demo test check bench clean

demo: .venv/searching
	$(BIN)/sketchhash demo

test: .venv/developing
	$(BIN)/pytest --numprocesses 2 --dist loadfile

check: .venv/developing
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: .venv/developing
	$(BIN)/sketchhash bench codes

.venv/searching: pyproject.toml constraints.txt | .venv/python
	$(PIP) --editable .
	touch $@

.venv/developing: pyproject.toml constraints.txt | .venv/python
	$(PIP) --editable '.[train,bench,dev]'
	touch $@

.venv/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "sketchhash needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv .venv
	touch $@

clean:
	rm -rf .venv build artefacts
