"""SELECT is bounded in time, rows and bytes, and says so in words that reveal nothing."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from selecting_store import SelectingStore
from waiting import in_a_thread

from redask.core.errors import BadAsk, DeadlineExceeded, LimitExceeded, SqlError
from redask.core.model import Caller
from redask.core.sql.text_limits import MAX_BYTES
from redask.stores.columnar.statements import caller_schema
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


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n FROM c) SELECT count(*) FROM c",
        "SELECT count(*) FROM t a, t b, t c, t d WHERE a.text || b.text = c.text || d.text",
        "SELECT count(*) FROM generate_series(1, 1000000000000)",
        "SELECT sum(n::numeric / 7) FROM generate_series(1, 100000000) n",
        "SELECT count(initcap(repeat('a', 1000000) || n)) FROM generate_series(1, 2000) n",
        "SELECT count(exp(n / 7.0)) FROM generate_series(1, 100000) n",
    ],
)
def test_time_is_bounded(store: SelectingStore, sql: str) -> None:
    with pytest.raises(DeadlineExceeded, match="longer than 200 ms") as caught:
        in_a_thread(partial(store.select, sql, (), ME, timeout_ms=200))
    assert caught.value.limit == "select.timeout_ms"


def test_time_that_is_over_while_a_table_is_made_is_a_deadline(
    store: SelectingStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def endless(_opened: object, cursor: Any, *_: object) -> str:
        cursor.execute("SELECT count(*) FROM range(1000000000000)").fetchall()
        return "never"

    monkeypatch.setattr(caller_schema, "catalogue_table", endless)
    with pytest.raises(DeadlineExceeded, match="longer than 200 ms"):
        in_a_thread(partial(store.select, "SELECT 1 FROM pg_class", (), ME, timeout_ms=200))


def test_rows_are_bounded_on_both_sides(store: SelectingStore) -> None:
    assert len(store.select("SELECT id FROM t", (), ME, max_rows=300)) == 300
    with pytest.raises(LimitExceeded, match="more than 299 rows: add a LIMIT") as caught:
        store.select("SELECT id FROM t", (), ME, max_rows=299)
    assert caught.value.limit == "select.max_rows"


def test_ten_thousand_rows_of_three_hundred_columns_are_a_result(store: SelectingStore) -> None:
    listed = ", ".join(f"n + {each}" for each in range(300))
    sql = f"SELECT {listed} FROM generate_series(1, 10000) n"
    assert len(store.selector.select(sql, (), ME, timeout_ms=60_000).rows) == 10_000


@pytest.mark.parametrize(
    "sql",
    [
        f"{LONG} SELECT s FROM c, t WHERE n = 23",
        "SELECT repeat('x', 1000000) FROM t",
    ],
)
def test_results_are_bounded(store: SelectingStore, sql: str) -> None:
    with pytest.raises(LimitExceeded, match=r"MiB|memory"):
        store.select(sql, (), ME, timeout_ms=60_000)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT repeat('a', 1000000000)",
        "SELECT length(repeat('a', 2147483647))",
        "SELECT lpad('a', 1000000000)",
        "SELECT rpad('a', 1000000000)",
        "SELECT lpad('a', 1000000000, 'xy')",
        "SELECT rpad(text, 1000000000, 'xy') FROM t",
        "SELECT to_char(1, repeat('9', 100000))",
        "SELECT to_char(1.5, repeat('9', 1001))",
        "SELECT to_char(timestamp '2024-01-01', repeat('YYYY', 100000))",
        "SELECT initcap(s || s || s || s) FROM (SELECT repeat('a', 9000000) AS s) q",
    ],
)
def test_no_single_call_is_long_work(store: SelectingStore, sql: str) -> None:
    """Nothing interrupts a Python function, so what it would do is bounded."""
    with pytest.raises(SqlError) as caught:
        store.select(sql, (), ME, timeout_ms=60_000)
    assert caught.value.sqlstate == "54000"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 10::numeric ^ 100000",
        "SELECT 1.1::numeric ^ 1000000000",
        "SELECT power(9999999999::numeric, 9999999999)",
        "SELECT exp(100000::numeric)",
        "SELECT 10 ^ 400",
        "SELECT '1e200000'::numeric",
    ],
)
def test_no_number_is_too_long(store: SelectingStore, sql: str) -> None:
    with pytest.raises(SqlError) as caught:
        store.select(sql, (), ME, timeout_ms=60_000)
    assert caught.value.sqlstate in ("22003", "0A000")


def test_patterns_that_could_go_astray_do_not(store: SelectingStore) -> None:
    text = "repeat('a', 20000)"
    for pattern in ("(a*)*b", "(a|aa)*b", "(a+)+$b", "(.*)(.*)(.*)(.*)b"):
        sql = f"SELECT {text} ~ '{pattern}' AS found"
        assert _outcome(store, sql) in ("0A000", [{"found": False}])


@pytest.mark.parametrize(
    ("sql", "state", "why"),
    [
        ("DELETE FROM t", "25006", "DELETE"),
        ("SELECT 1; SELECT 2", "42601", "statement"),
        ("WITH x AS (SELECT 1) DELETE FROM t", "25006", "DELETE"),
        ("PRAGMA user_version", "42601", 'at or near "PRAGMA"'),
        ("SELECT 1 +\n+", "42601", "end of input"),
        ("SELECT 'abc", "42601", "unterminated quoted string"),
        ("SELECT * FROM main.t", "42P01", 'relation "main.t" does not exist'),
        ("SELECT \0", "22021", "0x00"),
        ("SELECT '\ud800'", "22021", "UTF8"),
        ("SELECT " + "(" * 5000 + "1" + ")" * 5000, "54001", "too complex"),
        ("SELECT '" + "x" * MAX_BYTES + "'", "54000", "longer than"),
        ("SELECT nosuch FROM t", "42703", 'column "nosuch" does not exist'),
        ("SELECT rowid FROM t", "42703", "rowid"),
        ("SELECT nosuch(1)", "42883", "function nosuch(integer) does not exist"),
        ("SELECT id FROM t a, t b", "42702", 'column reference "id" is ambiguous'),
        ("SELECT t.text FROM t AS u", "42P01", "FROM-clause entry"),
        ("SELECT '9e999'::float8", "22003", "out of range"),
    ],
)
def test_what_cannot_run_is_told_as_postgresql_does(
    store: SelectingStore, sql: str, state: str, why: str
) -> None:
    with pytest.raises(SqlError, match=re.escape(why)) as caught:
        store.select(sql, (), ME)
    assert caught.value.sqlstate == state


@pytest.mark.parametrize("sql", ["SELECT " + "NOT " * 5000 + "TRUE", "SELECT " + "-" * 3000 + " 1",
                                 "SELECT 1" + " + 1" * 9000,
                                 "SELECT " + ", ".join(["1"] * 9000),
                                 "SELECT 1 FROM " + ", ".join(["t"] * 500),
                                 "SELECT 1 FROM t WHERE " + " OR ".join(["id = 1"] * 4000),
                                 "SELECT " + "CASE WHEN TRUE THEN " * 900 + "1" + " END" * 900,
                                 ])  # fmt: skip
def test_a_statement_that_is_deep_or_wide_is_run_or_refused(
    store: SelectingStore, sql: str
) -> None:
    assert isinstance(_outcome(store, sql), list | str)


def _outcome(store: SelectingStore, sql: str) -> object:
    """Rows, or the SQLSTATE; nothing but SqlError and bounds may come."""
    try:
        return store.select(sql, (), ME, timeout_ms=60_000)
    except SqlError as error:
        return error.sqlstate
    except LimitExceeded as error:
        return error.limit


def test_a_question_mark_gets_a_hint(store: SelectingStore) -> None:
    with pytest.raises(SqlError) as caught:
        store.select("SELECT id FROM t WHERE id = ?", (1,), ME)
    assert (caught.value.sqlstate, caught.value.hint) == (
        "42601",
        "Parameters are written $1, $2 and so on.",
    )
    with pytest.raises(SqlError) as caught:
        store.select("SELECT FROM WHERE", (), ME)
    assert caught.value.hint == ""


def test_a_statement_is_text(store: SelectingStore) -> None:
    with pytest.raises(BadAsk, match="not NoneType"):
        store.select(None, (), ME)


def test_a_select_writes_nothing_but_its_projection(tmp_path: Path) -> None:
    with SelectingStore(tmp_path) as store:
        store.put(entities("t", [{"id": 1}]), ME)
        before = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
        store.select("SELECT a.id FROM t a JOIN t b USING (id)", (), ME)
        after = {file.name: file.read_bytes() for file in tmp_path.iterdir() if file.is_file()}
        shared = {name for name in before if not name.endswith("-shm")}
        assert {name: before[name] for name in shared} == {name: after[name] for name in shared}
        assert before.keys() == after.keys()
