"""What every row of READERS promises, whatever it reads.

A new row needs a sample in SAMPLES, as bytes; without one the suite fails for it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import arro3.core
import arro3.io
import pytest
from filing import database, docx, held, ods, pdf, text_cell, xlsx, zipped

import redask
from redask.ingest.readers import READERS
from redask.ingest.records import ReaderRow


def _sqlite(directory: Path) -> bytes:
    made = database(
        directory / "made.sqlite",
        "CREATE TABLE port (id INTEGER PRIMARY KEY, name)",
        "CREATE TABLE ferry (id INTEGER PRIMARY KEY, port_id REFERENCES port)",
        "INSERT INTO port VALUES (1, 'Amrum')",
        "INSERT INTO ferry VALUES (1, 1), (2, NULL)",
    )
    return made.read_bytes()


def _parquet(directory: Path) -> bytes:
    made = directory / "made.parquet"
    ids = arro3.core.Array([1, 2], type=arro3.core.DataType.int64())
    arro3.io.write_parquet(arro3.core.Table.from_pydict({"id": ids}), made)
    return made.read_bytes()


_CELL = '<table:table-cell office:value-type="string"><text:p>{}</text:p></table:table-cell>'
_ROW = "<table:table-row>{}</table:table-row>"
_PORTS = "<table:table table:name='Ports'>{}{}</table:table>".format(
    _ROW.format(_CELL.format("id") + _CELL.format("name")),
    _ROW.format(_CELL.format("1") + _CELL.format("Amrum")),
)
SAMPLES: dict[str, Callable[[Path], bytes]] = {
    "markdown": lambda _: b"# Ferries\n\nAt nine.\n\n## Sunday\n\nNever.\n",
    "text": lambda _: b"At nine.\n\nNever on Sunday.\n",
    "restructuredtext": lambda _: b"Ferries\n=======\n\nRun::\n\n    ferry --now\n",
    "asciidoc": lambda _: b"= Ferries\n\nAt nine.\n\n== Sunday\n\nNever.\n",
    "document": lambda _: pdf(),
    "spreadsheet": lambda _: xlsx(
        {"Ports": [[text_cell("id"), text_cell("name")], ["<c><v>1</v></c>", text_cell("Amrum")]]}
    ),
    "code": lambda _: b'"""Ferries."""\n\n\ndef leave(hour):\n    return hour\n',
    "settings": lambda _: b"# times\nferry:\n  hour: 9\n",
    "notebook": lambda _: b'{"cells": [{"cell_type": "code", "source": ["x = 1"], "outputs": []}]}',
    "mail": lambda _: b"From: a@example.org\nSubject: Ferry\n\nAt nine.\n",
    "mailbox": lambda _: b"From a Mon\nFrom: a@example.org\nSubject: Ferry\n\nAt nine.\n",
    "subtitles": lambda _: b"1\n00:00:01,000 --> 00:00:02,000\nAt nine.\n",
    "xml": lambda _: b'<?xml version="1.0"?><ports><port id="1"/><port id="2"/></ports>',
    "zip": lambda _: zipped({"a.md": "At nine.", "b/c.csv": "id\n1\n"}),
    "csv": lambda _: b"id,name\n1,Amrum\n2,Sylt\n",
    "jsonl": lambda _: b'{"id": 1, "name": "Amrum"}\n{"id": 2}\n',
    "json": lambda _: b'[{"id": 1, "name": "Amrum"}, {"id": 2}]',
    "parquet": _parquet,
    "sqlite": _sqlite,
}


@pytest.fixture(params=READERS, ids=lambda row: row.name)
def row(request: pytest.FixtureRequest) -> ReaderRow:
    found: ReaderRow = request.param
    return found


@pytest.fixture
def file(row: ReaderRow, tmp_path: Path) -> Path:
    """A good file of this kind, in a folder of its own."""
    (tmp_path / "files").mkdir()
    made = tmp_path / "files" / f"sample{row.suffixes[0]}"
    made.write_bytes(SAMPLES[row.name](tmp_path))
    return made


@pytest.fixture
def db(tmp_path: Path) -> Iterator[redask.OpenDatabase]:
    with redask.open(tmp_path / "db") as opened:
        yield opened
        assert opened.doctor()["problems"] == []


def test_a_good_file_is_read_under_any_of_its_endings(
    row: ReaderRow, file: Path, db: redask.OpenDatabase
) -> None:
    endings = {"document": (".docx",), "spreadsheet": (".xlsx", ".ods")}.get(row.name, row.suffixes)
    for suffix in (*row.suffixes[:1], *endings):
        named = file.with_name(f"Sample{suffix.upper()}")
        other = {".docx": docx(["At nine."]), ".ods": ods(_PORTS)}
        named.write_bytes(other.get(suffix) or file.read_bytes())
        done = db.ingest(named, collection=suffix[1:])
        assert done.problems == ()
        assert [tally.reader for tally in done.tallies] == [row.name]
        assert done.written + done.tallies[0].unchanged > 0


def test_reading_twice_writes_once(file: Path, db: redask.OpenDatabase) -> None:
    first = db.ingest(file)
    again = db.ingest(file)
    assert (first.written > 0, first.removed) == (True, 0)
    assert (again.written, again.removed, again.tallies[0].unchanged) == (0, 0, 1)


def test_the_same_file_gives_the_same_entities_in_another_database(
    file: Path, db: redask.OpenDatabase, tmp_path: Path
) -> None:
    db.ingest(file)
    with redask.open(tmp_path / "other") as other:
        other.ingest(file)
        assert held(other) == held(db) != {}


def test_rubbish_under_this_name_is_left_out_with_a_reason(
    file: Path, db: redask.OpenDatabase
) -> None:
    for rubbish in (b"\x00\xff\xfe" * 700, b"\xc3\x28" * 900, bytes(range(256)) * 20):
        file.write_bytes(rubbish)
        (problem,) = db.ingest(file).problems
        assert problem.reason
        assert "Error" not in problem.reason.partition(":")[0]
    assert held(db) == {}


def test_an_empty_file_and_a_shortened_one_do_no_harm(file: Path, db: redask.OpenDatabase) -> None:
    data = file.read_bytes()
    for size in (0, 1, len(data) // 3, len(data) // 2, len(data) - 1):
        file.write_bytes(data[:size])
        for problem in db.ingest(file).problems:
            assert "could not be read (" not in problem.reason, "an exception is a defect"


def test_entities_of_a_file_gone_from_a_folder_are_deleted(
    file: Path, db: redask.OpenDatabase
) -> None:
    db.ingest(file.parent)
    file.unlink()
    done = db.ingest(file.parent)
    assert (done.gone, done.removed > 0, held(db)) == (1, True, {})


def test_a_file_that_cannot_be_opened_is_left_out(
    file: Path, db: redask.OpenDatabase, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.unlink()
    file.symlink_to(file)
    (problem,) = db.ingest(file.parent).problems
    assert problem.reason == "cannot be read: Too many levels of symbolic links"
