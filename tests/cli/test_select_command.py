"""`redask select` as a person and as a program use it."""

import csv
import io
import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import click
import duckdb
import pytest
from click.testing import CliRunner, Result

import redask
from redask.api.select_rows import SelectRows
from redask.cli import main, result_formats
from redask.core.ports import SelectResult

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


# --- formats ----------------------------------------------------------------------------

TYPES = "n int8, n numeric(18,2), d date, zoned timestamptz, b bool, l int4[], i interval, x text"
SHOWN = SelectResult(
    tuple((name, kind) for name, kind in (each.split() for each in TYPES.split(", "))),
    [
        (
            *(1, Decimal("12.50"), date(2026, 5, 4), datetime(2026, 5, 4, 9, 30, tzinfo=UTC)),
            *(True, [1, None], "1 mon", 'a,"b"|\nü'),
        ),
        (None,) * 8,
        (2**60, Decimal("-3.00"), date(1, 1, 1), None, False, [], "00:00:01", ""),
    ],
)


def shown(form: str, result: SelectResult = SHOWN) -> str:
    """What a format makes of a result."""

    @click.command()
    def command() -> None:
        result_formats.write(SelectRows(result), form)

    return CliRunner().invoke(command).output


def test_csv_is_what_copy_writes() -> None:
    assert shown("csv") == (
        "n,n,d,zoned,b,l,i,x\n"
        '1,12.50,2026-05-04,2026-05-04 09:30:00+00,t,"{1,NULL}",1 mon,"a,""b""|\nü"\n'
        ",,,,,,,\n"
        '1152921504606846976,-3.00,0001-01-01,,f,{},00:00:01,""\n'
    )
    assert list(csv.reader(io.StringIO(shown("csv"))))[1][-1] == 'a,"b"|\nü'


def test_csv_of_one_column_never_ends_early() -> None:
    one = SelectResult((("x", "text"),), [("\\.",), (None,), ("",), ("\\.x",)])
    assert shown("csv", one) == 'x\n"\\."\n\n""\n\\.x\n'


def test_json_has_exact_numbers_and_the_order_of_the_columns() -> None:
    printed = shown("json")
    rows = json.loads(printed, parse_float=Decimal)
    assert list(rows[0].items()) == [
        ("n", 1),
        ("n_2", Decimal("12.50")),
        ("d", "2026-05-04"),
        ("zoned", "2026-05-04T09:30:00+00:00"),
        ("b", True),
        ("l", [1, None]),
        ("i", "1 mon"),
        ("x", 'a,"b"|\nü'),
    ]
    assert '"n_2":12.50,' in printed
    assert set(rows[1].values()) == {None}
    assert rows[2]["n"] == 2**60
    assert [json.loads(line, parse_float=Decimal) for line in shown("jsonl").splitlines()] == rows
    nothing = SelectResult(SHOWN.columns, [])
    assert (shown("json", nothing), shown("jsonl", nothing)) == ("[]\n", "")
    odd = SelectResult((("f", "float8"), ("q", "numeric")), [(float("nan"), Decimal("NaN"))])
    assert json.loads(shown("json", odd)) == [{"f": "NaN", "q": "NaN"}]


def test_markdown_is_a_table_of_one_line_a_row() -> None:
    lines = shown("md").splitlines()
    assert lines[0] == "| n | n | d | zoned | b | l | i | x |"
    assert lines[1] == "| ---: | ---: | --- | --- | --- | --- | --- | --- |"
    assert lines[2] == (
        '| 1 | 12.50 | 2026-05-04 | 2026-05-04 09:30:00+00 | t | {1,NULL} | 1 mon | a,"b"\\|<br>ü |'
    )
    assert lines[3] == "|  |  |  |  |  |  |  |  |"
    assert len(lines) == 5


def test_parquet_reads_back(shop: Path, tmp_path: Path) -> None:
    printed = run(shop, "SELECT id, name, price FROM items ORDER BY id", "--format", "parquet")
    file = tmp_path / "rows.parquet"
    file.write_bytes(printed.stdout_bytes)
    read = duckdb.connect().from_parquet(str(file))
    assert read.columns == ["id", "name", "price"]
    assert read.fetchall() == [(1, "[red]lamp", 9.5), (2, None, None)]


@pytest.mark.parametrize("form", ["csv", "json", "jsonl", "md", "table"])
def test_every_format_is_an_option(shop: Path, form: str) -> None:
    result = run(shop, "SELECT id, name FROM items ORDER BY id", "--format", form)
    assert result.exit_code == 0
    assert "[red]lamp" in result.output


def test_an_error_is_json_where_rows_would_be(shop: Path) -> None:
    for form in ("json", "jsonl"):
        told = run(shop, "SELECT * FROM nosuch", "--format", form)
        assert json.loads(told.output)["error"]["kind"] == "bad_ask"
    assert "redask:" in run(shop, "SELECT * FROM nosuch", "--format", "csv").output
    assert run(shop, "SELECT 1", "--format", "xml").exit_code == 2
