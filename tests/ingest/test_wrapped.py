"""JSON that wraps its tables, and hostile XML."""

import json
from pathlib import Path

import pytest
from filing import contents, write

import redask


def ingest(db: redask.OpenDatabase, path: Path, value: object) -> dict[str, dict[str, object]]:
    assert db.ingest(write(path, json.dumps(value))).problems == ()
    return contents(db, "row:")


def test_lists_of_objects_become_collections(db: redask.OpenDatabase, tmp_path: Path) -> None:
    value = {
        "repo": "x/y",
        "issues": [{"id": 7, "title": "Late"}, {"id": 8}],
        "pulls": [{"number": 1}],
        "labels": ["a", "b"],
        "empty": [],
    }
    assert ingest(db, tmp_path / "gh.json", value) == {
        "gh.issues/7": {"id": 7, "title": "Late"},
        "gh.issues/8": {"id": 8},
        "gh.pulls/1": {"number": 1},
        "gh/gh": {"repo": "x/y", "labels": ["a", "b"]},
    }


def test_an_envelope_is_unwrapped_and_a_record_with_parts_is_not(
    db: redask.OpenDatabase, tmp_path: Path
) -> None:
    page = {"total": 1, "next": None, "items": [{"a": 1}]}
    order = {"number": 7, "lines": [{"a": 1}, {"a": 2}]}
    own = {"id": 9, "x": [{"a": 1}], "y": [{"a": 1}]}
    ingest(db, tmp_path / "page.json", page)
    ingest(db, tmp_path / "order.json", order)
    assert ingest(db, tmp_path / "own.json", own) == {
        "page.items/1": {"a": 1},
        "page/page": {"next": None, "total": 1},
        "order/order": order,
        "own/9": own,
    }


def test_a_wrapper_larger_than_one_row_may_be_is_streamed(
    db: redask.OpenDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("redask.ingest.readers.json_files.MAX_ROW", 10_000)
    monkeypatch.setattr("redask.ingest.readers.content._BLOCK", 1000)
    rows = [{"id": number, "text": "ferry " * 20} for number in range(300)]
    assert len(ingest(db, tmp_path / "big.json", {"a": rows, "b": rows[:5]})) == 305


@pytest.mark.parametrize(
    "text", ['{"a": [{}', '{"a": [{}] "b": 1}', '{"a" [{}]}', "{1: [{}]}", '{"a": [{}],}']
)
def test_a_damaged_wrapper_is_refused(db: redask.OpenDatabase, tmp_path: Path, text: str) -> None:
    (problem,) = db.ingest(write(tmp_path / "a.json", text)).problems
    assert problem.reason.startswith("is not valid JSON")


_LAUGHS = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (f'<!DOCTYPE x [<!ENTITY e0 "ha">{_LAUGHS}]><x>&e11;</x>', "declares entities"),
        ('<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]><x>&a;</x>', "declares entities"),
        ("<a>" * 5000, "is nested too deep"),
        ("<a><b></a>", "is not valid XML: line 1: mismatched tag"),
        ("<?xml version='1.0' encoding='klingon'?><a/>", "is not valid XML"),
        ("", "is not valid XML"),
    ],
)  # fmt: skip
def test_hostile_xml_is_refused(
    db: redask.OpenDatabase, tmp_path: Path, text: str, reason: str
) -> None:
    (problem,) = db.ingest(write(tmp_path / "a.xml", text)).problems
    assert problem.reason.startswith(reason)
