"""Addresses of galleries on engines: what cannot be opened says why, and never shows a password."""

import sys

import pytest

from sketchhash.engines import open_gallery
from sketchhash.errors import BadArgument, EngineProblem


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("mivlus://127.0.0.1/photos", "Did you mean 'milvus'"),
        ("milvus://127.0.0.1:1/a-b", "letters, digits and _"),
        ("milvus://127.0.0.1:1/photos?indx=1", "no option of a gallery's address named 'indx'"),
        ("milvus:///photos", "names no server"),
        ("milvus://127.0.0.1:1/photos?timeout=never", "give seconds"),
        ("milvus://127.0.0.1:port/photos", "cannot be read"),
        ("postgresql://127.0.0.1:1/photos?gallery=DROP", "a-z, 0-9 and _"),
    ],
)
def test_addresses_that_make_no_sense_are_refused(address, said):
    with pytest.raises(BadArgument, match=said):
        open_gallery(address)


def test_a_wrong_password_is_told_and_not_shown(milvus_server):
    with pytest.raises(EngineProblem) as told:
        open_gallery(milvus_server.address("photos", user="root:wrong-secret"))
    assert "wrong-secret" not in str(told.value)


@pytest.mark.parametrize(("module", "extra"), [("pymilvus", "milvus"), ("psycopg", "postgres")])
def test_a_missing_package_names_the_command_that_installs_it(monkeypatch, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    address = {"milvus": "milvus://127.0.0.1/photos", "postgres": "postgresql://127.0.0.1/photos"}[extra]
    with pytest.raises(Exception, match=rf"pip install 'sketchhash\[{extra}\]'"):
        open_gallery(address)
