"""SELECT is bounded in time, rows and bytes, and says so in words that reveal nothing."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from redask.stores.sqlite.select import table_names
from redask.stores.sqlite.select.authorizer import FUNCTIONS, TABLE_FUNCTIONS
from redask.stores.sqlite.select.table_names import MAX_SQL_BYTES
from selecting_store import SelectingStore
from waiting import in_a_thread

from redask.core.errors import BadAsk, BadStatement, DeadlineExceeded, LimitExceeded
from redask.core.model import Caller
from redask.stores.entity_rows import entities

ME = Caller()
FOREVER = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)"
LONG = (
    "WITH RECURSIVE c(n, s) AS (SELECT 1, 'a' UNION ALL SELECT n + 1, s || s FROM c WHERE n < 23)"
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SelectingStore]:
    with SelectingStore(tmp_path_factory.mktemp("limits")) as opened:
        rows = [{"id": n, "text": f"row {n}", "real": n / 7} for n in range(300)]
        opened.put(entities("t", rows), ME)
        yield opened


def test_time_is_bounded(store: SelectingStore) -> None:
    for sql in (
        f"{FOREVER} SELECT count(*) FROM c",
        "SELECT count(*) FROM t a, t b, t c, t d WHERE a.text || b.text = c.text || d.text",
    ):
        with pytest.raises(DeadlineExceeded, match="longer than 200 ms") as caught:
            in_a_thread(partial(store.select, sql, (), ME, timeout_ms=200))
        assert caught.value.limit == "select.timeout_ms"


def test_rows_are_bounded_on_both_sides(store: SelectingStore) -> None:
    assert len(store.select("SELECT id FROM t", (), ME, max_rows=300)) == 300
    with pytest.raises(LimitExceeded, match="more than 299 rows: add a LIMIT") as caught:
        store.select("SELECT id FROM t", (), ME, max_rows=299)
    assert caught.value.limit == "select.max_rows"
    with pytest.raises(LimitExceeded):
        store.select(f"{FOREVER} SELECT n FROM c", (), ME)


@pytest.mark.parametrize(
    "sql",
    [
        f"{LONG.replace('23', '60')} SELECT count(*) FROM c",
        f"{LONG} SELECT replace(s, 'a', 'bbbb') FROM c WHERE n = 23",
        f"{LONG} SELECT hex(s) || hex(s) FROM c WHERE n = 23",
        f"{LONG} SELECT group_concat(s, s) FROM c",
        f"{LONG} SELECT s || s || s FROM c WHERE n = 23",
        f"{LONG} SELECT s FROM c, t WHERE n = 23",
    ],
)
def test_texts_and_results_are_bounded(store: SelectingStore, sql: str) -> None:
    with pytest.raises(LimitExceeded, match="MiB"):
        store.select(sql, (), ME)


@pytest.mark.parametrize(
    "expression",
    [
        "instr(s || s, s || 'b')",
        "replace(s || s, s || 'b', '')",
        "trim(s || s, 'b' || s)",
        "printf('%.*c', 2000000000, 'x')",
        "printf('%2000000000d', 1)",
    ],
)
def test_no_single_function_takes_long(store: SelectingStore, expression: str) -> None:
    short = LONG.replace("23", "22")
    sql = f"{short} SELECT length({expression}) FROM c WHERE n = 22"
    assert store.select(sql, (), ME, timeout_ms=60_000)  # SQLite's own would take minutes


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("", "line 1, column 1: expected one SELECT, .* found nothing"),
        ("  -- nothing", "found nothing"),
        ("DELETE FROM t", "expected one SELECT, which starts so or with WITH, found 'DELETE'"),
        ("EXPLAIN SELECT 1", "found 'EXPLAIN'"),
        ("PRAGMA user_version", "found 'PRAGMA'"),
        ("VALUES (1)", "found 'VALUES'"),
        ("SELECT 1; SELECT 2", "found 2 statements"),
        ("WITH x AS (SELECT 1) DELETE FROM t", "delete"),
        ("SELECT 1 +\n+", "line 2, column"),
        ("SELECT 'abc", "expected the end of a text or a name"),
        ("SELECT * FROM main.t", "expected the plain name of a collection, found 'main.t'"),
        ("SELECT * FROM t INDEXED BY x", "plain name"),
        ("SELECT \0", r"found U\+0000"),
        ("SELECT '\ud800'", r"line 1, column 9: .* found U\+D800"),
        ("SELECT " + "NOT " * 5000 + "1", "less deeply nested"),
        ("SELECT '" + "x" * MAX_SQL_BYTES + "'", f"at most {MAX_SQL_BYTES} bytes"),
    ],
)
def test_what_is_no_select_is_told_where_and_why(store: SelectingStore, sql: str, why: str) -> None:
    with pytest.raises(BadStatement, match=why):
        store.select(sql, (), ME)


def test_a_statement_is_text(store: SelectingStore) -> None:
    with pytest.raises(BadStatement, match="found NoneType"):
        store.select(None, (), ME)


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT nosuch FROM t", "no such column: nosuch"),
        ('SELECT "nosuch" FROM t', "no such column: nosuch"),
        ("SELECT rowid FROM t", "a collection has no rowid"),
        ("SELECT random()", "there is no function random in a SELECT"),
        ("SELECT nosuch(1)", "no such function: nosuch"),
        ("SELECT json_group_array(id) FROM t", "no function json_group_array"),
        ("SELECT id FROM t a, t b", "ambiguous column name: id"),
        ("WITH a AS (SELECT * FROM b), b AS (SELECT * FROM a) SELECT * FROM a", "reference: a"),
        ("SELECT x'00' AS b", "the column 'b' is binary"),
        ("SELECT 9e999 AS b", "the column 'b' has an infinite number"),
        ("SELECT 1 IN t", "no such table: t"),
        ("SELECT 1 IN entities", "reads collections in FROM"),
        ("SELECT * FROM pragma_table_info('t')", "only reads"),
        ("SELECT * FROM t(5)", "cannot be run"),
        ("SELECT abs(-9223372036854775808)", "integer overflow"),
        ("SELECT t.text FROM t AS u", "no such column: t.text"),
        ("SELECT " + ", ".join(["abs(1)"] * 301), "at most 300 functions"),
        ("SELECT " + " OR ".join(["id LIKE 'x'"] * 13) + " FROM t", "at most 12 patterns"),
        (f"SELECT id LIKE '{'x' * 101}' FROM t", "LIKE or GLOB pattern too complex"),
    ],
)
def test_what_sqlite_says_comes_in_the_users_words(
    store: SelectingStore, sql: str, why: str
) -> None:
    with pytest.raises(BadAsk, match=re.escape(why)) as caught:
        store.select(sql, (), ME)
    assert "r_" not in caught.value.message.replace("user_", "")


def test_the_page_names_the_functions_that_there_are() -> None:
    page = (Path(__file__).parents[2] / "docs" / "sql.md").read_text(encoding="utf-8")
    quoted = " ".join(line[2:] for line in page.splitlines() if line.startswith("> "))
    scalar, _, tables = quoted.partition("as tables:")
    assert set(scalar.replace("·", " ").split()) == FUNCTIONS - {"->", "->>"}
    assert set(tables.split()) == TABLE_FUNCTIONS


def test_text_that_is_no_utf8_is_still_text(store: SelectingStore) -> None:
    assert store.select("SELECT CAST(x'ff41' AS TEXT) AS a", (), ME) == [{"a": "\ufffdA"}]


def test_a_select_sees_one_state_and_writes_nothing(tmp_path: Path) -> None:
    with SelectingStore(tmp_path) as store:
        store.put(entities("t", [{"id": 1}]), ME)
        before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
        store.select("SELECT a.id FROM t a JOIN t b USING (id)", (), ME)
        after = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
        shared = {name for name in before if not name.endswith("-shm")}
        assert {name: before[name] for name in shared} == {name: after[name] for name in shared}
        assert before.keys() == after.keys()


@pytest.mark.parametrize("before", ["/* x */ ", "-- x\n", " \n\t", "/* /* */", "/**/--\n"])
def test_what_sqlite_gets_starts_with_the_select(before: str) -> None:
    assert table_names.read(f"{before}SELECT 1").render({}).sql == "SELECT 1"
    for word in ("EXPLAIN", "EXPLAIN QUERY PLAN"):
        with pytest.raises(BadStatement, match="found 'EXPLAIN'"):
            table_names.read(f"{before}{word} SELECT 1")
