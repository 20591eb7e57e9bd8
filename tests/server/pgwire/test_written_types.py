"""Values that no column has, at the wire: the same bytes as from a real PostgreSQL, both ways.

Each is sent as a literal, as a parameter in text, and as a parameter in the binary form that
PostgreSQL gave; what comes back, in text and in binary, and the types announced, are PostgreSQL's.
"""

import struct
from typing import Any

import psycopg
import pytest
from psycopg.pq import ExecStatus, Format

Both = tuple[psycopg.Connection[Any], psycopg.Connection[Any]]
Told = tuple[int | str, int, int, bytes | None]

VALUES = [
    *(("bytea", each) for each in ("\\x", "\\x00ff", "a\\000b", "plain")),
    *(("timetz", each) for each in ("10:00", "10:00:00.5-03:30", "24:00+00", "23:59+01:02:03")),
    *(("inet", each) for each in ("1.2.3.4", "10.1.2.3/8", "::1", "::ffff:1.2.3.4")),
    *(("cidr", each) for each in ("10.0.0.0/8", "1.2.3.4", "2001:db8::/32", "::/0")),
    ("macaddr", "08-00-2B-01-02-03"),
    *(("point", each) for each in ("(1.5,-2)", "0.1,1e300", "(NaN,Infinity)")),
    *(("int4range", each) for each in ("[1,5)", "(1,5]", "empty", "(,)", "[3,)", "[,7]")),
    *(("int8range", each) for each in ("[-9223372036854775808,5]", "(1,2)")),
    *(("numrange", each) for each in ("[1.50,2]", "(,-0.001)", "[0,0]")),
    *(("daterange", each) for each in ("[2020-02-28,2020-02-29]", "(0001-01-01,)")),
    *(("tsrange", each) for each in ("[2020-01-01,2020-01-01 10:00:00.5]", "(,)")),
    *(("tstzrange", each) for each in ("[2020-01-01 00:00+02,2020-06-01 00:00+00]", "empty")),
    *(("int4multirange", each) for each in ("{}", "{[1,2),[2,4),[7,9]}", "{(,)}")),
    ("nummultirange", "{[1.0,2.0),(2,3]}"),
    ("datemultirange", "{[2020-01-01,2020-01-02],[2021-01-01,)}"),
    ("tsmultirange", "{[2020-01-01,2020-01-02)}"),
    ("tstzmultirange", "{[2020-01-01 00:00+00,2020-01-02 00:00+00)}"),
    ("int8multirange", "{[1,2),[3,4)}"),
    *(("int4[]", each) for each in ("{{1,2},{3,4}}", "{{{1}},{{NULL}}}", "{1,NULL}")),
    *(("text[]", each) for each in ('{{a,"b c"},{NULL,"NULL"}}', "{{{{{{x}}}}}}")),
    *(("bytea[]", each) for each in ('{"\\\\x01",NULL}', '{{"\\\\x01"},{"\\\\x02"}}')),
    *(("int4range[]", each) for each in ('{"[1,5)",empty,NULL}',)),
    *(("inet[]", each) for each in ("{1.2.3.4,::1}",)),
    *(("numeric[]", each) for each in ("{{1.50,2}}", "{NaN,1}")),
    *(("date", each) for each in ("infinity", "-infinity", "10000-01-01", "0044-03-15 BC")),
    *(("date", each) for each in ("5874897-12-31", "4713-01-01 BC", "2020-02-29", "0001-01-01")),
    *(("timestamp", each) for each in ("infinity", "10000-01-01 10:00:00.000001")),
    *(("timestamp", each) for each in ("0001-12-31 23:59:59.5 BC", "9999-12-31 23:59:59.999999")),
    *(("timestamptz", each) for each in ("-infinity", "294276-12-31 23:59:59+00")),
    *(("timestamptz", each) for each in ("0001-01-01 00:00+02", "10000-01-01 00:00-03:30")),
    *(("date[]", each) for each in ("{infinity,2020-01-01}", "{{10000-01-01}}")),
    *(("numeric", each) for each in ("NaN", "Infinity", "-inf")),
    *(("xid", each) for each in ("0", "4294967")),
]  # fmt: skip
# what is refused here, by name, rather than meaning something else
REFUSED = [
    "'infinity'::date + 1",
    "cardinality('{{1,2}}'::int[])",
    "(SELECT '{{1}}'::int[])",
    "'NaN'::numeric * 2",
    "'[1,2)'::int4range @> 1",
    "'1.2.3.4'::inet < '1.2.3.5'",
    "min('10:00+00'::timetz)",
    "'a'::char(3) = 'a'::char(4)",
    "encode('\\x01'::bytea, 'hex')",
]


def told(
    connection: psycopg.Connection[Any],
    sql: str,
    *,
    value: bytes | None = None,
    oid: int = 0,
    sent: Format = Format.TEXT,
    form: Format = Format.TEXT,
) -> Told:
    """Type, modifier, format and bytes of the only value; the SQLSTATE of an error."""
    values = None if value is None else [value]
    types = None if value is None else [oid]
    formats = None if value is None else [sent]
    result = connection.pgconn.exec_params(sql.encode(), values, types, formats, form)
    if result.status != ExecStatus.TUPLES_OK:
        state = result.error_field(psycopg.pq.DiagnosticField.SQLSTATE) or b""
        return state.decode(), 0, 0, None
    return result.ftype(0), result.fmod(0), result.fformat(0), result.get_value(0, 0)


@pytest.mark.parametrize("form", Format)
def test_values_are_read_and_written_as_postgresql_does(both: Both, form: Format) -> None:
    for kind, text in VALUES:
        quoted = text.replace("'", "''")
        literal = f"SELECT '{quoted}'::{kind}"
        ours, theirs = (told(each, literal, form=form) for each in both)
        assert ours == theirs, literal
        asked = f"SELECT $1::{kind}"
        ours, theirs = (told(each, asked, value=text.encode(), form=form) for each in both)
        assert ours == theirs, (kind, text)
        oid, _, _, packed = told(both[1], literal, form=Format.BINARY)
        assert isinstance(packed, bytes)
        ours, theirs = (
            told(each, "SELECT $1", value=packed, oid=int(oid), sent=Format.BINARY, form=form)
            for each in both
        )
        assert ours == theirs, (kind, text, packed)


def test_hexadecimal_digits_are_read_as_postgresql_reads_them(both: Both) -> None:
    for text in (
        *("\\x 0A\nff\t", "\\x", "\\x ", "\\x0", "\\x 0", "\\x0 a", "\\x00a", "\\x0g", "\\xg0"),
        *("\\x00\x0b00", "\\x00é", "\\x0é", "\\xAbcD", "\\x00 00 0", "\\x00 00 0g", "x00", "\\X00"),
    ):
        ours, theirs = (told(each, "SELECT $1::bytea", value=text.encode()) for each in both)
        assert ours == theirs, text


def test_a_megabyte_is_bound_and_read(both: Both) -> None:
    packed = bytes(range(256)) * 4096
    found = told(both[0], "SELECT $1", value=packed, oid=17, sent=Format.BINARY, form=Format.BINARY)
    assert found[3] == packed


def test_values_in_text_are_those_of_the_sessions_zone(both: Both) -> None:
    for zone in ("Europe/Berlin", "<+02>-02"):
        for connection in both:
            connection.execute(f"SET TimeZone TO '{zone}'")
        for sql in (
            "SELECT '[2020-01-01 00:00,2020-07-01 00:00+00)'::tstzrange",
            "SELECT '{[2020-01-01 00:00,)}'::tstzmultirange",
            """SELECT '{"[2020-01-01 00:00,)"}'::tstzrange[]""",
            "SELECT tstzrange('2020-01-01 00:00', '2020-01-02 00:00+00')",
        ):
            ours, theirs = (told(connection, sql) for connection in both)
            assert ours == theirs, (zone, sql)
    ours, theirs = (told(connection, "SELECT '10:00'::timetz") for connection in both)
    assert ours == theirs
    both[0].execute("SET TimeZone TO 'Europe/Berlin'")
    for sql in ("SELECT '10:00'::timetz", "SELECT '(,)'::tstzrange::text"):
        assert told(both[0], sql)[0] == "0A000"


def test_values_are_equal_where_postgresql_says_so(both: Both) -> None:
    for kind, one, other in (
        ("int4[]", "{{1,2}}", "{{1,2}}"),
        ("int4[]", "{{1,2}}", "{{1},{2}}"),
        ("numeric", "NaN", "NaN"),
        ("numeric", "Infinity", "-Infinity"),
        ("date", "infinity", "10000-01-01"),
        ("numrange", "[1.0,2)", "[1,2.00)"),
        ("inet", "1.2.3.4/32", "1.2.3.4"),
        ("timetz", "10:00+02", "08:00+00"),
    ):
        for sign in ("=", "<>"):
            sql = f"SELECT '{one}'::{kind} {sign} $1"
            ours, theirs = (told(each, sql, value=other.encode()) for each in both)
            assert ours == theirs, sql


def test_what_is_not_built_is_refused_by_name(both: Both) -> None:
    for expression in REFUSED:
        assert told(both[0], f"SELECT {expression}")[0] == "0A000", expression


def test_packed_values_that_are_none_are_refused_and_the_session_lives_on(both: Both) -> None:
    for oid, packed in (
        (3904, b"\x00\x00\x00\x00\x09abcd"),  # a bound longer than the message
        (3904, b"\x18rest"),
        (4451, b"\x00\x00\x00\x02\x00\x00\x00\x01\x01"),
        (869, b"\x02\x20\x00\x04\x01\x02\x03"),
        (869, b"\x07\x20\x00\x04\x01\x02\x03\x04"),
        (829, b"12345"),
        (1266, b"\xff" * 12),
        (600, b"1234"),
        (1007, struct.pack("!iiI4i", 2, 0, 23, 2**31 - 1, 1, 2**31 - 1, 1)),
        (1007, struct.pack("!iiI", 7, 0, 23)),
    ):  # fmt: skip
        found = told(both[0], "SELECT $1", value=packed, oid=oid, sent=Format.BINARY)
        assert found[0] in ("22P03", "22P02", "0A000"), (oid, packed, found)
    assert told(both[0], "SELECT 1")[3] == b"1"
