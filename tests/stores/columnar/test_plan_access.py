"""What a caller plans with depends on nothing that is hidden from the caller, and shows none of it.

Worlds as in `test_select_access`; a planted bug shows that the comparison can fail.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from guarded import OWNER, READER, SECRET, build
from selecting_store import SelectingStore

import redask
from redask.core.model import Caller
from redask.core.planning.plan_schema import ForeignKey, PlanColumn, PlanSchema, PlanTable
from redask.stores.columnar.readable_tables import ReadableTables
from redask.stores.columnar.selector import ColumnarSelector

WANTED = ("Person 3", "person-40", "eu", "us", "***", "note 2", "Page 1", "next", SECRET)
HIDDEN = tuple(
    text
    for world in (1, 2)
    for text in (
        f"{SECRET} 40",
        f"{SECRET}{world}",
        f"{SECRET}{world}@example.org",
        f"{SECRET} pay 3",
        f"{SECRET} age",
    )
)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[SelectingStore]]:
    opened = [build(tmp_path_factory.mktemp("world"), world) for world in range(3)]
    yield opened
    for store in opened:
        store.close()


def told(selector: ColumnarSelector, caller: Caller = READER) -> str:
    """All that a caller gets to plan with."""
    found = selector.find_values((*WANTED, *HIDDEN), caller)
    return f"{selector.plan_schema(caller)!r} {sorted(found.items())!r}"


def table(schema: PlanSchema, name: str) -> PlanTable:
    return next(each for each in schema.tables if each.name == name)


def test_what_is_hidden_changes_nothing_to_plan_with(worlds: list[SelectingStore]) -> None:
    said = {told(store.selector) for store in worlds}
    assert len(said) == 1
    assert SECRET not in said.pop()


def test_the_owner_counts_what_the_reader_does_not(worlds: list[SelectingStore]) -> None:
    selector = worlds[2].selector
    reader, owner = selector.plan_schema(READER), selector.plan_schema(OWNER)
    people = table(reader, "people")
    assert people.rows == 12
    assert PlanColumn("region", "text", 1, 0) in people.columns
    assert PlanColumn("email", "text", 1, 0) in people.columns  # masked: all alike
    assert table(owner, "people").rows == 18
    assert PlanColumn("region", "text", 2, 0) in table(owner, "people").columns
    more = {each.name for each in table(owner, "people").columns}
    assert more - {each.name for each in people.columns} == {"salary", f"{SECRET} column"}
    assert {each.name for each in owner.tables} - {each.name for each in reader.tables} == {"plans"}
    assert not selector.find_values(["us", *HIDDEN], READER)
    assert {*selector.find_values(["us", *HIDDEN], OWNER)} >= {"us", f"{SECRET} 40"}


def test_a_write_that_is_hidden_changes_nothing(tmp_path: Path) -> None:
    from redask.stores.entity_rows import entities

    with closing(build(tmp_path, 1)) as store:
        before, mine = told(store.selector), told(store.selector, OWNER)
        row = {"id": 99, "region": "us", "name": f"{SECRET} new", "nation": SECRET}
        store.put(entities("people", [row]), OWNER)
        assert told(store.selector) == before
        assert told(store.selector, OWNER) != mine


def test_a_key_is_told_to_who_reads_all_of_its_columns(tmp_path: Path) -> None:
    file = tmp_path / "shop.sqlite"
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(
            "CREATE TABLE staff (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES staff);"
            "CREATE TABLE task (n INTEGER PRIMARY KEY, doer INTEGER REFERENCES staff);"
            "INSERT INTO staff VALUES (1, NULL), (2, 1); INSERT INTO task VALUES (5, 2);"
        )
    with redask.open(tmp_path / "db") as db:
        db.ingest(file, wait=False)
        db.set_policy("staff", {"read": [{"roles": ["reader"], "hide": ["boss"]}]})
        with pytest.raises(redask.AskError, match="n is part of the address"):
            db.set_policy("task", {"read": [{"roles": ["reader"], "hide": ["n"]}]})
        with closing(ColumnarSelector(str(tmp_path / "db"))) as selector:
            boss = ForeignKey("staff", ("boss",), "staff", ("id",))
            doer = ForeignKey("task", ("doer",), "staff", ("id",))
            assert selector.plan_schema(OWNER).keys == (boss, doer)
            assert selector.plan_schema(READER).keys == (doer,)
            assert table(selector.plan_schema(OWNER), "task").primary_key == ("n",)
            assert table(selector.plan_schema(READER), "task").primary_key == ("n",)


def test_counting_rows_of_others_would_be_seen(
    worlds: list[SelectingStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    def everybodys(self: ReadableTables, collection: str) -> Any:
        return dict(self._state.collections.get(collection, {}))

    monkeypatch.setattr(ReadableTables, "_groups", everybodys)
    anew = [ColumnarSelector(str(store.directory)) for store in worlds]
    assert len({told(selector) for selector in anew}) > 1
    for selector in anew:
        selector.close()


def test_counts_kept_for_another_caller_would_be_seen(
    worlds: list[SelectingStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ReadableTables, "state_key", property(lambda _: ()))
    monkeypatch.setattr(ReadableTables, "names", lambda _: ["people"])
    selector = ColumnarSelector(str(worlds[1].directory))
    assert SECRET in told(selector, OWNER)
    assert SECRET in told(selector)
    selector.close()
