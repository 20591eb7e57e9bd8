"""JSON and JSON Lines as rows."""

import json
from pathlib import Path

import pytest
from filing import contents, write

import redask
from redask.ingest.readers import content


def test_lines_are_rows(db: redask.OpenDatabase, tmp_path: Path) -> None:
    lines = '{"id": "a", "n": {"m": [1, 2.5]}}\n\n{"id": 2, "t": "x\\ny"}'
    assert db.ingest(write(tmp_path / "e.jsonl", lines)).ok
    assert contents(db, "row:e/") == {
        "a": {"id": "a", "n": {"m": [1, 2.5]}},
        "2": {"id": 2, "t": "x\ny"},
    }


@pytest.mark.parametrize("block", [1, 2, 7, 1000])
def test_a_list_is_read_item_by_item_wherever_the_blocks_end(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    monkeypatch.setattr(content, "_BLOCK", block)
    rows = [{"n": number, "text": "ä]},{[" * (number % 7)} for number in range(50)]
    assert db.ingest(write(tmp_path / "e.json", json.dumps(rows, indent=1))).ok
    assert contents(db, "row:e/") == {str(place + 1): row for place, row in enumerate(rows)}


def test_one_object_is_one_row_named_like_the_file(db: redask.OpenDatabase, tmp_path: Path) -> None:
    db.ingest(write(tmp_path / "conf.json", ' {"a": [1]}\n'), write(tmp_path / "e.json", "[ ]"))
    assert contents(db, "") == {"row:conf/conf": {"a": [1]}}


DEEP = 100_000


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("a.jsonl", '{"a": 1}\n{"a": }\n', "is not valid JSON: line 2: Expecting value"),
        ("a.jsonl", '{"a": 1} {"b": 2}\n', "has more than one value in line 1"),
        ("a.jsonl", '{"a": NaN}\n', "is not valid JSON: line 1: NaN is not a JSON number"),
        ("a.jsonl", "7\n", "has a row that is not a JSON object: line 1"),
        ("a.jsonl", '{"id": 1}\n{"a": 2}\n', "has a row without an id, though the first has one"),
        ("a.jsonl", '{"a": "\\u0000"}', "a/1: a text in it holds a NUL character"),
        ("a.jsonl", '{"a": "\\ud800"}', "a/1: a lone surrogate has no UTF-8"),
        ("a.jsonl", '{"a": ' + "9" * 5000 + "}", "is not valid JSON: line 1: Exceeds the limit"),
        ("a.json", '[{"a": 1}, 2]', "has a row that is not a JSON object: item 2"),
        (
            "a.json",
            '[{"a": 1} {"a": 2}]',
            "is not valid JSON: expected a comma after item 1, found '{'",
        ),
        ("a.json", '[{"a": 1}', "is not valid JSON: expected a comma after item 1, found ''"),
        ("a.json", '[{"a": 1},]', "is not valid JSON: item 2"),
        ("a.json", '{"a": 1} x', "has more than one value in it"),
        ("a.json", '"text"', "is not a JSON array or object"),
        ("a.json", "", "is not a JSON array or object"),
        ("a.json", "[" * DEEP + "]" * DEEP, "is nested too deep: item 1"),
        ("a.json", '{"a":' * DEEP + "1" + "}" * DEEP, "is nested too deep: its value"),
        ("a.jsonl", '{"a":' * DEEP + "1" + "}" * DEEP, "is nested too deep: line 1"),
        ("a.jsonl", '{"a":' * 300 + "1" + "}" * 300, "a/1: a value is nested more than 256"),
    ],
)
def test_bad_json_is_left_out_with_its_reason(
    db: redask.OpenDatabase, tmp_path: Path, name: str, text: str, expected: str
) -> None:
    (problem,) = db.ingest(write(tmp_path / name, text)).problems
    assert problem.reason.startswith(expected)
    assert contents(db, "") == {}
