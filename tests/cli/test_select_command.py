"""`redask select` as a person and as a program use it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import redask
from redask.cli import main

FOREVER = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    with redask.open(tmp_path / "shop") as db:
        db.put("items", [{"id": 1, "name": "[red]lamp", "price": 9.5}, {"id": 2, "name": None}])
    return tmp_path / "shop"


def run(directory: Path, *words: str) -> Result:
    return CliRunner().invoke(main, ["--db", str(directory), "select", *words])


def test_rows_are_printed_as_a_table(shop: Path) -> None:
    result = run(shop, "SELECT id, name, price FROM items")
    assert result.exit_code == 0
    assert "[red]lamp" in result.output
    assert "9.5" in result.output
    assert result.output.rstrip().endswith("2 rows")
    assert run(shop, "SELECT id FROM items WHERE id = 1").output.rstrip().endswith("1 row")


def test_json_is_the_rows(shop: Path) -> None:
    printed = run(shop, "SELECT * FROM items", "--json").output
    with redask.open(shop) as db:
        assert json.loads(printed) == db.select("SELECT * FROM items")


@pytest.mark.parametrize(
    ("sql", "code", "kind"),
    [
        ("DROP TABLE items", 2, "bad_ask"),
        ("SELECT * FROM nosuch", 2, "bad_ask"),
        (f"{FOREVER} SELECT n FROM c", 4, "limit_exceeded"),
    ],
)
def test_what_goes_wrong_has_its_exit_code(shop: Path, sql: str, code: int, kind: str) -> None:
    result = run(shop, sql)
    assert result.exit_code == code
    assert "Traceback" not in result.output
    told = run(shop, sql, "--json")
    assert told.exit_code == code
    assert json.loads(told.output)["error"]["kind"] == kind


def test_without_a_database_there_is_a_helpful_word(tmp_path: Path) -> None:
    result = run(tmp_path / "none", "SELECT 1")
    assert result.exit_code == 2
    assert "there is no database" in result.output
