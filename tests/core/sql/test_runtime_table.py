"""The Python functions as DuckDB calls them, and values of PostgreSQL at the edges."""

from collections.abc import Callable, Iterator
from datetime import date, datetime, time

import duckdb
import pytest
from duckdb.func import DEFAULT, SPECIAL

from redask.core.errors import SqlError
from redask.core.sql.runtime import spelling
from redask.core.sql.runtime.dates import (
    date_formats,
    date_parts,
    date_reading,
    date_rounding,
    intervals,
    time_zones,
)
from redask.core.sql.runtime.dates.intervals import Interval
from redask.core.sql.runtime.numbers import (
    aggregates,
    number_formats,
    numerics,
    transcendentals,
    width_buckets,
)
from redask.core.sql.runtime.runtime_table import RUNTIME, call_text, registered
from redask.core.sql.types import SqlType

MODULES = (
    *(aggregates, date_formats, date_reading, date_rounding, intervals, number_formats),
    *(numerics, spelling, time_zones, transcendentals, width_buckets),
)


@pytest.fixture(scope="module")
def duck() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        for name in sorted(each for module in MODULES for each in module.FUNCTIONS):
            row = RUNTIME[name]
            arguments, result = registered(row)
            handling = SPECIAL if row.null_handling else DEFAULT
            connection.create_function(name, row.call, [*arguments], result, null_handling=handling)
        yield connection


NOON = datetime(2024, 1, 1, 12)
LARGEST = "1" + "0" * 131_071
make_date = date_rounding.make_date


def of_day(unit: str) -> str:
    return date_parts.extract_date(unit, NOON)


def in_berlin(moment: datetime) -> datetime:
    return time_zones.to_utc(moment, "Europe/Berlin")


def asked(duck: duckdb.DuckDBPyConnection, expression: str) -> object:
    found = duck.execute(f"SELECT {expression}").fetchone()
    assert found is not None
    return found[0]


def test_every_name_says_that_it_is_postgresqls() -> None:
    assert all(name.startswith("pg_") and row.name == name for name, row in RUNTIME.items())


def test_an_interval_keeps_its_months_between_duckdb_and_python(
    duck: duckdb.DuckDBPyConnection,
) -> None:
    doubled = call_text("pg_interval_mul", "INTERVAL '13 months 40 days'", "2")
    text = call_text("pg_interval_text", doubled)
    assert asked(duck, text) == "2 years 2 mons 80 days"


@pytest.mark.parametrize(
    ("name", "arguments", "text"),
    [
        ("pg_age", ("TIMESTAMP '2024-03-01'", "TIMESTAMP '2024-01-31'"), "1 mon 1 day"),
        ("pg_interval_avg", ("[INTERVAL '1 month', INTERVAL '2 days']",), "16 days"),
        ("pg_date_trunc_interval", ("'month'", "INTERVAL '40 days -5 months'"), "-5 mons"),
    ],
)
def test_an_interval_comes_back_as_an_interval(
    duck: duckdb.DuckDBPyConnection, name: str, arguments: tuple[str, ...], text: str
) -> None:
    given = call_text(name, *arguments)
    assert asked(duck, f"typeof({given})") == "INTERVAL"
    assert asked(duck, call_text("pg_interval_text", given)) == text


def test_an_aggregate_over_nothing_is_null(duck: duckdb.DuckDBPyConnection) -> None:
    assert asked(duck, "pg_numeric_sum([])") is None
    assert asked(duck, "pg_numeric_var_samp(['1'])") is None
    assert asked(duck, "pg_corr([1.0], [2.0])") is None
    assert asked(duck, "pg_float8_avg(NULL)") is None
    assert asked(duck, "pg_numeric_add(NULL, '1')") is None


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (numerics.div("1", "3"), "0.33333333333333333333"),
        (numerics.div("10", "4"), "2.5000000000000000"),
        (numerics.mul("1.50", "2.0"), "3.000"),
        (numerics.mod("-7.5", "2"), "-1.5"),
        (numerics.round_to("-2.5", 0), "-3"),
        (numerics.round_to("1250", -2), "1300"),
        (numerics.trunc_to("-2.59", 1), "-2.5"),
        (numerics.from_float8(1e20), "100000000000000000000"),
        (numerics.from_float8(0.1 + 0.2), "0.3"),
        (numerics.sub("0.10", "0.1"), "0.00"),
        (transcendentals.sqrt("2"), "1.414213562373095"),
        (transcendentals.power("2", "0.5"), "1.4142135623730950"),
        (transcendentals.power("10000", "-2.25"), "0.000000001000000000000000"),
        (aggregates.average(["1", "2", "2"]), "1.6666666666666667"),
        (aggregates.spread(["1", "2", "4"], sample=True, root=False), "2.3333333333333333"),
        (spelling.float8_text(1e20), "1e+20"),
        (spelling.float8_text(1.5e-7), "1.5e-07"),
        (spelling.float8_text(-0.0), "-0"),
        (spelling.float8_text(123456789012345.0), "123456789012345"),
        (spelling.float8_text(1e15), "1e+15"),
        (spelling.float8_text(81886575731276808192.0), "8.188657573127681e+19"),
        (spelling.float4_text(numerics.as_float4(66371088.0)), "6.6371088e+07"),
        (spelling.float4_text(2.0**-96), "1.2621775e-29"),
        (spelling.value_text([True, None], SqlType("bool", (), True)), "{t,NULL}"),
        (spelling.value_text(["a b", "", "null"], SqlType("text", (), True)), '{"a b","","null"}'),
        (spelling.timestamptz_text(datetime(2024, 1, 5, 10, 0, 5)), "2024-01-05 10:00:05+00"),
        (intervals.interval_text(Interval(14, -3, 6_000_000)), "1 year 2 mons -3 days +00:00:06"),
        (intervals.interval_text(Interval(-1, 0, 0)), "-1 mons"),
        (intervals.interval_text(Interval(-12, 3, 0)), "-1 years +3 days"),
        (intervals.interval_text(Interval(0, 0, 0)), "00:00:00"),
        (date_parts.extract_date("epoch", date(2024, 1, 1)), "1704067200"),
        (date_parts.extract_timestamp("second", datetime(2024, 1, 1, 0, 0, 3)), "3.000000"),
        (date_parts.extract_timestamp("julian", NOON), "2460311.50000000000000000000"),
        (date_parts.extract_interval("epoch", Interval(13, 1, 1_000_000)), "34236001.000000"),
        (date_formats.timestamp_to_char(datetime(2024, 1, 5), "FMMonth FMDDth"), "January 5th"),
        (date_formats.timestamp_to_char(datetime(2024, 1, 5), "Day|DY"), "Friday   |FRI"),
        (number_formats.numeric_to_char("1234.5", "FM9,999.00"), "1,234.50"),
        (number_formats.numeric_to_char("-5", "999PR"), "  <5>"),
        (number_formats.int_to_char(12345, "999"), " ###"),
    ],
)  # fmt: skip
def test_a_value_is_written_as_postgresql_writes_it(found: str, text: str) -> None:
    assert found == text


@pytest.mark.parametrize(
    ("found", "value"),
    [
        (intervals.add_to(datetime(2024, 1, 31), Interval(1, 0, 0)), datetime(2024, 2, 29)),
        (date_rounding.trunc_timestamp("week", datetime(2024, 1, 7, 5)), datetime(2024, 1, 1)),
        (date_rounding.trunc_timestamp("century", datetime(2000, 5, 3)), datetime(1901, 1, 1)),
        (date_rounding.time_plus(time(23), Interval(5, 5, 7_200_000_000)), time(1)),
        # 02:30 does not exist that night in Berlin, and exists twice in October
        (in_berlin(datetime(2024, 3, 31, 2, 30)), datetime(2024, 3, 31, 1, 30)),
        (in_berlin(datetime(2024, 10, 27, 2, 30)), datetime(2024, 10, 27, 1, 30)),
    ],
)  # fmt: skip
def test_a_moment_is_the_one_that_postgresql_finds(found: object, value: object) -> None:
    assert found == value


@pytest.mark.parametrize(
    ("call", "sqlstate", "message"),
    [
        (lambda: numerics.div("1", "0.00"), "22012", "division by zero"),
        (lambda: numerics.to_int("32767.5", "int2"), "22003", "smallint out of range"),
        (lambda: transcendentals.ln("0"), "2201E", "cannot take logarithm of zero"),
        (lambda: numerics.from_float8(float("nan")), "0A000", None),
        (lambda: numerics.mul(LARGEST, "10"), "22003", "value overflows numeric format"),
        (lambda: of_day("hour"), "0A000", 'unit "hour" not supported for type date'),
        (lambda: of_day("foo"), "22023", 'unit "foo" not recognized for type date'),
        (lambda: make_date(2024, 2, 30), "22008", "date field value out of range: 2024-02-30"),
        (lambda: time_zones.to_utc(NOON, "A/B"), "22023", 'time zone "A/B" not recognized'),
        (lambda: time_zones.to_utc(datetime(2024, 1, 1), "EST"), "0A000", None),
        (lambda: number_formats.numeric_to_char("1", "9EEEE"), "0A000", None),
        (lambda: date_formats.timestamp_to_char(datetime(2024, 1, 1), "TMMonth"), "0A000", None),
        (lambda: intervals.add_to(datetime(9999, 12, 31), Interval(1, 0, 0)), "0A000", None),
    ],
)  # fmt: skip
def test_an_error_has_postgresqls_sqlstate(
    call: Callable[[], object], sqlstate: str, message: str | None
) -> None:
    with pytest.raises(SqlError) as raised:
        call()
    assert raised.value.sqlstate == sqlstate
    assert message is None or raised.value.message == message


def test_sort_keys_order_as_the_numbers_do_and_equal_numbers_have_equal_keys() -> None:
    texts = [
        "-1000",
        "-12.5",
        "-12.49",
        "-12",
        "-0.001",
        "0",
        "0.0001",
        "0.5",
        "9.99",
        "10",
        "123.4",
    ]
    keys = [numerics.sort_key(each) for each in texts]
    assert keys == sorted(keys)
    assert len(set(keys)) == len(keys)
    assert numerics.sort_key("1.50") == numerics.sort_key("1.5")
    assert numerics.sort_key("0.00") == numerics.sort_key("0")
