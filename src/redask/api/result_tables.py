"""The result of a SELECT as a typed table of another library: Arrow, pandas, polars, Parquet.

    PostgreSQL                    Arrow and Parquet                  pandas
    int2 int4 int8, float4 …      the same width                     int64 …; Int64 with NULLs
    numeric(p,s)                  decimal(p,s), up to 38 digits      Decimal
    numeric                       the smallest decimal that holds    Decimal
                                  every value; text if there is none
    bool                          bool                               bool; boolean with NULLs
    date, time                    date32, time64 (microseconds)      date, time
    timestamp, timestamptz        microseconds, without zone; UTC    datetime64
    uuid, json, jsonb, interval   text                               UUID; text
    bytea; ranges, inet …         binary; text                       bytes; text
    arrays                        lists                              lists

DuckDB makes the Arrow data, whichever library takes it.
"""

from collections.abc import Sequence
from decimal import Decimal
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from redask.core.errors import BadAsk, Misconfigured
from redask.core.ports import SelectResult
from redask.core.sql.types import SqlType

if TYPE_CHECKING:
    import duckdb

_DIGITS = 38  # of DuckDB's decimals
_AS_TEXT = ("json", "jsonb", "interval", "uuid", "record", "void", "unknown")
_PANDAS = {
    "int2": "int16",
    "int4": "int32",
    "int8": "int64",
    "bool": "bool",
    "float4": "float32",
    "float8": "float64",
    "timestamp": "datetime64[us]",
    "timestamptz": "datetime64[us, UTC]",
}
_NULLABLE = {"int16": "Int16", "int32": "Int32", "int64": "Int64", "bool": "boolean"}


def arrow_table(result: SelectResult) -> Any:
    """A table of pyarrow, else of arro3."""
    if find_spec("pyarrow") is not None:
        import pyarrow

        return pyarrow.table(_relation(result))
    if find_spec("arro3") is not None and find_spec("arro3.core") is not None:
        from arro3.core import Table

        return Table.from_arrow(_relation(result))
    raise _missing("to_arrow", "pyarrow or 'redask[parquet]'")


def polars_frame(result: SelectResult) -> Any:
    """A DataFrame of polars."""
    if find_spec("polars") is None:
        raise _missing("to_polars", "polars")
    import polars

    return polars.DataFrame(_relation(result))


def pandas_frame(result: SelectResult) -> Any:
    """A DataFrame of pandas."""
    if find_spec("pandas") is None:
        raise _missing("to_pandas", "pandas")
    import pandas

    columns = {}
    for place, (name, kind) in enumerate(result.columns):
        values = [row[place] for row in result.rows]
        of = SqlType.parse(kind)
        dtype = "object" if of.is_array else _PANDAS.get(of.name, "object")
        if any(_is_shown_only(of, value) for value in values):
            dtype = "object"
        if any(value is None for value in values):
            dtype = _NULLABLE.get(dtype, dtype)
        columns[name] = pandas.Series(values, dtype=dtype)
    return pandas.DataFrame(columns)


def write_parquet(result: SelectResult, path: str | Path) -> None:
    """Write a Parquet file with DuckDB."""
    import duckdb

    if not result.columns:
        raise BadAsk("a Parquet file needs a column: the SELECT gives none", detail="columns")
    try:
        _relation(result).write_parquet(str(path))
    except duckdb.IOException:
        raise BadAsk(f"{path} cannot be written", detail=str(path)) from None


def _relation(result: SelectResult) -> "duckdb.DuckDBPyRelation":
    """The rows in a DuckDB of their own, in memory; one array for each column goes there."""
    import duckdb

    connection = duckdb.connect(config={"enable_external_access": "true"})
    connection.execute("SET TimeZone = 'UTC'")
    chosen, arrays = [], []
    for place, (name, kind) in enumerate(result.columns):
        values = [row[place] for row in result.rows]
        duckdb_type, fit = _column(SqlType.parse(kind), values)
        quoted = name.replace('"', '""')
        chosen.append(f'unnest(?::{duckdb_type}[]) AS "{quoted}"')
        arrays.append(fit)
    return connection.sql(f"SELECT {', '.join(chosen)}", params=arrays)


def _column(kind: SqlType, values: list[object]) -> tuple[str, list[object]]:
    """DuckDB's type for a column, and its values as that type takes them."""
    items = _items(kind, values)
    if any(_is_shown_only(kind, item) for item in items):
        message = f"a value of type {kind.sql_name} has none in Arrow: cast it to text"
        raise BadAsk(message, detail=kind.sql_name)
    suffix = "[]" if kind.is_array else ""
    if kind.name in _AS_TEXT:
        return f"VARCHAR{suffix}", [_mapped(value, _text) for value in values]
    if kind.name == "numeric":
        one = _decimal_type(kind, items)
        if one == "VARCHAR":
            return f"VARCHAR{suffix}", [_mapped(value, _text) for value in values]
        return f"{one}{suffix}", values
    if kind.name == "bytea":
        return f"BLOB{suffix}", values
    if kind.name == "timestamptz":
        return f"TIMESTAMPTZ{suffix}", values
    return kind.duckdb_type, values


def _is_shown_only(kind: SqlType, value: object) -> bool:
    """Whether it is an array in an array, or a date that is text: before year 1, infinite …"""
    is_wide = kind.name in ("date", "timestamp", "timestamptz") and isinstance(value, str)
    return is_wide or isinstance(value, list)


def _items(kind: SqlType, values: list[object]) -> list[object]:
    if not kind.is_array:
        return values
    return [item for value in values if isinstance(value, list) for item in value]


def _mapped(value: object, to: Any) -> object:
    if isinstance(value, list):
        return [_mapped(each, to) for each in value]
    return None if value is None else to(value)


def _text(value: object) -> str:
    if isinstance(value, Decimal):
        return format(value, "f") if value.is_finite() else str(value)
    return str(value)


def _decimal_type(kind: SqlType, items: Sequence[object]) -> str:
    """The decimal that holds every value; VARCHAR if none does."""
    numbers = [each for each in items if each is not None]
    if any(not isinstance(each, Decimal) or not each.is_finite() for each in numbers):
        return "VARCHAR"
    if len(kind.modifier) == 2 and kind.modifier[0] <= _DIGITS:
        return f"DECIMAL({kind.modifier[0]},{kind.modifier[1]})"
    whole, scale = 1, 0
    for each in numbers:
        assert isinstance(each, Decimal)
        exponent = each.as_tuple().exponent
        assert isinstance(exponent, int)
        scale = max(scale, -exponent)
        whole = max(whole, each.adjusted() + 1 if each else 1)
    return f"DECIMAL({whole + scale},{scale})" if whole + scale <= _DIGITS else "VARCHAR"


def _missing(method: str, package: str) -> Misconfigured:
    return Misconfigured(f"{method}() needs a package that is not installed: pip install {package}")
