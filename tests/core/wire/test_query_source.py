"""A statement's result as a source: contract 23."""

import hashlib
import json

from hypothesis import given
from hypothesis import strategies as st

from redask.core.model import Kind, Source
from redask.core.rules import urn as urns
from redask.core.wire import query_source

SQL = """SELECT count(*) AS customers FROM "Customer" WHERE "Country" = 'Brazil'"""


def test_the_payload_has_six_keys_and_the_urn_carries_the_statement() -> None:
    made = query_source.make(SQL, [("customers", "int8")], [[5]])
    assert json.loads(made.payload) == {
        "columns": [{"name": "customers", "type": "int8"}],
        "result_hash": hashlib.sha256(b"[[5]]").hexdigest(),
        "row_count": 1,
        "rows": [[5]],
        "sql": SQL,
        "truncated": False,
    }
    decoded = urns.decode(made.urn)
    assert (decoded.kind, decoded.collection, decoded.id) == (Kind.QUERY, "postgresql", SQL)
    assert query_source.statement_of(made.urn) == SQL


def test_rows_beyond_the_bound_are_counted_and_hashed_but_not_shown() -> None:
    rows = [[number] for number in range(query_source.MOST_ROWS + 7)]
    payload = json.loads(query_source.make(SQL, [("n", "int4")], rows).payload)
    assert payload["row_count"] == len(rows)
    assert payload["rows"] == rows[: query_source.MOST_ROWS]
    assert payload["truncated"] is True
    other = [*rows[:-1], [-1]]
    changed = json.loads(query_source.make(SQL, [("n", "int4")], other).payload)
    assert changed["rows"] == payload["rows"]
    assert changed["result_hash"] != payload["result_hash"]


def test_long_rows_are_shown_up_to_so_many_bytes() -> None:
    rows = [["é" * 3000]] * 5
    payload = json.loads(query_source.make(SQL, [("t", "text")], rows).payload)
    assert len(payload["rows"]) == query_source.MOST_BYTES // 6004
    assert payload["row_count"] == 5
    assert payload["truncated"] is True


def test_a_statement_that_was_not_run_has_no_columns_and_no_rows() -> None:
    payload = json.loads(query_source.not_run(SQL).payload)
    assert (payload["columns"], payload["rows"], payload["row_count"]) == ([], [], 0)
    assert payload["sql"] == SQL
    assert payload["truncated"] is False


def test_only_a_query_of_our_dialect_carries_a_statement() -> None:
    assert query_source.statement_of("urn:reddb:row:tickets/1") is None
    assert query_source.statement_of("urn:reddb:query:oracle/SELECT%201") is None


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_any_statement_comes_back_from_its_urn(sql: str) -> None:
    assert query_source.statement_of(query_source.address(sql)) == sql


def test_a_result_tells_its_rows_and_whether_all_are_shown() -> None:
    whole = query_source.make(SQL, [("customers", "int8")], [[5]])
    assert query_source.row_count(whole) == 1
    assert query_source.rows_shown(whole) is None
    assert query_source.rows_shown(Source("urn:reddb:row:t/1", "{}")) is None
    cut = json.dumps({**json.loads(whole.payload), "row_count": 9, "truncated": True})
    assert query_source.rows_shown(Source(whole.urn, cut)) == (1, 9)
