"""A column's type can be fixed; what does not fit is refused, or fails where it is read."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from columnar_reading import read_table
from memory_backend.database import MemoryBackend

from redask.core.errors import BadAsk, Denied, SqlError
from redask.core.model import Caller
from redask.core.sql.types import SqlType
from redask.stores.backend import EntityStore
from redask.stores.columnar.projection import ColumnarProjection
from redask.stores.columnar.statements.execution import Statements
from redask.stores.columnar.statements.plans import Request
from redask.stores.columnar.statements.watch import Watch
from redask.stores.entity_rows import entities

ME = Caller()
READER = Caller("local", "ada", "reader")
TIMESTAMP = SqlType("timestamp")


@pytest.fixture
def store(tmp_path: Path) -> EntityStore:
    return MemoryBackend(f"memory:/{tmp_path}").store


@pytest.fixture
def projection(store: EntityStore, tmp_path: Path) -> Iterator[ColumnarProjection]:
    opened = ColumnarProjection(tmp_path, store)
    yield opened
    opened.close()


def put(store: EntityStore, number: int, opened: object) -> None:
    store.put(entities("tickets", [{"id": number, "opened": opened}]), ME)


def select(
    projection: ColumnarProjection, sql: str, caller: Caller = ME
) -> list[tuple[object, ...]]:
    request = Request(sql, caller, (), {})
    return Statements(projection).select(request, [], Watch(5000, None), 100).rows


def test_a_fixed_type_is_the_columns_type_until_it_is_let_go(
    store: EntityStore, projection: ColumnarProjection
) -> None:
    put(store, 1, "2021-01-01")
    assert read_table(projection, "tickets", ME)[0][2] == ("opened", "date")
    before = projection.version(ME)
    projection.fix_type("tickets", "opened", TIMESTAMP, ME)
    assert projection.version(ME) != before
    columns, rows = read_table(projection, "tickets", ME)
    assert columns[2] == ("opened", "timestamp")
    assert rows[0][2] == datetime(2021, 1, 1)
    projection.fix_type("tickets", "opened", None, ME)
    assert read_table(projection, "tickets", ME)[0][2] == ("opened", "date")


def test_a_type_that_present_values_do_not_fit_is_refused(
    store: EntityStore, projection: ColumnarProjection
) -> None:
    put(store, 1, "2021-01-01")
    put(store, 2, "soon")
    put(store, 3, "later")
    with pytest.raises(BadAsk, match=r"2 values of tickets.opened .* urn:reddb:row:tickets/2"):
        projection.fix_type("tickets", "opened", TIMESTAMP, ME)
    assert store.column_types("local") == {}
    with pytest.raises(BadAsk, match="has no column"):
        projection.fix_type("tickets", "nosuch", TIMESTAMP, ME)
    with pytest.raises(BadAsk, match="has no column"):
        projection.fix_type("tickets", "urn", TIMESTAMP, ME)
    with pytest.raises(Denied):
        projection.fix_type("tickets", "opened", TIMESTAMP, READER)


def test_a_later_row_that_does_not_fit_fails_where_its_column_is_read(
    store: EntityStore, projection: ColumnarProjection
) -> None:
    put(store, 1, "2021-01-01")
    projection.fix_type("tickets", "opened", TIMESTAMP, ME)
    put(store, 2, "soon")
    put(store, 3, "2021-01-03 12:00:00")
    assert select(projection, "SELECT count(*) FROM tickets") == [(3,)]
    assert select(projection, "SELECT id FROM tickets ORDER BY id") == [(1,), (2,), (3,)]
    for sql in ("SELECT opened FROM tickets", "SELECT max(opened) FROM tickets"):
        with pytest.raises(SqlError) as caught:
            select(projection, sql)
        assert caught.value.sqlstate == "22P02"
        assert caught.value.message.endswith("(urn:reddb:row:tickets/2)")
    put(store, 2, None)
    assert select(projection, "SELECT max(opened) FROM tickets") == [(datetime(2021, 1, 3, 12),)]


def test_a_row_that_does_not_fit_and_is_hidden_makes_no_difference(
    store: EntityStore, projection: ColumnarProjection
) -> None:
    put(store, 1, "2021-01-01")
    store.set_policy("tickets", {"read": [{"roles": ["*"], "rows": "id = 1"}]}, ME)
    projection.fix_type("tickets", "opened", TIMESTAMP, ME)
    put(store, 2, "soon")
    sql = "SELECT opened FROM tickets"
    assert select(projection, sql, READER) == [(datetime(2021, 1, 1),)]
    with pytest.raises(SqlError):
        select(projection, sql)
