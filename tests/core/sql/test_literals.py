"""Literals: what PostgreSQL reads from a text, its errors, and what DuckDB then gets."""

import math
from datetime import date, datetime, time
from decimal import Decimal
from uuid import UUID

import duckdb
import pytest

from redask.core.errors import SqlError
from redask.core.sql.literals import duckdb_literal, read
from redask.core.sql.runtime.dates.intervals import Interval, from_carried
from redask.core.sql.runtime.dates.wide_dates import wide_number, wide_text
from redask.core.sql.shown_values import read_shown
from redask.core.sql.types import SqlType

ONE = UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("bool", " TRUE ", True),
        ("bool", "of", False),
        ("int4", " +12 ", 12),
        ("int8", "-9223372036854775808", -(2**63)),
        ("oid", "-1", 4294967295),
        ("numeric", "1.50e-2", Decimal("0.0150")),
        ("numeric", "1e3", Decimal(1000)),
        ("numeric(4,1)", "2.25", Decimal("2.3")),
        ("float8", "-Infinity", -math.inf),
        ("float4", "16777217", 16777216.0),
        ("varchar(2)", "ab   ", "ab"),
        ("bpchar(4)", "ab", "ab  "),
        ("name", "é" * 40, "é" * 31),
        ("date", "Jan 5, 2024", date(2024, 1, 5)),
        ("date", "5 January 2024", date(2024, 1, 5)),
        ("date", "1/2/2024", date(2024, 1, 2)),
        ("date", "20240105", date(2024, 1, 5)),
        ("date", "1/2/70", date(1970, 1, 2)),
        ("time", "04:05 PM", time(16, 5)),
        ("timestamp", "2024-01-05 24:00:00", datetime(2024, 1, 6)),
        ("timestamp", "2024-01-05 10:00:00+02", datetime(2024, 1, 5, 10)),
        ("timestamp(2)", "1999-01-05 10:00:00.555", datetime(1999, 1, 5, 10, 0, 0, 550_000)),
        ("timestamptz", "2024-01-05 10:00:00+02", datetime(2024, 1, 5, 8)),
        ("timestamptz", "2024-07-05 10:00:00 Europe/Berlin", datetime(2024, 7, 5, 8)),
        ("timestamptz", "epoch", datetime(1970, 1, 1)),
        ("interval", "1 year 2 mons 3 days 04:05:06.7", Interval(14, 3, 14_706_700_000)),
        ("interval", "-1-2", Interval(-14, 0, 0)),
        ("interval", "P1Y2M3DT4H", Interval(14, 3, 14_400_000_000)),
        ("interval", "90 minutes ago", Interval(0, 0, -5_400_000_000)),
        ("interval", "1.5 months", Interval(1, 15, 0)),
        ("uuid", "{A0EEBC99-9c0b4ef8-bb6d6bb9-bd380a11}", ONE),
        ("int4[]", " {1, 2 ,NULL}", [1, 2, None]),
        ("text[]", '{"a b",NULL,"NULL",x\\,y}', ["a b", None, "NULL", "x,y"]),
        ("int4[]", "{}", []),
        ("bytea", "\\x00FF", "\\x00ff"),
        ("json", ' {"b":1 }', ' {"b":1 }'),
        ("jsonb", '{"bb":1,"a":[1,2]}', '{"a": [1, 2], "bb": 1}'),
    ],
)
def test_a_text_is_read_as_its_type(name: str, text: str, value: object) -> None:
    found = read(text, SqlType.parse(name))
    assert found == value
    assert type(found) is type(value)
    assert str(found) == str(value)  # 1.50 is not 1.5


@pytest.mark.parametrize(
    ("name", "text", "sqlstate", "message"),
    [
        ("int4", "abc", "22P02", 'invalid input syntax for type integer: "abc"'),
        ("int4", "1.5", "22P02", 'invalid input syntax for type integer: "1.5"'),
        ("int4", "1_0", "22P02", 'invalid input syntax for type integer: "1_0"'),
        ("int4", "٣", "22P02", 'invalid input syntax for type integer: "٣"'),
        ("int4", "9" * 5000, "22003", f'value "{"9" * 5000}" is out of range for type integer'),
        ("int2", "99999", "22003", 'value "99999" is out of range for type smallint'),
        ("bool", "o", "22P02", 'invalid input syntax for type boolean: "o"'),
        ("numeric", "1e", "22P02", 'invalid input syntax for type numeric: "1e"'),
        ("numeric", "1e999999999999", "22003", "value overflows numeric format"),
        ("numeric(3,1)", "99.96", "22003", "numeric field overflow"),
        ("numeric", "NaN", "0A000", "numeric NaN or Infinity is not supported"),
        ("float8", "1e400", "22003", '"1e400" is out of range for type double precision'),
        ("float4", "1e-46", "22003", '"1e-46" is out of range for type real'),
        ("varchar(2)", "abc", "22001", "value too long for type character varying(2)"),
        ("date", "abc", "22007", 'invalid input syntax for type date: "abc"'),
        ("date", "2024-02-30", "22008", 'date/time field value out of range: "2024-02-30"'),
        ("date", "13/2/2024", "22008", 'date/time field value out of range: "13/2/2024"'),
        ("date", "now", "0A000", 'a date written "now" is not supported'),
        ("timestamp", "2024-01-05 25:00", "22008", None),
        ("timestamptz", "2024-01-05 10:00 +16", "22009", None),
        ("interval", "1 foo", "22007", 'invalid input syntax for type interval: "1 foo"'),
        ("interval", "1 day 2 days", "22007", None),
        ("interval", "3000000000 months", "22015", None),
        ("interval", f"{'9' * 5000} days", "22015", None),
        ("float4", "1e-999999999", "22003", None),
        ("uuid", "a0e-ebc99", "22P02", 'invalid input syntax for type uuid: "a0e-ebc99"'),
        ("int4[]", "{1,2", "22P02", 'malformed array literal: "{1,2'),
        ("int4[]", "{1,x}", "22P02", 'invalid input syntax for type integer: "x"'),
        ("int4[]", "{{1},{2}}", "0A000", "an array of arrays is not supported"),
        ("jsonb", "{", "22P02", "invalid input syntax for type json"),
        ("text", "a\0b", "22021", 'invalid byte sequence for encoding "UTF8": 0x00'),
    ],
)
def test_a_bad_text_has_postgresqls_error(
    name: str, text: str, sqlstate: str, message: str | None
) -> None:
    with pytest.raises(SqlError) as raised:
        read(text, SqlType.parse(name))
    assert raised.value.sqlstate == sqlstate
    assert message is None or raised.value.message.startswith(message)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("bool", "t"),
        ("int8", "-9223372036854775808"),
        ("numeric(38,2)", "123456789012345678901234567890.12"),
        ("float8", "1e-320"),
        ("float8", "-0"),
        ("float8", "-Infinity"),
        ("float4", "1.1"),
        ("text", "a'b\\n€ --"),
        ("date", "0001-01-01"),
        ("date", "9999-12-31"),
        ("timestamp", "2024-01-05 10:00:00.000001"),
        ("time", "23:59:59.999999"),
        ("uuid", str(ONE)),
        ("int4[]", "{1,NULL}"),
        ("text[]", "{}"),
        ("bytea", "\\x00ff41"),
    ],
)
def test_duckdb_gets_exactly_the_value(name: str, text: str) -> None:
    kind = SqlType.parse(name)
    value = read(text, kind)
    with duckdb.connect() as connection:
        asked = f"SELECT {duckdb_literal(value, kind)} AS x"
        found = connection.execute(f"SELECT x, typeof(x) FROM ({asked})").fetchone()
    assert found is not None
    assert repr(found[0]) == repr(value)
    assert found[1] == kind.duckdb_type


def test_duckdb_gets_an_interval_with_its_months_and_days() -> None:
    value = Interval(-14, 40, -14_706_000_001)
    literal = duckdb_literal(value, SqlType("interval"))
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT CAST({literal} AS VARCHAR)").fetchone()
    assert found is not None
    assert from_carried(found[0]) == value


def test_a_numeric_without_modifier_goes_to_duckdb_as_its_text() -> None:
    assert duckdb_literal(Decimal("1.500"), SqlType("numeric")) == "CAST('1.500' AS VARCHAR)"
    assert duckdb_literal(None, SqlType("int4")) == "CAST(NULL AS INTEGER)"


def test_a_nul_character_never_reaches_duckdb() -> None:
    with pytest.raises(SqlError) as raised:
        duckdb_literal("a\0", SqlType("text"))
    assert raised.value.sqlstate == "22021"


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("int4[]", "{{1,2},{3,4}}", [[1, 2], [3, 4]]),
        ("int4[]", "{{1},{NULL}}", [[1], [None]]),
        ("date[]", "{infinity,2024-01-05}", ["infinity", date(2024, 1, 5)]),
        ("date", " -Infinity ", "-infinity"),
        ("date", "0044-3-15 BC", "0044-03-15 BC"),
        ("date", "2024-01-05", None),
        ("timestamptz", "10000-01-01 00:00-03:30", "10000-01-01 03:30:00+00"),
        ("timestamptz", "0001-01-01 00:00+02", "0001-12-31 22:00:00+00 BC"),
        ("numeric", "-inf", Decimal("-Infinity")),
        ("numeric", "1.5", None),
        ("bpchar(3)[]", "{a,bcde}", ["a  ", "bcd"]),
    ],
)
def test_what_duckdb_has_no_value_for_can_be_shown(name: str, text: str, value: object) -> None:
    assert read_shown(text, SqlType.parse(name), "UTC") == value


@pytest.mark.parametrize("kind", ["date", "timestamp", "timestamptz"])
def test_every_day_of_postgresql_is_written_and_read_again(kind: str) -> None:
    unit = 1 if kind == "date" else 86_400_000_000
    first, last = -2_451_545, 2_145_031_948 if kind == "date" else 106_751_982
    places = (first, first + 1, -730_120, -730_119, 0, 59, 2_921_939, 2_921_940, last)
    for day in (*places, *range(first, last, (last - first) // 1009)):
        number = day * unit
        assert wide_number(wide_text(number, kind), kind) == number
    assert wide_text(0, kind)[:10] == "2000-01-01"
    assert wide_text(2_921_940 * unit, kind)[:11] == "10000-01-01"
