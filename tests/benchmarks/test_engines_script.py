import json

import numpy as np

import engines
from sketchhash.engines.addresses import Address
from sketchhash.engines.postgres import Database, PgvectorIndex
from sketchhash.errors import BadArgument


def test_engines_are_filled_timed_and_emptied(run, postgres_server, tmp_path):
    address = postgres_server.address("measured")
    record = tmp_path / "engines.json"
    first = run(engines, address, "--size", 300, "--seconds", 0.05, "--out", record)
    assert "| pgvector, exact |" in first.stdout
    assert [engine["found"] for engine in json.loads(record.read_text())["engines"]] == [1.0, 1.0]
    assert "| pgvector, exact |" in run(engines, address, "--size", 300, "--seconds", 0.05).stdout


def test_engines_that_hold_codes_are_not_measured(run, postgres_server):
    address = postgres_server.address("used")
    with Database(Address.parse(address)) as database:
        PgvectorIndex(database, 64).add(np.arange(3), np.zeros((3, 8), dtype=np.uint8))
    told = run(engines, address, "--size", 10, code=1)
    assert isinstance(told.exception, BadArgument)
    assert "holds 3 codes already" in str(told.exception)
