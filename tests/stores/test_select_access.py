"""SELECT shows what the policies allow, and nothing that is hidden makes any difference to it.

Two worlds (`tests/support/guarded.py`) are one to the reader. At the end the same comparison is
tried on planted bugs: a check that cannot fail proves nothing.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from guarded import FOREIGN, OWNER, READABLE, READER, SECRET, STRANGER, build
from redask.stores.sqlite.select import authorizer, table_names
from redask.stores.sqlite.select.views import CollectionViews
from selecting_store import SelectingStore

from redask.core.errors import AskError, BadAsk, BadStatement, Denied
from redask.core.model import Caller
from redask.core.wire.json import text
from redask.stores.entity_rows import entities, link
from redask.stores.visibility import EVERYTHING

QUESTIONS = (
    *(f"SELECT * FROM {name}" for name in (*READABLE, "red_ask_audit", "plans", "shadow")),
    *(f"SELECT count(*) FROM {name}" for name in READABLE),
    *(f"SELECT group_concat(urn) FROM {name}" for name in READABLE),
    "SELECT sum(score), avg(score), total(score) FROM people",
    "SELECT region, sum(score), group_concat(name) FROM people GROUP BY active",
    "SELECT sum(score) OVER (ORDER BY active ROWS 3 PRECEDING) AS s FROM people",
    "SELECT a.id, b.id, sum(a.score) FROM people a JOIN people b ON a.age = b.age GROUP BY a.age",
    "SELECT * FROM people NATURAL JOIN notes",
    "SELECT p.name, l.label FROM links l JOIN people p ON p.urn = l.\"to\"",
    "SELECT DISTINCT email, typeof(age), typeof(score) FROM people",
    "SELECT salary FROM people",
    'SELECT "salary" FROM people',
    "SELECT max(seq), count(DISTINCT user) FROM red_ask_audit",
    "SELECT weight, typeof(weight) FROM ties",
    "SELECT x, typeof(x) FROM spots",
    "SELECT (SELECT count(*) FROM people), (SELECT count(*) FROM links)",
    "SELECT rowid FROM people",
    "SELECT name FROM people LIMIT 3",
    "SELECT text FROM notes UNION ALL SELECT name FROM people",
)  # fmt: skip


@pytest.fixture(scope="module")
def worlds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[SelectingStore]]:
    opened = [build(tmp_path_factory.mktemp("world"), world) for world in range(3)]
    yield opened
    for store in opened:
        assert store.check() == []
        store.close()


def outcome(store: SelectingStore, sql: str, caller: Caller = READER) -> str:
    try:
        return text(store.select(sql, (), caller))
    except AskError as error:
        return f"{type(error).__name__}: {error.message} {error.detail}"


def differences(worlds: list[SelectingStore], *questions: str) -> set[str]:
    """The questions whose answer depends on what the reader may not see, or shows it."""
    told = {sql: {outcome(store, sql) for store in worlds} for sql in questions or QUESTIONS}
    return {sql for sql, said in told.items() if len(said) > 1 or any(SECRET in s for s in said)}


def test_what_is_hidden_changes_no_byte(worlds: list[SelectingStore]) -> None:
    assert differences(worlds) == set()


def test_the_reader_sees_what_the_rule_says(worlds: list[SelectingStore]) -> None:
    rows = worlds[2].select("SELECT * FROM people", (), READER)
    assert {row["region"] for row in rows} == {"eu"}
    assert len(rows) == 12
    assert {row["email"] for row in rows} == {"***"}
    assert "salary" not in rows[0]
    assert [type(row["age"]) for row in rows[:1]] == [int]


def test_the_owner_sees_it_all_and_nothing_of_the_other_tenant(
    worlds: list[SelectingStore],
) -> None:
    store = worlds[2]
    assert SECRET in outcome(store, "SELECT salary, email FROM people", OWNER)
    assert SECRET in outcome(store, "SELECT * FROM plans", OWNER)
    for name in (*READABLE, "plans", f"{FOREIGN}only", "red_ask_audit"):
        said = outcome(store, f"SELECT * FROM {name}", OWNER)
        assert FOREIGN not in said.replace(f"{FOREIGN}only", "")
        assert SECRET not in outcome(store, f"SELECT * FROM {name}", STRANGER)
    assert FOREIGN in outcome(store, "SELECT * FROM people", STRANGER)


def test_a_closed_collection_is_denied_and_an_unknown_one_is_named(
    worlds: list[SelectingStore],
) -> None:
    for store in worlds:
        with pytest.raises(Denied, match="may not read the collection 'plans'"):
            store.select("SELECT 1 FROM notes, plans", (), READER)
        for name in ("nosuch", "shadow", "entities", "sqlite_master", "Notes", f"{FOREIGN}only"):
            with pytest.raises(BadStatement, match=f"line 2, column 2: .* found '{name}'"):
                store.select(f"SELECT 1 FROM\n {name}", (), READER)
        for name in ("red_columns", "RED_x", "red_"):
            with pytest.raises(BadStatement, match=name):
                store.select(f"SELECT 1 FROM {name}", (), OWNER)


def test_a_ruled_collection_without_visible_rows_is_empty(worlds: list[SelectingStore]) -> None:
    nobody = Caller("local", "bob", "reader")
    for store in worlds:
        for name in ("ruled", "spots"):
            assert store.select(f"SELECT count(*) AS n FROM {name}", (), nobody) == [{"n": 0}]
            assert store.select(f"SELECT id, urn FROM {name}", (), nobody) == []
            with pytest.raises(BadAsk, match="no such column: keeper"):
                store.select(f"SELECT keeper FROM {name}", (), nobody)


def test_a_declared_language_makes_a_collection_known(tmp_path: Path) -> None:
    with SelectingStore(tmp_path) as store:
        store.set_language("letters", "en", OWNER)
        assert store.select("SELECT * FROM letters", (), READER) == []


def test_a_new_policy_holds_for_the_next_statement(tmp_path: Path) -> None:
    with SelectingStore(tmp_path) as store:
        store.put(entities("t", [{"id": n, "k": n % 2} for n in range(6)]), OWNER)
        count = "SELECT count(*) AS n FROM t"
        assert store.select(count, (), READER) == [{"n": 6}]
        store.set_policy("t", {"read": [{"roles": ["*"], "rows": "k = 1"}]}, OWNER)
        assert store.select(count, (), READER) == [{"n": 3}]
        store.set_policy("t", {"read": []}, OWNER)
        assert outcome(store, count).startswith("Denied")
        store.set_policy("t", None, OWNER)
        assert store.select(count, (), READER) == [{"n": 6}]


def test_many_labels_are_as_good_as_few(tmp_path: Path) -> None:
    with SelectingStore(tmp_path) as store:
        rows = [{"id": n, "k": n} for n in range(1000)]
        made = entities("t", rows)
        store.put(made, OWNER)
        store.put([link(made[0].urn, "x", each.urn) for each in made[1:]], OWNER)
        store.set_policy("t", {"read": [{"roles": ["*"], "rows": "k < 400"}]}, OWNER)
        assert store.select("SELECT count(*) AS n, max(k) AS k FROM t", (), READER) == [
            {"n": 400, "k": 399}
        ]
        assert store.select("SELECT count(*) AS n FROM links", (), READER) == [{"n": 399}]


def test_the_audit_log_is_for_the_auditor_and_for_oneself(worlds: list[SelectingStore]) -> None:
    def said(role: str, user: str = "ada") -> list[dict[str, Any]]:
        sql = "SELECT seq, user, question, cache_hit, citations FROM red_ask_audit ORDER BY seq"
        return worlds[1].select(sql, (), Caller("local", user, role))

    own = {"user": "ada", "question": "my own question", "cache_hit": 0, "citations": "[1]"}
    assert said("reader") == [{"seq": 1, **own}, {"seq": 2, **own}]
    assert [row["user"] for row in said("auditor")] == ["ada", "ada", "eve"]
    assert said("auditor") == said("owner") == said("auditor", "zoe")
    assert said("reader", "zoe") == []
    assert len(worlds[1].select("SELECT * FROM red_ask_audit", (), READER)[0]) == 22


def test_without_a_log_the_audit_is_empty(tmp_path: Path) -> None:
    with SelectingStore(tmp_path) as store:
        assert store.select("SELECT seq, hash, question FROM red_ask_audit", (), OWNER) == []


# --- the guard alone, with nobody to read the text first -----------------------------------

RAW = (
    "SELECT * FROM entities",
    "SELECT count(*) FROM entities",
    "SELECT 1 FROM main.entities",
    "WITH v AS (SELECT * FROM entities) SELECT * FROM v",
    "WITH people AS (SELECT payload FROM entities) SELECT * FROM people",
    "WITH entities AS (SELECT payload FROM main.entities) SELECT * FROM entities",
    "SELECT (SELECT count(*) FROM tokens)",
    "SELECT 1 WHERE 1 IN tenants",
    "SELECT * FROM sqlite_master",
    "SELECT * FROM sqlite_temp_master",
    "SELECT * FROM pragma_table_info('entities')",
    "SELECT * FROM dbstat",
    "SELECT * FROM red_columns",
    "PRAGMA query_only = OFF",
    "ATTACH ':memory:' AS x",
    "DELETE FROM entities",
    "CREATE TEMP TABLE x AS SELECT 1",
    "CREATE TEMP VIEW x AS SELECT * FROM entities",
    "DROP VIEW red_columns",
    "EXPLAIN DELETE FROM entities",
    "REINDEX",
    "ANALYZE",
    "VACUUM INTO '/tmp/never'",
    "SAVEPOINT x",
    "SELECT random()",
    "SELECT load_extension('x')",
    "SELECT zeroblob(5)",
    "SELECT 'a' MATCH 'b'",
)  # fmt: skip


@pytest.mark.parametrize("sql", RAW)
def test_the_guard_needs_no_reader(worlds: list[SelectingStore], sql: str) -> None:
    watched = authorizer.Guard(frozenset({"v"}), frozenset({"r_1"}), frozenset())
    with worlds[1]._database.beside() as connection, watched.watching(connection):
        with pytest.raises(sqlite3.Error):
            connection.execute(sql).fetchall()
        assert watched.refused


# --- planted bugs ----------------------------------------------------------------------------


def _no_labels(self: CollectionViews, home: int) -> str:
    return ""


def _no_broken_edges(self: CollectionViews) -> list[int]:
    return []


def _nothing_masked(self: CollectionViews, home: int) -> frozenset[str]:
    return frozenset()


@pytest.fixture(autouse=True)
def _nothing_kept(worlds: list[SelectingStore]) -> None:
    """A bug must be seen by statements that were run before it, too."""
    for world in worlds:
        world.selector._selects.forget()


@pytest.mark.parametrize(
    ("method", "bug", "seen_by"),
    [
        ("_labels", _no_labels, "SELECT count(*) FROM people"),
        ("_restricted", _no_broken_edges, "SELECT count(*) FROM links"),
        ("_masked", _nothing_masked, "SELECT * FROM people"),
    ],
)
def test_a_filter_left_out_is_seen(
    worlds: list[SelectingStore],
    monkeypatch: pytest.MonkeyPatch,
    method: str,
    bug: Any,
    seen_by: str,
) -> None:
    monkeypatch.setattr(CollectionViews, method, bug)
    assert seen_by in QUESTIONS
    assert differences(worlds, seen_by)


def test_a_visibility_of_everything_is_seen(
    worlds: list[SelectingStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    for world in worlds:
        monkeypatch.setattr(world.selector._selects, "_visibility_of", lambda *_: EVERYTHING)
    both = {"SELECT * FROM people", "SELECT * FROM plans"}
    assert differences(worlds, *both) == both


def test_an_order_of_writing_is_seen(
    worlds: list[SelectingStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = CollectionViews._create

    def by_key(self: CollectionViews, body: str) -> str:
        scan = body.replace("INDEXED BY entities_by_urn", "NOT INDEXED")
        return made(self, scan.partition(" ORDER BY ")[0])

    monkeypatch.setattr(CollectionViews, "_create", by_key)
    assert differences(worlds, "SELECT sum(score), avg(score), total(score) FROM people")


def test_a_guard_that_trusts_a_name_is_seen(
    worlds: list[SelectingStore], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With view names that can be guessed, and no renaming of WITH names, a CTE walks in."""
    sql = "WITH r_1 AS (SELECT payload FROM entities) SELECT r_1.payload FROM r_1, notes"
    assert SECRET not in outcome(worlds[1], sql)

    def unread(text: str) -> table_names.SelectStatement:
        table = table_names.TableMention("notes", 1, 1)
        return table_names.SelectStatement(text, (table,), None, 0, frozenset({"r_1"}), True, 0, ())

    monkeypatch.setattr(table_names, "read", unread)
    assert SECRET not in outcome(worlds[1], sql)  # the guard alone still stands
    monkeypatch.setattr(authorizer.Guard, "__init__", _trusting)
    assert SECRET in outcome(worlds[1], sql.replace(", notes", ""))


def _trusting(self: authorizer.Guard, **names: frozenset[str]) -> None:
    self._named = self._trusted = names["named"] | {"r_1"}
    self._functions, self._rowids, self.refused = authorizer.FUNCTIONS, frozenset(), None
    self._calls = self.patterns = 0
    self.resting, self._copies = authorizer._Resting(), frozenset()
