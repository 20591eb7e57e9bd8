"""The rows of a SELECT: a list of dicts with columns, types and other forms."""

import sys
from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID

import duckdb
import pytest
from worker_selectors import TYPED

import redask
from redask.api import result_tables
from redask.api.select_rows import SelectRows
from redask.core.errors import BadAsk, Misconfigured
from redask.core.ports import SelectResult
from redask.core.wire import json as canonical
from redask.core.wire.row_json import distinct

KEYS = ["n", "n_2", "d", "t", "at", "zoned", "u", "f", "b", "j", "i", "l", "q", "x"]


@pytest.fixture
def rows() -> SelectRows:
    return SelectRows(TYPED)


def test_rows_are_a_list_of_dicts_with_columns_and_types(tmp_path: Path) -> None:
    with redask.open(tmp_path) as db:
        db.put("notes", [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}])
        rows = db.select("SELECT id, text FROM notes ORDER BY id")
        assert rows == [{"id": 1, "text": "a"}, {"id": 2, "text": "b"}]
        assert isinstance(rows, list)
        assert rows[1]["text"] == "b"
        assert rows.columns == (("id", "int4"), ("text", "text"))
        none = db.select("SELECT id, text FROM notes WHERE id = 9")
        assert (none, [name for name, _ in none.columns]) == ([], ["id", "text"])
        assert db.execute("SELECT id FROM notes WHERE id = 1") == [{"id": 1}]


def test_values_are_pythons(rows: SelectRows) -> None:
    assert list(rows[0]) == KEYS
    assert rows[0]["n_2"] == Decimal("12.50")
    assert rows[0]["d"] == date(2026, 5, 4)
    assert rows[0]["zoned"] == datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
    assert set(rows[1].values()) == {None}


@pytest.mark.parametrize(
    ("names", "keys"),
    [
        (["a", "b"], ["a", "b"]),
        (["a", "a", "a"], ["a", "a_2", "a_3"]),
        (["a", "a_2", "a"], ["a", "a_2", "a_3"]),
        (["a", "a", "a_2"], ["a", "a_3", "a_2"]),
        (["A", "a"], ["A", "a"]),
        (["?column?", "?column?"], ["?column?", "?column?_2"]),
    ],
)
def test_a_name_that_stands_twice_is_numbered(names: list[str], keys: list[str]) -> None:
    assert distinct(names) == keys


def test_every_value_has_json(rows: SelectRows) -> None:
    assert rows.json_rows()[0] == {
        "n": 1,
        "n_2": "12.50",
        "d": "2026-05-04",
        "t": "09:30:00.500000",
        "at": "2026-05-04T09:30:00",
        "zoned": "2026-05-04T09:30:00+00:00",
        "u": "123e4567-e89b-12d3-a456-426614174000",
        "f": 0.5,
        "b": True,
        "j": '{"a": 1}',
        "i": "1 mon 2 days",
        "l": [1, None, 3],
        "q": "0.3333333333",
        "x": 'a "b", ü\n',
    }
    odd = [float("nan"), float("-inf"), Decimal("NaN"), Decimal("Infinity"), b"\0\xff", 2**70]
    shown = SelectRows(SelectResult((("v", "text"),), [(each,) for each in odd])).json_rows()
    assert [row["v"] for row in shown] == [
        *("NaN", "-Infinity", "NaN", "Infinity", "\\x00ff"),
        2**70,
    ]
    assert canonical.encode([*rows.json_rows(), *shown])


def test_arrow_is_typed(rows: SelectRows) -> None:
    table = rows.to_arrow()
    assert table.column_names == KEYS
    shown = {name: str(table.schema.field(name).type).lower() for name in KEYS}
    kinds = {  # as arro3 and as pyarrow call them
        "n": ("int64",),
        "n_2": ("decimal128(18, 2)",),
        "d": ("date32",),
        "t": ("time64",),
        "at": ("timestamp",),
        "zoned": ("utc",),
        "u": ("utf8", "string"),
        "f": ("float64", "double"),
        "b": ("bool",),
        "j": ("utf8", "string"),
        "l": ("int32",),
        "q": ("decimal128(11, 10)",),
    }
    for name, kind in kinds.items():
        assert any(each in shown[name] for each in kind), (name, shown[name])
    values = {name: table.column(name).to_pylist() for name in KEYS}
    assert values["n"] == [1, None, -3]
    assert values["n_2"] == [Decimal("12.50"), None, Decimal("-0.05")]
    assert values["d"] == [date(2026, 5, 4), None, date(1, 1, 1)]
    assert values["at"] == [datetime(2026, 5, 4, 9, 30), None, TYPED.rows[2][4]]
    assert values["zoned"][0] == datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
    assert values["l"] == [[1, None, 3], None, []]
    assert values["x"] == ['a "b", ü\n', None, ""]


def test_pandas_is_typed_and_keeps_integers_beside_nulls(rows: SelectRows) -> None:
    pandas = pytest.importorskip("pandas")
    frame = rows.to_pandas()
    assert list(frame.columns) == KEYS
    assert str(frame.dtypes["n"]) == "Int64"
    assert str(frame.dtypes["b"]) == "boolean"
    assert str(frame.dtypes["at"]) == "datetime64[us]"
    assert str(frame.dtypes["zoned"]) == "datetime64[us, UTC]"
    assert frame["n"].sum() == -2
    assert frame["n_2"][0] == Decimal("12.50")
    assert frame["d"][0] == date(2026, 5, 4)
    assert frame["u"][0] == UUID("123e4567-e89b-12d3-a456-426614174000")
    assert frame["zoned"][0] == pandas.Timestamp("2026-05-04T09:30Z")
    whole = SelectRows(SelectResult((("n", "int8"), ("b", "bool")), [(2**60, True)])).to_pandas()
    assert [str(each) for each in whole.dtypes] == ["int64", "bool"]
    assert whole["n"][0] == 2**60
    empty = SelectRows(SelectResult(TYPED.columns, [])).to_pandas()
    assert list(empty.columns) == KEYS
    assert len(empty) == 0


def test_parquet_is_typed_and_reads_back(rows: SelectRows, tmp_path: Path) -> None:
    file = tmp_path / "it's rows.parquet"
    rows.write_parquet(file)
    read = duckdb.connect().from_parquet(str(file))
    assert read.columns == KEYS
    assert [str(each) for each in read.types[:5]] == [
        *("BIGINT", "DECIMAL(18,2)", "DATE", "TIME", "TIMESTAMP")
    ]
    found = read.project("* EXCLUDE zoned").fetchall()  # which fetchall needs a package for
    expected = [
        tuple(
            None if value is None else str(value) if isinstance(value, UUID) else value
            for place, value in enumerate(row)
            if place != 5
        )
        for row in TYPED.rows
    ]
    assert [tuple(row) for row in found] == expected
    empty = SelectRows(SelectResult((("a", "date"),), []))
    empty.write_parquet(file)
    assert duckdb.connect().from_parquet(str(file)).fetchall() == []


def test_a_file_that_cannot_be_written_is_named(rows: SelectRows, tmp_path: Path) -> None:
    with pytest.raises(BadAsk, match="nowhere"):
        rows.write_parquet(tmp_path / "nowhere" / "rows.parquet")
    with pytest.raises(BadAsk, match="needs a column"):
        SelectRows(SelectResult((), [()])).write_parquet(tmp_path / "rows.parquet")


@pytest.mark.parametrize(
    ("kind", "values", "type_"),
    [
        ("numeric", [Decimal("1.5"), Decimal("100"), None], "DECIMAL(4,1)"),
        ("numeric", [], "DECIMAL(1,0)"),
        ("numeric", [Decimal("0.001")], "DECIMAL(4,3)"),
        ("numeric", [Decimal("1E+3")], "DECIMAL(4,0)"),
        ("numeric", [Decimal("NaN")], "VARCHAR"),
        ("numeric", [Decimal(10) ** 40], "VARCHAR"),
        ("numeric(50,2)", [Decimal("1.00")], "DECIMAL(3,2)"),
        ("numeric[]", [[Decimal("1.25"), None], None], "DECIMAL(3,2)[]"),
        ("timestamptz[]", [[datetime(2026, 1, 1, tzinfo=UTC)]], "TIMESTAMP WITH TIME ZONE[]"),
        ("time", [time(1, 2, 3)], "TIME"),
        ("uuid", [UUID(int=1)], "VARCHAR"),
    ],
)
def test_a_numeric_is_the_smallest_decimal_that_holds_it(
    kind: str, values: list[object], type_: str
) -> None:
    result = SelectResult((("v", kind),), [(each,) for each in values])
    relation = result_tables._relation(result)
    assert [str(each) for each in relation.types] == [type_]
    assert relation.count("*").fetchall() == [(len(values),)]


@pytest.mark.parametrize(
    ("method", "package"),
    [("to_arrow", "pyarrow"), ("to_pandas", "pandas"), ("to_polars", "polars")],
)
def test_what_is_not_installed_is_named(
    rows: SelectRows, monkeypatch: pytest.MonkeyPatch, method: str, package: str
) -> None:
    monkeypatch.setattr(result_tables, "find_spec", lambda _: None)
    with pytest.raises(Misconfigured, match=f"pip install {package}"):
        getattr(rows, method)()


def test_polars_and_pyarrow_take_the_arrow_stream(
    rows: SelectRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[Any] = []
    for name, attribute in (("polars", "DataFrame"), ("pyarrow", "table")):
        module = ModuleType(name)
        setattr(module, attribute, taken.append)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(result_tables, "find_spec", lambda _: True)
    rows.to_polars()
    rows.to_arrow()
    assert [hasattr(each, "__arrow_c_stream__") for each in taken] == [True, True]
