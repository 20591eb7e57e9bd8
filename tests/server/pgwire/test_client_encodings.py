"""client_encoding and IntervalStyle: what goes to and fro is what a real PostgreSQL would send."""

from typing import Any

import psycopg
import pytest

from redask.server.pgwire.protocol import client_encodings

Both = tuple[psycopg.Connection[Any], psycopg.Connection[Any]]
ENCODINGS = {
    "LATIN1": "Ümläut",
    "latin-9": "5 €",
    "WIN1252": "5 € “ß”",
    "WIN1251": "Привет",
    "KOI8R": "Привет",
    "ISO_8859_7": "λόγος",
    "EUC_JP": "日本語",
    "SJIS": "日本ソ語",  # of which one byte is a backslash
    "GBK": "中文",
    "UTF8": "🚢",
    "SQL_ASCII": "ü",
}
SPANS = [
    *("1 year 2 mons -3 days 04:05:06", "0", "-1 year", "1 day -00:00:00.5", "-00:00:01"),
    *("14 mons", "1 sec", "-1 day +1 hour", "1.5 secs", "100 hours", "-13 mons 2 days"),
]


def exchanged(connection: psycopg.Connection[Any], encoding: str, text: str) -> list[Any]:
    """What comes of a text in an encoding: literal, parameter, name, COPY, error."""
    wire = connection.pgconn
    codec = client_encodings.codec(client_encodings.canonical(encoding) or "")
    found: list[Any] = [wire.exec_(f"SET client_encoding TO '{encoding}'".encode()).status]
    found.append(wire.parameter_status(b"client_encoding"))
    sent = text.encode(codec)
    statements = [
        b"SELECT 'X'::text AS \"X\", ARRAY['X', 'a b'], length('X')".replace(b"X", sent),
        b"SELECT 1 AS " + sent + b" FROM nowhere_at_all",
    ]
    for binary in (0, 1):
        for sql in statements:
            result = wire.exec_params(sql, [], result_format=binary)
            found.append([result.fname(column) for column in range(result.nfields)])
            found.append([result.get_value(0, column) for column in range(result.nfields)])
            found.append(result.error_field(psycopg.pq.DiagnosticField.SQLSTATE))
        values = wire.exec_params(
            b"SELECT $1::text, $2::text, $3::text[]",
            [sent, sent, _array(sent)],
            param_formats=[0, 1, 1],
            result_format=binary,
        )
        found.append([values.get_value(0, column) for column in range(3)])
    wire.exec_(
        b"COPY (SELECT '" + sent + b"'::text, ARRAY['" + sent + b"']) TO STDOUT (FORMAT csv)"
    )
    found.append(wire.get_copy_data(0)[1].tobytes())
    wire.get_copy_data(0)
    while wire.get_result() is not None:
        pass
    return found


def _array(item: bytes) -> bytes:
    """A text[] of one item in binary."""
    head = b"".join(number.to_bytes(4, "big") for number in (1, 0, 25, 1, 1, len(item)))
    return head + item


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_text_goes_to_and_fro_as_with_postgresql(both: Both, encoding: str) -> None:
    ours, theirs = (exchanged(each, encoding, ENCODINGS[encoding]) for each in both)
    assert ours == theirs
    for connection in both:
        connection.pgconn.exec_(b"RESET client_encoding")


def test_what_an_encoding_lacks_is_an_error_and_the_session_goes_on(both: Both) -> None:
    for connection in both:
        wire = connection.pgconn
        wire.exec_(b"SET client_encoding TO 'LATIN1'")
        failed = wire.exec_(b"SELECT chr(8364)")
        assert failed.error_field(psycopg.pq.DiagnosticField.SQLSTATE) == b"22P05"
        assert wire.exec_(b"SELECT 'fine'").get_value(0, 0) == b"fine"
        wire.exec_(b"SET client_encoding TO 'EUC_JP'")
        failed = wire.exec_(b"SELECT '\xff'")
        assert failed.error_field(psycopg.pq.DiagnosticField.SQLSTATE) == b"22021"
        wire.exec_(b"RESET client_encoding")


def test_an_encoding_ends_with_the_transaction_that_set_it(both: Both) -> None:
    for connection in both:
        wire = connection.pgconn
        for sql in (b"BEGIN", b"SET client_encoding TO 'LATIN1'", b"ROLLBACK"):
            wire.exec_(sql)
        assert wire.exec_("SELECT 'ü'".encode()).get_value(0, 0) == "ü".encode()


@pytest.mark.parametrize("style", ["postgres", "postgres_verbose", "iso_8601"])
def test_intervals_are_written_in_the_style_of_the_session(both: Both, style: str) -> None:
    rows = ", ".join(f"('{each}'::interval)" for each in SPANS)
    found = []
    for connection in both:
        connection.execute(f"SET IntervalStyle TO {style}")
        result = connection.execute(f"SELECT s, ARRAY[s] FROM (VALUES {rows}) AS v(s)").pgresult
        assert result is not None
        found.append(
            [result.get_value(row, column) for row in range(len(SPANS)) for column in (0, 1)]
        )
    assert found[0] == found[1]
    if style != "postgres":
        with pytest.raises(psycopg.errors.FeatureNotSupported, match=style):
            both[0].execute("SELECT interval '1 day'::text")
    for connection in both:
        connection.execute("RESET IntervalStyle")


def test_names_of_encodings_are_read_as_postgresql_reads_them() -> None:
    known = {"utf-8": "UTF8", "Unicode": "UTF8", "iso-8859-15": "LATIN9", "windows-1252": "WIN1252"}
    assert {name: client_encodings.canonical(name) for name in known} == known
    assert client_encodings.canonical("klingon") is None
