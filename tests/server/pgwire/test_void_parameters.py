"""Parameters of type void, which drivers send for OUT parameters: as PostgreSQL takes them."""

from typing import Any

import psycopg
import pytest
from psycopg.pq import ExecStatus, Format

Both = tuple[psycopg.Connection[Any], psycopg.Connection[Any]]
VOID, INT4 = 2278, 23


def told(
    connection: psycopg.Connection[Any], sql: str, oids: list[int], values: list[bytes | None]
) -> tuple[str, bytes | None]:
    """The SQLSTATE of an error, or nothing and the only value."""
    for form in Format:
        forms = [form if oid != INT4 else Format.TEXT for oid in oids]
        result = connection.pgconn.exec_params(sql.encode(), values, oids, forms)
        if result.status != ExecStatus.TUPLES_OK:
            state = result.error_field(psycopg.pq.DiagnosticField.SQLSTATE) or b""
            return state.decode(), None
    return "", result.get_value(0, 0)


@pytest.mark.parametrize("value", [b"", None])
@pytest.mark.parametrize(
    ("sql", "oids"),
    [
        ("SELECT now($1::void) IS NULL", [0]),
        ("SELECT now($1::pg_catalog.void) IS NULL", [0]),
        ("SELECT now($1) IS NULL", [VOID]),
        ("SELECT * FROM current_schema($1) AS result", [VOID]),
        ("SELECT upper($1, 'a')", [VOID]),
        ("SELECT upper('a', $1::void)", [0]),
        ("SELECT now($1::void[])", [0]),
        ("SELECT now('a'::void)", []),
    ],
)
def test_no_function_gets_a_void_parameter(
    both: Both, sql: str, oids: list[int], value: bytes | None
) -> None:
    ours, theirs = (told(each, sql, oids, [value] * len(oids)) for each in both)
    if theirs[0]:
        assert ours[0] in (theirs[0], "0A000"), sql
    else:
        assert ours == theirs, sql


def test_other_parameters_keep_their_places(both: Both) -> None:
    for sql, oids in (
        ("SELECT abs($1, $2)", [VOID, INT4]),
        ("SELECT abs($1::void, $2::int4)", [0, INT4]),
    ):
        ours, theirs = (told(each, sql, oids, [b"", b"-7"]) for each in both)
        assert ours == theirs == ("", b"7"), sql


def test_a_parameter_of_another_type_is_passed(both: Both) -> None:
    assert told(both[0], "SELECT abs($1::void)", [INT4], [b"-7"])[0] == "0A000"
