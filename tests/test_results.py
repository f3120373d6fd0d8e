import json

from sketchhash.results import Column, Table, compact_json, json_line, markdown_table


def test_a_table_is_written_as_markdown_and_as_csv():
    columns = (Column("name"), Column("x"), Column("n", "d"))
    table = Table("t", "T", "", columns, (("a|<b>", 1 / 3, 7), ("c", None, None)))
    assert table.markdown() == "| name | x | n |\n| --- | --- | --- |\n| a\\|<b> | 0.333 | 7 |\n| c | – | – |"
    assert table.csv() == "name,x,n\na|<b>,0.3333333333333333,7\nc,,\n"


def test_a_table_without_rows_has_its_heading():
    assert markdown_table(("a", "b"), []) == "| a | b |\n| --- | --- |"


def test_compact_json_has_a_line_a_key_and_rounds_floats_alone():
    document = {"numbers": [1 / 3, 123456789, 1e-9, True, None], "name": "é", "nested": {"x": (2.5,)}}
    text = compact_json(document)
    assert len(text.splitlines()) == len(document) + 2
    assert json.loads(text) == {"numbers": [0.333333, 123456789, 1e-9, True, None], "name": "é", "nested": {"x": [2.5]}}
    assert json_line(document["numbers"], digits=2) == "[0.33,123456789,1e-09,true,null]"
