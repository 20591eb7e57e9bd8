"""DuckDB's own expressions of dates, where they equal ours, and so PostgreSQL's.

The binder prefers them to a Python function. Where they differ it must not: those are below too.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from itertools import pairwise
from random import Random

import duckdb
import pytest
import random_literals as drawn

from redask.core.sql.runtime import spelling
from redask.core.sql.runtime.dates import date_parts, date_rounding, intervals
from redask.core.sql.runtime.dates.intervals import Interval

Row = tuple[datetime, datetime, Interval, Interval]
ROWS = 1000
TRUNCATED = """microseconds milliseconds second minute hour day week month quarter year
decade""".split()
WHOLE = """millennium century decade year isoyear quarter month week day dow isodow doy hour minute
microseconds""".split()


def _interval(random: Random) -> Interval:
    return Interval(
        random.choice([0, random.randint(-30, 30)]),
        random.choice([0, random.randint(-70, 70)]),
        random.choice([0, random.randint(-(10**11), 10**11)]),
    )


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    random = Random(5)
    near = [drawn.moment(random) for _ in range(2 * ROWS)]
    inside = [each for each in near if 20 < each.year < 9980]
    pairs = pairwise(inside)
    return [(one, two, _interval(random), _interval(random)) for one, two in pairs]


@pytest.fixture(scope="module")
def duck(rows: list[Row]) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        connection.execute(
            "CREATE TABLE t (n INT, a TIMESTAMP, b TIMESTAMP, v INTERVAL, w INTERVAL)"
        )
        connection.executemany(
            "INSERT INTO t VALUES (?, ?, ?, CAST(? AS INTERVAL), CAST(? AS INTERVAL))",
            [
                (place, one, two, intervals.carried(first), intervals.carried(second))
                for place, (one, two, first, second) in enumerate(rows)
            ],
        )
        yield connection


Ours = Callable[[datetime, datetime, Interval, Interval], object]


def of_first(call: Callable[[str, datetime], object], unit: str) -> Ours:
    return lambda a, _b, _v, _w: call(unit, a)


EQUAL: dict[str, Ours] = {
    **{
        f"CAST(date_trunc('{unit}', a) AS TIMESTAMP)": of_first(date_rounding.trunc_timestamp, unit)
        for unit in TRUNCATED
    },
    **{
        f"CAST(date_part('{unit}', a) AS VARCHAR)": of_first(date_parts.extract_timestamp, unit)
        for unit in WHOLE
    },
    "date_part('epoch', a)": lambda a, _b, _v, _w: date_parts.part_timestamp("epoch", a),
    "a + v": lambda a, _b, v, _w: intervals.add_to(a, v),
    "a - v": lambda a, _b, v, _w: intervals.add_to(a, intervals.negated(v)),
    "CAST(a - b AS VARCHAR)": lambda a, b, _v, _w: intervals.between(a, b),
    "CAST(age(a, b) AS VARCHAR)": lambda a, b, _v, _w: intervals.age(a, b),
    "CAST(v + w AS VARCHAR)": lambda _a, _b, v, w: intervals.plus(v, w),
    "CAST(-v AS VARCHAR)": lambda _a, _b, v, _w: intervals.negated(v),
    "v < w": lambda _a, _b, v, w: intervals.order(v) < intervals.order(w),
    "v = w": lambda _a, _b, v, w: intervals.order(v) == intervals.order(w),
    "CAST(a AS VARCHAR)": lambda a, _b, _v, _w: spelling.timestamp_text(a),
    "CAST(CAST(a AS DATE) AS VARCHAR)": lambda a, _b, _v, _w: spelling.date_text(a),
    "CAST(CAST(a AS TIME) AS VARCHAR)": lambda a, _b, _v, _w: spelling.time_text(a.time()),
}


def differing(duck: duckdb.DuckDBPyConnection, rows: list[Row], expression: str) -> int:
    found = duck.execute(f"SELECT {expression} FROM t ORDER BY n").fetchall()
    count = 0
    for (theirs,), row in zip(found, rows, strict=True):
        ours = EQUAL[expression](*row)
        if isinstance(ours, Interval):
            theirs = intervals.from_carried(theirs)  # noqa: PLW2901
        count += ours != theirs
    return count


@pytest.mark.parametrize("expression", EQUAL)
def test_duckdbs_own_expression_is_equal(
    duck: duckdb.DuckDBPyConnection, rows: list[Row], expression: str
) -> None:
    assert len(rows) > ROWS
    assert differing(duck, rows, expression) == 0


@pytest.mark.parametrize("unit", ["century", "millennium"])
def test_duckdb_begins_a_century_one_year_before_postgresql(unit: str) -> None:
    moment = datetime(2024, 5, 3)
    with duckdb.connect() as connection:
        found = connection.execute(
            f"SELECT date_trunc('{unit}', ?::TIMESTAMP)", [moment]
        ).fetchone()
    assert date_rounding.trunc_timestamp(unit, moment) == datetime(2001, 1, 1)
    assert found == (datetime(2000, 1, 1),)
