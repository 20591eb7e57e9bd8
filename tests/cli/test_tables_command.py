"""`redask tables` lists tables with types, and fixes a type."""

import json
from pathlib import Path

from click.testing import CliRunner

import redask
from redask.cli import main


def run(db: Path, *arguments: str) -> tuple[int, str]:
    found = CliRunner().invoke(main, ["--db", str(db), "tables", *arguments])
    return found.exit_code, found.output


def filled(folder: Path) -> Path:
    with redask.open(folder) as db:
        db.put("my.tickets", [{"id": 1, "opened.at": "2021-01-01"}, {"id": 2, "opened.at": None}])
    return folder


def test_tables_are_listed_with_the_types_of_their_columns(tmp_path: Path) -> None:
    code, shown = run(filled(tmp_path))
    assert code == 0
    assert "my.tickets\n  id  int4\n  urn  text\n  opened.at  date\n" in shown


def test_a_type_is_fixed_and_let_go(tmp_path: Path) -> None:
    folder = filled(tmp_path)
    code, shown = run(folder, "--set", "my.tickets.opened.at=timestamp", "--json")
    assert code == 0
    tables = {each["name"]: each["columns"] for each in json.loads(shown)}
    assert tables["my.tickets"][2] == {"name": "opened.at", "type": "timestamp"}
    assert "  opened.at  timestamp\n" in run(folder)[1]
    assert "  opened.at  date\n" in run(folder, "--unset", "my.tickets.opened.at")[1]


def test_what_cannot_be_fixed_is_refused(tmp_path: Path) -> None:
    folder = filled(tmp_path)
    for written, said in (
        ("my.tickets.opened.at=uuid", "1 values of my.tickets.opened.at"),
        ("my.tickets.opened.at=nosuch", "is no type for a column"),
        ("my.tickets.nosuch=text", "has no column"),
        ("nosuch.x=text", "has no column"),
        ("my.tickets", "TABLE.COLUMN=TYPE"),
    ):
        code, shown = run(folder, "--set", written)
        assert (code != 0, said in shown) == (True, True), shown
