"""Literals, numbers and dates against a real PostgreSQL 15, on random input.

Equal text, or an error here where PostgreSQL has an error too (with its SQLSTATE, but for dates
and arrays, whose input has several), or refused here as 0A000. `pytest -s` shows how many.
"""

import sys
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from random import Random
from typing import Any

import pytest
import random_literals as drawn
from postgres_oracle import Oracle, is_installed, running

from redask.core.errors import SqlError
from redask.core.sql import literals
from redask.core.sql.runtime import spelling
from redask.core.sql.runtime.dates import (
    date_formats,
    date_parts,
    date_reading,
    date_rounding,
    intervals,
    time_zones,
)
from redask.core.sql.runtime.numbers import (
    aggregates,
    number_formats,
    numerics,
    transcendentals,
    width_buckets,
)
from redask.core.sql.types import SqlType

pytestmark = pytest.mark.skipif(not is_installed(), reason="PostgreSQL 15 is not installed")
ROWS = 600
Draw = Callable[[Random], Any]
COUNTED = [(0, 0)]


@pytest.fixture(scope="module")
def oracle() -> Iterator[Oracle]:
    with running() as ask:
        yield ask
    compared, refused = map(sum, zip(*COUNTED, strict=True))
    sys.stdout.write(f"\n{compared} compared with PostgreSQL, {refused} of them refused here\n")


def answer(call: Callable[..., object], values: list[Any]) -> tuple[str, Any]:
    try:
        return "value", call(*values)
    except SqlError as error:
        return "error", error.sqlstate


def compare(
    oracle: Oracle,
    expression: str,
    types: tuple[str, ...],
    rows: list[list[str]],
    call: Callable[..., object],
    *,
    same_error: bool = True,
) -> tuple[int, int]:
    """How many were compared and how many of them refused here."""
    refused = 0
    for values, theirs in zip(rows, oracle.values(expression, types, rows), strict=True):
        ours = answer(call, values)
        if ours == ("error", "0A000"):
            refused += 1
        elif same_error or "value" in (ours[0], theirs[0]):
            assert ours == theirs, (expression, values)
    COUNTED.append((len(rows), refused))
    return len(rows), refused


LITERALS: dict[str, Draw] = {
    "bool": drawn.word,
    **dict.fromkeys(["int2", "int4", "int8", "oid", "numeric", "numeric(8,2)"], drawn.number),
    **dict.fromkeys(["float4", "float8"], drawn.number),
    **dict.fromkeys(["date", "timestamp", "timestamptz"], drawn.timestamp_literal),
    "time": drawn.time_literal,
    "interval": drawn.interval_literal,
    "uuid": drawn.uuid_literal,
    **dict.fromkeys(["int4[]", "text[]"], drawn.array_literal),
}
SEVERAL_ERRORS = {"date", "timestamp", "timestamptz", "time", "interval", "int4[]", "text[]"}


@pytest.mark.parametrize("name", LITERALS)
def test_a_literal_is_read_as_postgresql_reads_it(oracle: Oracle, name: str) -> None:
    random = Random(name)
    kind = SqlType.parse(name)
    draws = [LITERALS[name]] * 9 + [drawn.word]
    rows = [[random.choice(draws)(random)] for _ in range(ROWS)]

    def call(text: str) -> str:
        return spelling.value_text(literals.read(text, kind), kind)

    found = compare(
        oracle, f"(c0::{name})::text", ("text",), rows, call, same_error=name not in SEVERAL_ERRORS
    )
    assert found[1] < ROWS / 2


_N = "numeric"
NUMERIC: dict[str, Callable[..., str]] = {
    "(c0 + c1)": numerics.add,
    "(c0 - c1)": numerics.sub,
    "(c0 * c1)": numerics.mul,
    "(c0 / c1)": numerics.div,
    "mod(c0, c1)": numerics.mod,
    "div(c0, c1)": numerics.whole_div,
    "gcd(c0, c1)": numerics.greatest_divisor,
    "lcm(c0, c1)": numerics.least_multiple,
    "log(c0, c1)": transcendentals.log_of,
    "(c0 < c1)": lambda one, two: _bool(numerics.sort_key(one) < numerics.sort_key(two)),
    "(c0 = c1)": lambda one, two: _bool(numerics.trim_scale(one) == numerics.trim_scale(two)),
    "abs(c0)": numerics.absolute,
    "(-c0)": numerics.negate,
    "sign(c0)": numerics.sign,
    "ceil(c0)": numerics.ceil,
    "floor(c0)": numerics.floor,
    "trim_scale(c0)": numerics.trim_scale,
    "sqrt(c0)": transcendentals.sqrt,
    "ln(c0)": transcendentals.ln,
    "log(c0)": transcendentals.log,
    "exp(c0)": transcendentals.exp,
    "c0::int2": lambda text: str(numerics.to_int(text, "int2")),
    "c0::int4": lambda text: str(numerics.to_int(text, "int4")),
    "c0::int8": lambda text: str(numerics.to_int(text, "int8")),
    "c0::float8": lambda text: spelling.float8_text(numerics.to_float8(text)),
    "c0::float4": lambda text: spelling.float4_text(numerics.to_float4(text)),
    "c0::float8::numeric": lambda text: numerics.from_float8(numerics.to_float8(text)),
    "c0::float4::numeric": lambda text: numerics.from_float4(numerics.to_float4(text)),
    "c0::numeric(8,2)": lambda text: numerics.to_modifier(text, 8, 2),
}


def _bool(value: bool) -> str:
    return "true" if value else "false"


@pytest.mark.parametrize("expression", NUMERIC)
def test_arithmetic_of_numeric_has_postgresqls_digits(oracle: Oracle, expression: str) -> None:
    random = Random(expression)
    count = 2 if "c1" in expression else 1
    rows = [[drawn.plain_number(random) for _ in range(count)] for _ in range(ROWS)]
    if expression == "exp(c0)":
        rows = [[row[0][:5].rstrip(".-") or "1"] for row in rows]
    compare(oracle, f"({expression})::text", (_N,) * count, rows, NUMERIC[expression])


def test_powers_and_roundings_have_postgresqls_digits(oracle: Oracle) -> None:
    random = Random(4)
    rows = []
    for _ in range(ROWS):
        exponents = [str(random.randint(-30, 30)), "0.5", "-2.25", f"{random.uniform(-3, 3):.3f}"]
        rows.append([drawn.plain_number(random)[:9].rstrip(".-") or "1", random.choice(exponents)])
    compare(oracle, "power(c0, c1)::text", (_N, _N), rows, transcendentals.power)
    rows = [[drawn.plain_number(random), str(random.randint(-4, 6))] for _ in range(ROWS)]
    for name, call in (("round", numerics.round_to), ("trunc", numerics.trunc_to)):
        compare(
            oracle,
            f"{name}(c0, c1)::text",
            (_N, "int4"),
            rows,
            lambda text, scale, call=call: call(text, int(scale)),
        )


def test_a_number_falls_into_postgresqls_bucket(oracle: Oracle) -> None:
    random = Random(5)
    rows = [
        [f"{random.uniform(-20, 20):.{random.randint(0, 4)}f}" for _ in range(3)]
        + [str(random.randint(0, 12))]
        for _ in range(ROWS)
    ]
    rows = [["0" if not float(each) else each for each in row] for row in rows]
    for kind, call, made in (
        ("numeric", width_buckets.width_bucket, str),
        ("float8", width_buckets.float8_width_bucket, float),
    ):
        compare(
            oracle,
            "width_bucket(c0, c1, c2, c3)",
            (kind, kind, kind, "int4"),
            rows,
            lambda one, low, high, count, call=call, made=made: call(
                made(one), made(low), made(high), int(count)
            ),
        )


SPREADS = {
    "var_samp": (True, False),
    "var_pop": (False, False),
    "stddev_samp": (True, True),
    "stddev_pop": (False, True),
}
PAIRS = """corr covar_pop covar_samp regr_avgx regr_avgy regr_intercept regr_r2 regr_slope regr_sxx
regr_sxy regr_syy""".split()


def _shown(value: float | None) -> str | None:
    return None if value is None else spelling.float8_text(value)


def test_aggregates_have_postgresqls_digits(oracle: Oracle) -> None:
    random = Random(6)
    for _ in range(150):
        texts = [drawn.plain_number(random) for _ in range(random.randint(1, 8))]
        selected = ", ".join(f"{name}(v)::text" for name in ("sum", "avg", *SPREADS))
        row = oracle.connection.execute(f"SELECT {selected} FROM unnest(%s::numeric[]) v", (texts,))
        ours = [aggregates.total(texts), aggregates.average(texts)]
        ours += [aggregates.spread(texts, *each) for each in SPREADS.values()]
        assert list(row.fetchone() or ()) == ours, texts


def test_aggregates_of_doubles_have_postgresqls_bits(oracle: Oracle) -> None:
    random = Random(7)
    for _ in range(200):
        count = random.randint(1, 8)
        ys = [random.choice([random.gauss(0, 1), random.uniform(-1e3, 1e3)]) for _ in range(count)]
        xs = [random.choice([random.uniform(-1e3, 1e3), 3.0]) for _ in range(count)]
        selected = ", ".join(f"{name}(y)::text" for name in ("sum", "avg", *SPREADS))
        selected += ", " + ", ".join(f"{name}(y, x)::text" for name in PAIRS)
        found = oracle.connection.execute(
            f"SELECT {selected} FROM unnest(%s::float8[], %s::float8[]) u(y, x)", (ys, xs)
        )
        ours = [aggregates.float8_sum(ys), aggregates.float8_average(ys)]
        ours += [aggregates.float8_spread(ys, *each) for each in SPREADS.values()]
        ours += [aggregates.of_pairs(name, ys, xs) for name in PAIRS]
        assert list(found.fetchone() or ()) == [_shown(each) for each in ours], (ys, xs)


def test_floats_are_written_as_postgresql_writes_them(oracle: Oracle) -> None:
    random = Random(8)
    values = [2.0**power for power in range(-1074, 1024)]
    values += [float(random.randint(2**53, 2**70)) for _ in range(3000)]
    values += [random.uniform(-1, 1) * 10.0 ** random.randint(-300, 300) for _ in range(3000)]
    smaller = [numerics.as_float4(each) for each in values if 2.0**-149 <= abs(each) < 2.0**127]
    for kind, floats, write in (
        ("float8", values, spelling.float8_text),
        ("float4", smaller, spelling.float4_text),
    ):
        found = oracle.connection.execute(
            f"SELECT v::text FROM unnest(%s::{kind}[]) WITH ORDINALITY u(v, n) ORDER BY n",
            (floats,),
        )
        assert [write(each) for each in floats] == [row[0] for row in found.fetchall()]


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _interval(text: str) -> intervals.Interval:
    value = literals.read(text, SqlType("interval"))
    assert isinstance(value, intervals.Interval)
    return value


def _written(value: object) -> str:
    if isinstance(value, intervals.Interval):
        return intervals.interval_text(value)
    if isinstance(value, datetime):
        return spelling.timestamp_text(value)
    if isinstance(value, time):
        return spelling.time_text(value)
    if isinstance(value, date):
        return spelling.date_text(value)
    return spelling.float8_text(value) if isinstance(value, float) else str(value)


def _an_interval(random: Random) -> str:
    return intervals.interval_text(
        intervals.Interval(
            random.choice([0, random.randint(-30, 30), random.randint(-3000, 3000)]),
            random.choice([0, random.randint(-70, 70)]),
            random.choice([0, random.randint(-(10**11), 10**11), random.randint(-99, 99) * 10**9]),
        )
    )


DRAWN: dict[str, tuple[Draw, Callable[[str], Any]]] = {
    "timestamp": (lambda random: spelling.timestamp_text(drawn.moment(random)), _moment),
    "date": (lambda random: drawn.moment(random).date().isoformat(), date.fromisoformat),
    "time": (lambda random: drawn.moment(random).time().isoformat(), time.fromisoformat),
    "interval": (_an_interval, _interval),
    "float8": (
        lambda random: repr(random.choice([random.uniform(-9, 9), 0.5, -2.0])),
        float,
    ),
    "unit": (lambda random: random.choice(drawn.PARTS), str),
    "zone": (lambda random: random.choice(drawn.ZONES), str),
    "pattern": (drawn.date_pattern, str),
}
_AT = "AT TIME ZONE 'UTC'"
DATES: dict[str, tuple[tuple[str, ...], Callable[..., object]]] = {
    "extract_date(c0, c1)": (("unit", "date"), date_parts.extract_date),
    "extract_time(c0, c1)": (("unit", "time"), date_parts.extract_time),
    "extract_timestamp(c0, c1)": (("unit", "timestamp"), date_parts.extract_timestamp),
    "extract_interval(c0, c1)": (("unit", "interval"), date_parts.extract_interval),
    "date_part(c0, c1)": (("unit", "timestamp"), date_parts.part_timestamp),
    "date_part(c0, c1) ": (("unit", "time"), date_parts.part_time),
    "date_part(c0, c1)  ": (("unit", "interval"), date_parts.part_interval),
    "date_trunc(c0, c1)": (("unit", "timestamp"), date_rounding.trunc_timestamp),
    "date_trunc(c0, c1) ": (("unit", "interval"), date_rounding.trunc_interval),
    f"date_trunc(c0, c1 {_AT}, c2) {_AT}": (
        ("unit", "timestamp", "zone"),
        date_rounding.trunc_in_zone,
    ),
    "date_bin(c0, c1, c2)": (
        ("interval", "timestamp", "timestamp"),
        date_rounding.bin_timestamp,
    ),
    "age(c0, c1)": (("timestamp", "timestamp"), intervals.age),
    "c0 - c1": (("timestamp", "timestamp"), intervals.between),
    "c0 + c1": (("timestamp", "interval"), intervals.add_to),
    "c0 - c1 ": (
        ("timestamp", "interval"),
        lambda moment, by: intervals.add_to(moment, intervals.negated(by)),
    ),
    "c0 * c1": (("interval", "float8"), intervals.times),
    "c0 / c1": (("interval", "float8"), intervals.divided),
    "justify_hours(c0)": (("interval",), intervals.justify_hours),
    "justify_days(c0)": (("interval",), intervals.justify_days),
    "justify_interval(c0)": (("interval",), intervals.justify_interval),
    "c0 < c1": (
        ("interval", "interval"),
        lambda one, two: _bool(intervals.order(one) < intervals.order(two)),
    ),
    f"c0 AT TIME ZONE c1 {_AT}": (("timestamp", "zone"), time_zones.to_utc),
    f"c0 {_AT} AT TIME ZONE c1": (("timestamp", "zone"), time_zones.to_local),
    "c0 + c1 ": (("time", "interval"), date_rounding.time_plus),
    "c0 - c1  ": (("time", "time"), date_rounding.time_between),
    "to_char(c0, c1)": (("timestamp", "pattern"), date_formats.timestamp_to_char),
    f"to_char(c0 {_AT}, c1)": (("timestamp", "pattern"), date_formats.timestamptz_to_char),
}
# extract needs its unit in the statement: the function behind it has a name of its own
PLAIN = {"unit": "text", "zone": "text", "pattern": "text"}


@pytest.mark.parametrize("expression", DATES)
def test_a_date_function_gives_what_postgresql_gives(oracle: Oracle, expression: str) -> None:
    random = Random(expression)
    kinds, call = DATES[expression]
    rows = [[DRAWN[kind][0](random) for kind in kinds] for _ in range(ROWS)]
    asked = expression
    for kind in ("date", "time", "timestamp", "interval"):
        asked = asked.replace(f"extract_{kind}(", "pg_catalog.extract(")

    def ours(*texts: str) -> str:
        values = [DRAWN[kind][1](text) for kind, text in zip(kinds, texts, strict=True)]
        return _written(call(*values))

    types = tuple(PLAIN.get(kind, kind) for kind in kinds)
    compare(oracle, f"({asked})::text", types, rows, ours)


def test_a_clock_time_that_a_zone_skips_or_repeats_is_read_as_postgresql_reads_it(
    oracle: Oracle,
) -> None:
    nights = ["2024-03-31", "2024-10-27", "2024-03-10", "2024-11-03", "2018-02-18", "2011-12-30"]
    zones = ["Europe/Berlin", "America/New_York", "America/Sao_Paulo", "Pacific/Apia"]
    rows = [
        [f"{night} {hour:02d}:{minute:02d}:00", zone]
        for night in nights
        for zone in zones
        for hour in range(24)
        for minute in (0, 30)
    ]
    for expression, call in (
        (f"c0 AT TIME ZONE c1 {_AT}", time_zones.to_utc),
        (f"c0 {_AT} AT TIME ZONE c1", time_zones.to_local),
    ):
        compare(
            oracle,
            f"({expression})::text",
            ("timestamp", "text"),
            rows,
            lambda text, zone, call=call: _written(call(_moment(text), zone)),
        )


def test_to_date_and_to_timestamp_read_what_postgresql_reads(oracle: Oracle) -> None:
    random = Random(9)
    rows = [drawn.reading(random) for _ in range(ROWS)]
    compare(
        oracle,
        "to_date(c0, c1)::text",
        ("text", "text"),
        rows,
        lambda *values: _written(date_reading.to_date(*values)),
        same_error=False,
    )
    compare(
        oracle,
        f"(to_timestamp(c0, c1) {_AT})::text",
        ("text", "text"),
        rows,
        lambda *values: _written(date_reading.to_timestamp(*values)),
        same_error=False,
    )


FORMATS: dict[str, Callable[[str, str], str]] = {
    "numeric": number_formats.numeric_to_char,
    "int8": lambda text, pattern: number_formats.int_to_char(int(text), pattern),
    "float8": lambda text, pattern: number_formats.float8_to_char(float(text), pattern),
}


@pytest.mark.parametrize("kind", FORMATS)
def test_to_char_of_a_number_gives_what_postgresql_gives(oracle: Oracle, kind: str) -> None:
    random = Random(kind)
    rows = []
    for _ in range(3 * ROWS):
        number = drawn.plain_number(random)
        number = number.partition(".")[0] if kind == "int8" else number
        rows.append([number[:17].rstrip(".-") or "0", drawn.number_pattern(random)])
    if kind == "int8":
        rows = [[str(int(row[0])), row[1]] for row in rows]
    if kind == "numeric":
        rows = [[row[0] if row[0].strip("-0.") else row[0].lstrip("-"), row[1]] for row in rows]
    compare(oracle, "to_char(c0, c1)", (kind, "text"), rows, FORMATS[kind])
