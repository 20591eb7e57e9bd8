"""The time zone of a session: results and texts are those of a real PostgreSQL, in every zone.

What is set is taken back as PostgreSQL takes it back: by ROLLBACK, SET LOCAL by every end.
"""

from typing import Any

import psycopg
import pytest
from pgwire_server import PgwireServer

Both = tuple[psycopg.Connection[Any], psycopg.Connection[Any]]
ZONES = [
    *("UTC", "Europe/Berlin", "america/new_york", "Asia/Kolkata", "Australia/Lord_Howe"),
    *("+02:00", "-07:08", "NOSUCH3", "5", "-3.5", "<+02>-02"),
]
# around the changes of clocks in both hemispheres, and where an offset has seconds
MOMENTS = [
    *("2024-03-31 00:59:59+00", "2024-03-31 01:00:00+00", "2024-10-27 00:30:00+00"),
    *("2024-10-27 01:30:00.5+00", "2024-03-10 06:59:00+00", "2024-03-10 07:00:00+00"),
    *("2024-11-03 05:30:00+00", "2024-11-03 06:30:00.123456+00", "2024-04-06 14:45:00+00"),
    *("2024-12-31 23:30:00+00", "1890-01-01 00:00:00+00", "1970-01-01 00:00:00+00"),
]
CLOCKS = [
    *("2024-03-31 02:30", "2024-10-27 02:30", "2024-03-10 02:30:00", "2024-11-03 01:30"),
    *("2024-07-01", "2024-12-31 23:59:59.999999", "1890-06-01 12:00"),
]
OF_MOMENTS = [
    *("m", "m::text", "m::date", "m::time", "m::timestamp", "ARRAY[m]", "ARRAY[m]::text"),
    *(f"date_trunc('{unit}', m)" for unit in ("minute", "hour", "day", "week", "month", "year")),
    *(f"extract({field} from m)" for field in ("hour", "day", "dow", "epoch", "second", "week")),
    *("date_part('hour', m)", "to_char(m, 'YYYY-MM-DD HH24:MI:SS.US Day')", "to_json(m)"),
    *(f"m + interval '{span}'" for span in ("1 day", "1 month", "-1 day 2 hours", "36 hours")),
    *("interval '1 day' + m", "m - interval '1 mon 1 day 1 hour'", "m - '2024-01-01'::timestamptz"),
    *("m > '2024-03-31 03:00'", "m::date < m", "m::timestamp = m", "m AT TIME ZONE 'Asia/Tokyo'"),
    *("age(m, '2020-02-29 12:00')", "'at ' || m", "concat(m, '!')", "m::text::timestamptz = m"),
    *("json_build_object('m', m)", "coalesce(m, now())", "m IN ('2024-03-31 03:00')"),
    *("m BETWEEN '2024-03-31' AND '2024-04-01'", "to_char(m::date, 'Dy DD')"),
]
OF_CLOCKS = [
    *("c::timestamptz", "c::timestamp::timestamptz", "c::date::timestamptz::text"),
    *("c::timestamp AT TIME ZONE 'Europe/Rome'", "date_trunc('day', c::date)"),
    *("to_timestamp(left(c, 10), 'YYYY-MM-DD')", "ARRAY[c]::timestamptz[]"),
]
# functions that are refused outside of UTC, rather than meaning something else
REFUSED = [
    "generate_series(now(), now(), '1 day')",
    "to_char(now(), 'TZ')",
    "extract(timezone from now())",
]


def told(connection: psycopg.Connection[Any], sql: str) -> list[bytes | None]:
    """The values of the first column as they came."""
    result = connection.execute(sql).pgresult
    assert result is not None
    return [result.get_value(row, 0) for row in range(result.ntuples)]


def listed(name: str, kind: str, texts: list[str]) -> str:
    rows = ", ".join(f"('{each}'::{kind})" for each in texts)
    return f"(VALUES {rows}) AS v({name})"


@pytest.mark.parametrize("zone", ZONES)
def test_every_zone_means_what_it_means_to_postgresql(both: Both, zone: str) -> None:
    for connection in both:
        connection.execute(f"SET TimeZone TO '{zone}'")
    statements = [
        "SHOW TimeZone",
        *(f"SELECT {each} FROM {listed('m', 'timestamptz', MOMENTS)}" for each in OF_MOMENTS),
        *(f"SELECT {each} FROM {listed('c', 'text', CLOCKS)}" for each in OF_CLOCKS),
    ]
    for sql in statements:
        ours, theirs = (told(connection, sql) for connection in both)
        if not (sql == "SHOW TimeZone" and zone == "UTC"):
            assert ours == theirs, (zone, sql)
    with both[0].cursor(binary=True) as cursor:
        cursor.execute("SELECT $1::timestamptz".replace("$1", "%s"), ["2024-07-01 10:00"])
        [[binary]] = cursor.fetchall()
    [[there]] = both[1].execute("SELECT '2024-07-01 10:00'::timestamptz").fetchall()
    assert binary == there


def test_today_is_the_day_of_the_zone(both: Both) -> None:
    for zone in ("Pacific/Kiritimati", "Pacific/Pago_Pago"):
        for connection in both:
            connection.execute(f"SET TimeZone TO '{zone}'")
        sql = "SELECT now()::date = current_date, localtimestamp = now(), now()::time = localtime"
        assert both[0].execute(sql).fetchall() == both[1].execute(sql).fetchall()
    for connection in both:
        connection.execute("RESET TimeZone")


def test_what_means_something_else_in_a_zone_is_refused_by_name(both: Both) -> None:
    ours = both[0]
    ours.execute("SET TimeZone TO 'Europe/Berlin'")
    for expression in REFUSED:
        with pytest.raises(psycopg.errors.FeatureNotSupported, match="Europe/Berlin"):
            ours.execute(f"SELECT {expression}")
    ours.execute("RESET TimeZone")


def test_copy_and_cursors_write_in_the_zone_of_the_session(both: Both) -> None:
    query = "SELECT '2024-07-01 10:00+00'::timestamptz, ARRAY['2024-01-01 10:00+00'::timestamptz]"
    for connection in both:
        connection.execute("SET TIME ZONE 'Europe/Berlin'")
    found = []
    for connection in both:
        with connection.cursor().copy(f"COPY ({query}) TO STDOUT (FORMAT csv)") as copied:
            found.append(b"".join(map(bytes, copied)))
        with connection.transaction():
            connection.execute(f"DECLARE held CURSOR FOR {query}")
            connection.execute("SET TimeZone TO 'Asia/Tokyo'")
            found.append(b"".join(each or b"" for each in told(connection, "FETCH ALL held")))
        connection.execute("RESET TimeZone")
    assert found[:2] == found[2:]
    assert found[0] == b'2024-07-01 12:00:00+02,"{""2024-01-01 11:00:00+01""}"\n'


SCRIPTS = [
    ("SET TIME ZONE 3",),
    ("SET TIME ZONE INTERVAL '-03:30' HOUR TO MINUTE",),
    ("SET TIME ZONE 'Asia/Tokyo'", "BEGIN", "SET TimeZone TO 'Europe/Rome'", "ROLLBACK"),
    ("SET TIME ZONE 'Asia/Tokyo'", "BEGIN", "SET TimeZone TO 'Europe/Rome'", "COMMIT"),
    ("BEGIN", "SET LOCAL TimeZone TO 'Europe/Rome'", "COMMIT"),
    ("BEGIN", "SET LOCAL TimeZone TO 'Europe/Rome'", "SET TimeZone TO 'Asia/Tokyo'", "COMMIT"),
    ("BEGIN", "SET TimeZone TO 'Asia/Tokyo'", "SET LOCAL TimeZone TO 'Europe/Rome'", "COMMIT"),
    ("SET LOCAL TimeZone TO 'Europe/Rome'",),
    ("BEGIN", "SAVEPOINT a", "SET TimeZone TO 'Asia/Tokyo'", "ROLLBACK TO a", "COMMIT"),
    ("BEGIN", "SAVEPOINT a", "SET TimeZone TO 'Asia/Tokyo'", "RELEASE a", "COMMIT"),
    ("SET TimeZone TO 'Asia/Tokyo'; SELECT 1/0",),
    ("SET TimeZone TO 'Asia/Tokyo'; SELECT 1",),
    ("SELECT set_config('TimeZone', 'Asia/Tokyo', false)",),
    ("BEGIN", "SELECT set_config('TimeZone', 'Asia/Tokyo', true)", "COMMIT"),
    ("SET TimeZone TO 'Nowhere/Else'",),
    ("BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, DEFERRABLE",),
    ("BEGIN", "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"),
    ("SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",),
    ("SET default_transaction_isolation TO 'serializable'", "BEGIN", "COMMIT"),
    ("SET default_transaction_isolation TO 'nonsense'",),
]


@pytest.mark.parametrize("script", SCRIPTS, ids="; ".join)
def test_what_is_set_lasts_as_long_as_with_postgresql(both: Both, script: tuple[str, ...]) -> None:
    shown = []
    for connection in both:
        states = []
        for sql in script:
            try:
                connection.execute(sql)
                states.append("")
            except psycopg.Error as error:
                states.append(error.sqlstate or "")
        for name in ("TimeZone", "transaction_isolation", "transaction_deferrable"):
            states.append(connection.execute(f"SHOW {name}").fetchall()[0][0])
        connection.execute("ROLLBACK")
        connection.execute("RESET ALL")
        shown.append(states)
    assert shown[0] == shown[1]


def test_parameters_of_set_config_are_set(transport: PgwireServer) -> None:
    own: dict[str, Any] = {"user": "mia", "password": transport.tokens["mia"], "autocommit": True}
    with psycopg.connect(f"{transport.address}/local", **own) as ours:
        given = ["TimeZone", "Asia/Tokyo", False]
        assert ours.execute("SELECT set_config(%s, %s, %s)", given).fetchone() == ("Asia/Tokyo",)
        assert ours.info.parameter_status("TimeZone") == "Asia/Tokyo"
        with pytest.raises(psycopg.errors.InvalidParameterValue):
            ours.execute("SELECT set_config(%s, %s, %s)", ["TimeZone", "Nowhere/Else", False])
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            ours.execute("SELECT set_config('TimeZone', lower('UTC'), false)")


def test_a_client_may_start_in_its_zone(transport: PgwireServer) -> None:
    own: dict[str, Any] = {"user": "mia", "password": transport.tokens["mia"]}
    url = f"{transport.address}/local"
    with psycopg.connect(url, options="-c timezone=Asia/Tokyo", **own) as ours:
        ours.execute("SET TimeZone TO 'UTC'")
        ours.execute("RESET TimeZone")
        assert told(ours, "SELECT '2024-01-01'::timestamptz") == [b"2024-01-01 00:00:00+09"]
