"""The comparison of worlds can fail: each of these bugs is planted once, and seen.

What each one breaks is written in its name; the statement that sees it stands beside it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas
import pytest
from guarded import OWNER, READER, SECRET, build
from select_twins import QUESTIONS, differences, outcome, projected_anew
from selecting_store import SelectingStore

from redask.core.errors import Denied, SqlError
from redask.core.model import Caller
from redask.core.sql.binder.context import TableDefinition
from redask.core.sql.functions.function_rows import FUNCTIONS
from redask.core.sql.functions.overloads import Overload
from redask.core.sql.types import SqlType
from redask.stores.columnar import (
    duckdb_connections,
    readable_tables,
    row_log,
    table_cache,
)
from redask.stores.columnar.audit_table import AUDIT
from redask.stores.columnar.generations import open_generation
from redask.stores.columnar.readable_tables import ReadableTables
from redask.stores.columnar.row_log import RowLog
from redask.stores.columnar.statements import generated_text, watch
from redask.stores.columnar.statements.caller_schema import CallerSchema
from redask.stores.columnar.table_cache import TableCache
from redask.stores.columnar.typed_tables import table_columns

Plant = Callable[[pytest.MonkeyPatch], None]
BUGS: dict[str, tuple[Plant, str]] = {}
_TEXT = SqlType("text")


def seen_by(question: str) -> Callable[[Plant], Plant]:
    def add(plant: Plant) -> Plant:
        BUGS[plant.__name__] = (plant, question)
        return plant

    return add


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[SelectingStore]]:
    opened = [build(tmp_path_factory.mktemp("world"), world) for world in range(3)]
    yield opened
    for store in opened:
        store.close()


def _all_groups(self: ReadableTables, collection: str) -> Any:
    return dict(self._state.collections.get(collection, {}))


@seen_by("SELECT * FROM people")
def everything_is_readable(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(readable_tables, "is_readable", lambda *_: True)


@seen_by("SELECT count(*) FROM people")
def a_table_holds_rows_of_another_class(patch: pytest.MonkeyPatch) -> None:
    def all_rows(self: RowLog, step: int, collection: str, groups: Any) -> str:
        return f"SELECT urn, own_id, payload FROM {self._tail}.entity_rows WHERE {groups and 1} = 1"

    patch.setattr(RowLog, "rows_at", all_rows)


@seen_by("SELECT * FROM people")
def a_hidden_column_is_kept(patch: pytest.MonkeyPatch) -> None:
    rows_of = row_log.rows_of  # type: ignore[attr-defined]

    def undressed(change: Any, contents: Any) -> Any:
        rows = rows_of(change, contents)
        return [row._replace(payload=change.entity.payload) for row in rows]

    patch.setattr(row_log, "rows_of", undressed)


@seen_by("SELECT age + 1, score * 2 FROM people")
def a_type_is_inferred_from_hidden_rows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(
        ReadableTables,
        "_shape",
        lambda self, collection: table_columns(_all_groups(self, collection).values()),
    )


@seen_by("SELECT stats(age) FROM people")
def a_policy_is_a_view_and_statistics_tell_of_all_rows(patch: pytest.MonkeyPatch) -> None:
    """What DuckDB's `stats` says of a view is said of the table behind it."""
    made = TableCache._make

    def as_view(self: TableCache, *given: Any) -> Any:
        table = made(self, *given)
        below = f"{table.name}_below"
        connection = self._connection
        connection.execute(f"ALTER TABLE {table.name} RENAME TO {below.rpartition('.')[2]}")
        hidden = f"SELECT 900 + count(*) AS c5 FROM {self._log._tail}.entity_rows"
        connection.execute(f"INSERT INTO {below} BY NAME {hidden}")
        connection.execute(
            f"CREATE VIEW {table.name} AS SELECT * FROM {below} WHERE c2 IS NOT NULL"
        )
        return table

    patch.setattr(TableCache, "_make", as_view)
    patch.setitem(FUNCTIONS, "stats", [Overload((SqlType("int4"),), _TEXT, "stats({0})")])
    patch.setattr(generated_text, "_FUNCTIONS", generated_text._FUNCTIONS | {"stats"})


@seen_by("SELECT relname, relnatts, reltuples FROM pg_class WHERE relkind = 'r'")
def the_catalogue_lists_denied_collections(patch: pytest.MonkeyPatch) -> None:
    columns = ReadableTables.columns

    def some(self: ReadableTables, name: str) -> Any:
        try:
            return columns(self, name)
        except Denied:
            return ()

    patch.setattr(ReadableTables, "columns", some)
    patch.setattr(ReadableTables, "names", lambda self: sorted([*self._state.collections, AUDIT]))


@seen_by("SELECT * FROM red_ask_audit")
def audit_rows_of_others_are_shown(patch: pytest.MonkeyPatch) -> None:
    make = readable_tables.make_audit_table  # type: ignore[attr-defined]

    def trusting(connection: Any, name: str, log: Any, caller: Caller) -> Any:
        return make(connection, name, log, Caller(caller.tenant, caller.user, "auditor"))

    patch.setattr(readable_tables, "make_audit_table", trusting)


@seen_by("SELECT count(*) FROM links")
def an_edge_with_a_hidden_end_is_shown(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(row_log, "required_classes", lambda edges, *_: dict.fromkeys(edges, frozenset()))


@seen_by("SELECT string_agg(urn, ',') FROM people")
def rows_are_in_the_order_of_writing(patch: pytest.MonkeyPatch) -> None:
    query = table_cache.table_query  # type: ignore[attr-defined]
    patch.setattr(
        table_cache,
        "table_query",
        lambda columns, rows: query(columns, rows).rpartition(" ORDER BY ")[0],
    )


@pytest.mark.parametrize("name", sorted(BUGS))
def test_a_planted_bug_is_seen(
    worlds: list[SelectingStore], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    plant, question = BUGS[name]
    assert question in QUESTIONS
    with projected_anew(worlds):
        assert not differences(worlds, question)
    plant(monkeypatch)
    with projected_anew(worlds):
        assert differences(worlds, question)


def test_a_table_cache_that_is_shared_between_visibilities_is_seen(
    worlds: list[SelectingStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    named = TableCache.name
    known: dict[tuple[int, str], str] = {}

    def shared(self: TableCache, collection: str, *given: Any) -> Any:
        found, table = named(self, collection, *given)
        return known.setdefault((id(self), collection), found), table

    question = "SELECT id FROM people WHERE name LIKE '%s%'"
    monkeypatch.setattr(TableCache, "name", shared)
    with projected_anew(worlds):
        for world in worlds:
            outcome(world, question, OWNER)
        assert differences(worlds, question)


def test_an_error_that_carries_a_value_is_seen(
    worlds: list[SelectingStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    question = "SELECT age * 2147483647 FROM people"
    assert "2147483647" not in outcome(worlds[1], question)
    monkeypatch.setattr(watch, "sql_error", lambda error: SqlError("22003", str(error)))
    assert "2147483647" in outcome(worlds[1], question)


# --- files -----------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "notes.csv"
    path.write_text(f"a\n{SECRET}\n", encoding="utf-8")
    return path


def _open_world(patch: pytest.MonkeyPatch) -> None:
    """Connections that may read files."""

    def unlocked(generation: Path | None) -> Any:
        plain = duckdb.connect(":memory:", config={"threads": "1"})
        plain.execute("ATTACH ':memory:' AS generation")
        duckdb_connections.register_functions(plain)
        return plain

    patch.setattr(open_generation, "open_reader", unlocked)


def test_a_function_that_reads_files_needs_three_bugs(
    worlds: list[SelectingStore], monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    question = f"SELECT read_text('{file}')"
    world = worlds[1]
    assert "42883" in outcome(world, question)
    emit = "(SELECT content FROM read_text({0}))"
    monkeypatch.setitem(FUNCTIONS, "read_text", [Overload((_TEXT,), _TEXT, emit)])
    assert "not supported (table function)" in outcome(world, question)  # the second check
    allowed = generated_text._TABLE_FUNCTIONS | {"read_text"}
    monkeypatch.setattr(generated_text, "_TABLE_FUNCTIONS", allowed)
    monkeypatch.setattr(generated_text, "_FUNCTIONS", generated_text._FUNCTIONS | {"read_text"})
    assert SECRET not in outcome(world, question)  # DuckDB's own setting
    _open_world(monkeypatch)
    with projected_anew([world]):
        assert SECRET in outcome(world, question)


def test_a_file_name_as_a_table_needs_two_bugs(
    worlds: list[SelectingStore], monkeypatch: pytest.MonkeyPatch, file: Path
) -> None:
    question = f'SELECT * FROM "{file}"'
    world = worlds[1]
    assert "42P01" in outcome(world, question)
    definition = TableDefinition("public", str(file), (("a", _TEXT, "a"),))
    monkeypatch.setattr(CallerSchema, "table", lambda *_: definition)
    monkeypatch.setattr(CallerSchema, "physical", lambda *_: f'"{file}"')
    monkeypatch.setattr(generated_text, "_path", lambda name: (name.strip('"'),))
    assert SECRET not in outcome(world, question)
    _open_world(monkeypatch)
    with projected_anew([world]):
        assert SECRET in outcome(world, question)


def test_a_python_variable_is_no_table(worlds: list[SelectingStore]) -> None:
    frame = pandas.DataFrame({"a": [SECRET]})
    assert len(frame) == 1
    with (
        worlds[1].selector._projection.reading(READER) as tables,
        pytest.raises(duckdb.CatalogException) as told,
    ):
        tables.cursor.execute("SELECT * FROM frame").fetchall()
    assert "frame" in str(told.value)
