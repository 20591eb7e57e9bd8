"""The comparison of worlds that look alike to READER: `differences(worlds)`; see `guarded`."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from guarded import READABLE, READER, SECRET
from selecting_store import SelectingStore

from redask.core.errors import AskError, SqlError
from redask.core.model import Caller
from redask.stores.columnar.selector import ColumnarSelector

QUESTIONS = (
    *(f"SELECT * FROM {name}" for name in (*READABLE, "red_ask_audit", "plans", "shadow")),
    *(f"SELECT count(*) FROM {name}" for name in READABLE),
    *(f"SELECT string_agg(urn, ',') FROM {name}" for name in READABLE),
    "SELECT sum(score), avg(score), stddev(score), min(age), max(age) FROM people",
    "SELECT region, sum(score), string_agg(name, ',') FROM people GROUP BY region",
    "SELECT sum(score) OVER (ORDER BY active, urn ROWS 3 PRECEDING) AS s FROM people",
    "SELECT a.age, sum(a.score * b.score) FROM people a JOIN people b ON a.age = b.age GROUP BY 1",
    "SELECT * FROM people NATURAL JOIN notes",
    'SELECT p.name, l.label FROM links l JOIN people p ON p.urn = l."to"',
    "SELECT DISTINCT email, pg_typeof(age), pg_typeof(score) FROM people",
    "SELECT salary FROM people",
    'SELECT max(seq), count(DISTINCT "user") FROM red_ask_audit',
    "SELECT weight, pg_typeof(weight) FROM ties",
    "SELECT x, pg_typeof(x) FROM spots",
    "SELECT age + 1, score * 2 FROM people",
    "SELECT name::int FROM people",
    "SELECT count(1 / (id - 40)) FROM people",
    "SELECT (SELECT count(*) FROM people), (SELECT count(*) FROM links)",
    "SELECT ctid FROM people",
    "SELECT name FROM people LIMIT 3",
    "SELECT text FROM notes UNION ALL SELECT name FROM people",
    "SELECT relname, relnatts, reltuples FROM pg_class WHERE relkind = 'r'",
    "SELECT attname, atttypid FROM pg_attribute WHERE attnum > 0",
    "SELECT table_name, column_name, data_type FROM information_schema.columns",
    "SELECT to_regclass('plans'), to_regclass('shadow'), to_regclass('people')::oid",
    "SELECT stats(age) FROM people",
)


def outcome(store: SelectingStore, sql: str, caller: Caller = READER) -> str:
    """All that a caller gets of a statement."""
    try:
        found = store.selector.select(sql, (), caller)
        return f"{found.columns!r} {found.rows!r}"
    except AskError as error:
        more = (error.sqlstate, error.position, error.hint) if isinstance(error, SqlError) else ()
        return f"{type(error).__name__}: {error.message} {error.detail} {more}"


def differences(worlds: Sequence[SelectingStore], *questions: str) -> set[str]:
    """The questions whose answer depends on what the reader may not see, or shows it."""
    told = {sql: {outcome(store, sql) for store in worlds} for sql in questions or QUESTIONS}
    return {sql for sql, said in told.items() if len(said) > 1 or any(SECRET in s for s in said)}


@contextmanager
def projected_anew(worlds: Sequence[SelectingStore]) -> Iterator[None]:
    """The same worlds with selectors that begin with nothing, for bugs that come with the rows."""
    kept = [world.selector for world in worlds]
    for world in worlds:
        world.selector = ColumnarSelector(str(world.directory))
    try:
        yield
    finally:
        for world, selector in zip(worlds, kept, strict=True):
            world.selector.close()
            world.selector = selector
