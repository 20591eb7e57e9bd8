"""The catalogue beside a database's tables: whole for every caller, and of nobody else's tables."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import redask
from redask.core.errors import LimitExceeded, SqlError
from redask.core.model import Caller
from redask.stores.columnar.selector import ColumnarSelector

OWNER = Caller("local", "owner", "owner")
READER = Caller("local", "mia", "reader")


@pytest.fixture(scope="module")
def selector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ColumnarSelector]:
    place = str(tmp_path_factory.mktemp("catalogue") / "db")
    with redask.open(place, embedder="none") as db:
        db.put("notes", [{"id": 1, "pay": 12.5, "text": "a"}, {"id": 2, "pay": 1000, "text": "b"}])
        db.put("secrets", [{"id": 1, "pin": "x"}])
        db.add_user("mia", role="reader")
        db.set_policy("secrets", {"read": [{"roles": ["spy"]}]})
        db.set_policy("notes", {"read": [{"roles": ["*"], "hide": ["pay"]}]})
    opened = ColumnarSelector(place)
    yield opened
    opened.close()


def test_the_catalogue_has_what_the_caller_can_read(selector: ColumnarSelector) -> None:
    sql = (
        "SELECT c.relname, a.attname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
        " WHERE c.relname IN ('notes', 'secrets') ORDER BY 1, a.attnum"
    )
    own = [("notes", "id"), ("notes", "urn"), ("notes", "pay"), ("notes", "text")]
    hers = [("notes", "id"), ("notes", "urn"), ("notes", "text")]
    secrets = [("secrets", "id"), ("secrets", "urn"), ("secrets", "pin")]
    assert selector.select(sql, [], OWNER).rows == own + secrets
    assert selector.select(sql, [], READER).rows == hers
    assert selector.select(sql, [], OWNER).rows == own + secrets
    columns = "SELECT column_name FROM information_schema.columns WHERE table_name = 'notes'"
    assert selector.select(columns, [], READER).rows == [("id",), ("urn",), ("text",)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 'secrets'::regclass",
        "SELECT has_table_privilege('secrets', 'SELECT')",
        "SELECT pg_total_relation_size('public.secrets')",
        "SELECT name::regclass FROM (VALUES ('secrets')) AS v(name)",
    ],
)
def test_a_table_that_is_closed_has_no_number(selector: ColumnarSelector, sql: str) -> None:
    selector.select(sql, [], OWNER)
    with pytest.raises(SqlError) as caught:
        selector.select(sql, [], READER)
    assert caught.value.sqlstate == "42P01"
    parameter = "SELECT $1::regclass"
    assert selector.select(parameter, ["secrets"], OWNER).rows == [("secrets",)]
    with pytest.raises(SqlError):
        selector.select(parameter, ["secrets"], READER)
    assert selector.select("SELECT to_regclass('secrets')", [], READER).rows == [(None,)]


def test_the_catalogue_is_whole_whatever_the_limit(selector: ColumnarSelector) -> None:
    assert len(selector.select("SELECT oid FROM pg_type", [], READER, max_rows=1).rows) > 50
    for sql in ("SELECT id FROM notes", "SELECT 1 FROM notes, pg_type", "VALUES (1), (2)"):
        with pytest.raises(LimitExceeded):
            selector.select(sql, [], READER, max_rows=1)


def test_a_table_of_the_catalogue_hides_a_collection_of_its_name(tmp_path: Path) -> None:
    place = str(tmp_path / "db")
    with redask.open(place, embedder="none") as db:
        db.put("pg_am", [{"id": 7}])
    opened = ColumnarSelector(place)
    assert opened.select("SELECT amname FROM pg_am", [], OWNER).rows == [("heap",), ("btree",)]
    assert opened.select("SELECT id FROM public.pg_am", [], OWNER).rows == [(7,)]
    opened.close()
