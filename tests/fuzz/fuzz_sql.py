"""`make fuzz-sql`: a hundred thousand SELECTs, and none changes, shows or hints at anything.

    python tests/fuzz/fuzz_sql.py --statements 100000 --seed 7

Each statement is a query from a grammar, one of those mutated, or an attack (`attacks.sql`). It
runs in two worlds (`tests/support/guarded.py`) that differ in everything the reader may not see
and in their history: names, types, rows, errors and descriptions must be equal to the byte. The
word in everything hidden must never come out, neither for the reader nor, of the other tenant, for
the owner. A third of them also go to DuckDB unbound, so that only the second check is tested.
Nothing but `AskError` is raised. After every statement SQLite's own counter, and at the end a hash
of everything, say that no database changed. A violation prints the statement and ends with 1.
"""

import argparse
import hashlib
import multiprocessing
import os
import random
import shutil
import sqlite3
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from multiprocessing.util import Finalize
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "support"))

from guarded import CLOSED, FOREIGN, ODD_KEYS, OWNER, READER, SECRET, STRANGER, build
from selecting_store import SelectingStore

from redask.core.errors import AskError, DeadlineExceeded, SqlError
from redask.core.model import Caller
from redask.stores.columnar.statements.generated_text import check_generated
from redask.stores.columnar.statements.watch import Watch

CHUNK = 500
LEAKS = ("memory.main", "generation.main", "duckdb", "DuckDB", "Catalog Error", "Binder Error")
FORBIDDEN = {READER: (SECRET, FOREIGN), OWNER: (FOREIGN,), STRANGER: (SECRET,)}
TIMEOUT_MS = 500
# what tells the time may differ from one world to the other
CLOCKS = ("now", "current_", "localtime", "clock_", "_timestamp", "timeofday", "today")
COLUMNS = """id urn name "Name" "Name_2" name_2 region age score email active tags text title public
big keeper x value weight label "from" "to" urn_2 salary seq hash question "user" ts rowid ctid
plan""".split()
QUOTED = [f'"{key.replace(chr(34), chr(34) * 2)}"' for key in ODD_KEYS]
SCALAR = """abs length upper lower md5 initcap round ascii to_json trim coalesce nullif greatest
least strpos replace substr concat sign to_char date_trunc cast_int cast_text cast_float cast_date
jsonb_typeof jsonb_array_length reverse quote_literal pg_typeof sqrt ln""".split()
OF = {
    "people": 'id urn name "Name" age score email active tags region'.split(),
    "notes": ["id", "urn", "text", "big", "urn_2", *QUOTED],
    "pages": "id urn title text public".split(),
    "spots": "id urn keeper x".split(),
    "config": "id urn value".split(),
    "vectors": "id urn".split(),
    "ruled": "id urn".split(),
    "links": 'id urn "from" "to" label'.split(),
    "ties": 'id urn "from" "to" weight'.split(),
    "red_ask_audit": 'seq hash question "user" ts citations'.split(),
    "pg_class": "relname relkind oid reltuples relnatts".split(),
    "pg_attribute": "attname attnum attrelid atttypid".split(),
    "information_schema.columns": "table_name column_name data_type ordinal_position".split(),
    "information_schema.tables": "table_name table_schema".split(),
}
AGGREGATES = "count sum avg min max stddev bool_and array_agg jsonb_agg bit_or".split()
WINDOWS = "row_number() rank() dense_rank() lag({0}) lead({0},2) first_value({0}) sum({0})".split()


@dataclass(slots=True)
class Grammar:
    """Makes queries that mostly make sense."""

    rng: random.Random
    names: list[str] = field(default_factory=list)
    near: str = "people"

    def query(self, depth: int = 0) -> str:
        rng = self.rng
        self.near = rng.choice(list(OF)) if rng.random() < 0.7 else self.near
        if depth == 0 and rng.random() < 0.25:
            self.names = rng.choices(["c", "d", "notes", "entities", "r_x", '"c c"'], k=1)
            recursive = rng.random() < 0.2
            body = (
                f"SELECT 1 AS a UNION ALL SELECT a + 1 FROM {self.names[0]} WHERE a < 5"
                if recursive
                else self.query(1)
            )
            word = "WITH RECURSIVE" if recursive else "WITH"
            return f"{word} {self.names[0]} AS ({body}) {self.query(1)}"
        made = self.select(depth)
        if rng.random() < 0.1:
            glue = rng.choice(("UNION", "UNION ALL", "EXCEPT", "INTERSECT"))
            made = f"SELECT {self.expression(2)} {glue} SELECT {self.literal()} FROM {self.table()}"
        if rng.random() < 0.4:
            made += f" LIMIT {rng.randrange(6)}"
        return made

    def select(self, depth: int) -> str:
        rng = self.rng
        columns = [self.expression(depth) for _ in range(rng.choice((1, 1, 2, 3)))]
        if rng.random() < 0.2:
            columns = ["*"]
        if rng.random() < 0.15:
            window = rng.choice(WINDOWS).format(self.column())
            columns.append(f"{window} OVER (ORDER BY {self.column()}, urn)")
        kept = self.near
        source = self.source(depth)
        self.near = kept
        statement = f"SELECT {rng.choice(('', '', 'DISTINCT '))}{', '.join(columns)} FROM {source}"
        if rng.random() < 0.4:
            statement += f" WHERE {self.condition(depth)}"
        if rng.random() < 0.2:
            statement += f" GROUP BY {self.column()}"
            if rng.random() < 0.3:
                statement += f" HAVING count(*) > {rng.randrange(3)}"
        if rng.random() < 0.3:
            statement += f" ORDER BY {self.column()} {rng.choice(('', 'DESC', 'NULLS FIRST'))}"
        return statement

    def source(self, depth: int) -> str:
        rng = self.rng
        kind = rng.random()
        if kind < 0.6 or depth > 2:
            return self.table()
        if kind < 0.7:
            return f"({self.query(depth + 1)}) AS s"
        if kind < 0.78:
            return f"people AS p, jsonb_array_elements(p.tags) AS j, {self.table()} AS q"
        join = rng.choice(("JOIN", "LEFT JOIN", "CROSS JOIN", "NATURAL JOIN"))
        on = (
            ""
            if join in ("NATURAL JOIN", "CROSS JOIN")
            else f" ON a.{self.column()} = b.{self.column()}"
        )
        return f"{self.table()} AS a {join} {self.table()} AS b{on}"

    def table(self) -> str:
        rng = self.rng
        if self.names and rng.random() < 0.4:
            return rng.choice(self.names)
        if rng.random() < 0.1:
            return rng.choice([*CLOSED, "red_ask_audit", "duckdb_tables", "generate_series(1, 3)"])
        if rng.random() < 0.2:
            return rng.choice(list(OF))
        return rng.choice((self.near, f'"{self.near}"', f"public.{self.near}", self.near.upper()))

    def column(self) -> str:
        if self.rng.random() < 0.93:
            return self.rng.choice(OF[self.near])
        return self.rng.choice(COLUMNS if self.rng.random() < 0.9 else QUOTED)

    def literal(self) -> str:
        return self.rng.choice(
            [
                "1",
                "'eu'",
                "NULL",
                "0.1",
                "-5",
                "'%a%'",
                "1e16",
                "'urn'",
                "TRUE",
                "0",
                "'2024-02-30'",
            ]
        )

    def expression(self, depth: int) -> str:
        rng = self.rng
        kind = rng.random()
        if kind < 0.55 or depth > 3:
            return self.column()
        if kind < 0.65:
            return self.literal()
        if kind < 0.75:
            return self.call(self.expression(depth + 1))
        if kind < 0.8:
            return f"{rng.choice(SCALAR)}({self.expression(depth + 1)}, {self.literal()})"
        if kind < 0.9:
            return f"{rng.choice(AGGREGATES)}({rng.choice((self.column(), self.column(), '*'))})"
        if kind < 0.95:
            sign = rng.choice(("+", "*", "||", "->>", "%", "/", "^", "#>>", "@>"))
            return f"{self.column()} {sign} {self.expression(depth + 1)}"
        return f"(SELECT {self.expression(depth + 1)} FROM {self.table()} LIMIT 1)"

    def call(self, argument: str) -> str:
        name = self.rng.choice(SCALAR)
        if name.startswith("cast_"):
            return f"CAST({argument} AS {name[5:]})"
        return f"{name}({argument})"

    def condition(self, depth: int) -> str:
        rng = self.rng
        kind = rng.random()
        if kind < 0.5:
            sign = rng.choice(("=", "<>", "<", ">=", "LIKE", "~", "ILIKE", "IS DISTINCT FROM"))
            return f"{self.column()} {sign} {self.literal()}"
        if kind < 0.65:
            return f"{self.column()} IN ({self.literal()}, {self.literal()})"
        if kind < 0.8 and depth < 3:
            return f"EXISTS ({self.query(depth + 1)})"
        glue = rng.choice(("AND", "OR"))
        return f"({self.condition(depth + 1)}) {glue} NOT ({self.column()} IS NULL)"


BASE = """entities edges tenants collections labels policies users tokens holdings columns settings
store red_columns audit_head answers spending meta entity_rows typed t1 t2 v1 p1 audit tail_rows r1
o1 c1 w1 generation memory.main.t1 memory.main.t2 generation.main.entity_rows generation.main.typed
generation.main.t1 generation.main.meta temp.main.audit tail.main.entity_rows
memory.main.entity_rows duckdb_tables() duckdb_columns() duckdb_settings() duckdb_functions()
duckdb_secrets()
duckdb_databases() duckdb_views() duckdb_temporary_files() duckdb_memory() duckdb_logs()
pragma_table_info('t1') pragma_database_size() pragma_storage_info('t1') pragma_show('t1')
pragma_version() pragma_platform() pragma_metadata_info() information_schema.schemata
system.information_schema.tables sqlite_master pg_catalog.pg_tables pg_stats pg_statistic
pg_shadow pg_authid pg_stat_activity pg_settings pg_class pg_attribute read_csv('/etc/passwd')
read_csv_auto('/etc/passwd') read_parquet('x') parquet_scan('x') parquet_metadata('x')
read_json('x') read_json_auto('x') read_text('/etc/passwd') read_blob('/etc/passwd')
glob('/etc/*') sniff_csv('/etc/passwd') sqlite_scan('redask.sqlite','entities')
query('SELECT_1') query_table('t1') query_table(['t1','t2']) json_execute_serialized_sql('{}')
from_substrait('x') seq_scan('t1') summary('t1') test_all_types() repeat_row(1,num_rows=2)
range(9) unnest([1]) '/etc/passwd' 'x.csv' 'https://x/y.parquet' "x.csv" "/etc/passwd" sys os
BASE opened store worlds plans shadow generate_series(1,9)""".split()
WAYS = """{0}|main.{0}|temp.{0}|"{0}"|'{0}'|public.{0}|pg_catalog.{0}|"main"."{0}"|main/**/.{0}
|/*x*/{0}--y
|({0})|({0}) AS people|{0} AS r1|{0} TABLESAMPLE SYSTEM (50)|{0} AT (VERSION => 1)|\u200b{0}
|{0}\u00a0|people JOIN {0} ON TRUE|people, {0}|(SELECT * FROM {0}) s|({0} CROSS JOIN people)
|(SELECT 1) x CROSS JOIN main.{0}|LATERAL (SELECT * FROM {0}) l|ROWS FROM ({0})|ONLY {0}
""".split("|")
ATTACKS = [  # one a line: {w} is a way to name a table, {b} a table, {q} a column
    line.replace("⏎", "\n").replace("␀", "\0")
    for line in (Path(__file__).parent / "attacks.sql").read_text(encoding="utf-8").splitlines()
]
PIECES = """' " ` [ ] ( ) , ; -- /* */ * . = SELECT FROM WHERE UNION WITH AS JOIN people entities
payload main. temp. memory. generation. t1 c1 o1 q grp own_id urn NULL 0 1e9 ? $1 $99999 :a \\ % ||
-> ->> ORDER GROUP LIMIT salary plans IN EXISTS OVER x'00' E'\\000' U&'\\0000' $$ $a$ é \u2028
\ud800 { {{ }} # @ rowid tenant ::regclass ::oid ::json ::int[] pg_numeric_div( redask_jsonb_text(
stats( COLUMNS( EXCLUDE REPLACE QUALIFY SAMPLE PIVOT SUMMARIZE DESCRIBE ARRAY[ LATERAL
FILTER WITHIN ROWS RANGE UNBOUNDED DISTINCT ON""".split()


def statement(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.5:
        return Grammar(rng).query()
    if kind < 0.75:
        return mutated(rng, Grammar(rng).query() if kind < 0.65 else attack(rng))
    return attack(rng)


def attack(rng: random.Random) -> str:
    base = rng.choice(BASE)
    statement = rng.choice(ATTACKS).replace("{w}", rng.choice(WAYS)).replace("{0}", base)
    statement = statement.replace("{b}", base).replace(
        "{q}", rng.choice((*COLUMNS, *QUOTED, "payload"))
    )
    if rng.random() < 0.2:
        statement = "".join(rng.choice((each.upper(), each.lower())) for each in statement)
    return (
        statement
        if rng.random() < 0.8
        else statement.replace(" ", rng.choice(("/**/", "\n", "\t", " --\n")))
    )


def mutated(rng: random.Random, statement: str) -> str:
    for _ in range(rng.choice((1, 1, 2, 3))):
        start = rng.randrange(len(statement) + 1)
        end = min(len(statement), start + rng.choice((0, 1, 2, 6)))
        middle = rng.choice(
            (rng.choice(PIECES), statement[start:end] * 2, "", f" {rng.choice(PIECES)} ")
        )
        statement = statement[:start] + middle + statement[end:]
    return statement


# --- running ------------------------------------------------------------------------------


class Violation(Exception):
    """A promise that does not hold."""


@dataclass(slots=True)
class Worlds:
    """The stores of one process, and connections that notice a change to them."""

    stores: tuple[SelectingStore, SelectingStore]
    watchers: tuple[sqlite3.Connection, ...]
    hashes: tuple[str, ...]
    versions: tuple[int, ...]


OPENED: list[Worlds] = []


def worlds() -> Worlds:
    """The worlds of this process, made when first needed."""
    if not OPENED:
        places = [Path(tempfile.mkdtemp(prefix="redask-fuzz-")) for _ in range(2)]
        Finalize(None, remove, args=places, exitpriority=1)
        stores = build(places[0], 0), build(places[1], 2)
        files = [place / name for place in places for name in ("redask.sqlite", "calls.sqlite")]
        watchers = tuple(sqlite3.connect(file, isolation_level=None) for file in files)
        opened = Worlds(stores, watchers, (), versions(watchers))
        opened.hashes = tuple(map(content, watchers))
        OPENED.append(opened)
    return OPENED[0]


def remove(*places: Path) -> None:
    for place in places:
        shutil.rmtree(place, ignore_errors=True)


def versions(watchers: tuple[sqlite3.Connection, ...]) -> tuple[int, ...]:
    return tuple(each.execute("PRAGMA data_version").fetchone()[0] for each in watchers)


def content(connection: sqlite3.Connection) -> str:
    """A hash of the schema and of every row of every table."""
    digest = hashlib.sha256()
    for line in connection.iterdump():
        digest.update(line.encode())
    return digest.hexdigest()


def outcome(store: SelectingStore, sql: str, caller: Caller) -> str | None:
    """What a caller gets, described and run, as one text; None when the time was over."""
    try:
        shape = repr(store.selector.describe(sql, caller))
    except AskError as error:
        shape = failure(error)
    try:
        found = store.selector.select(sql, (), caller, timeout_ms=TIMEOUT_MS, max_rows=2000)
        return f"{found.columns!r} {found.rows!r} {shape}"
    except DeadlineExceeded:
        return None
    except AskError as error:
        return f"{failure(error)} {shape}"


def failure(error: AskError) -> str:
    """All that a caller gets of an error."""
    more = (error.sqlstate, error.position, error.hint) if isinstance(error, SqlError) else ()
    return f"{type(error).__name__}: {error.message} ({error.detail}) {more}"


def unbound(store: SelectingStore, sql: str) -> str:
    """What the second check alone lets out, when nobody binds the statement before DuckDB does."""
    import duckdb

    with store.selector._projection.reading(READER) as tables:
        watch = Watch(tables.cursor, time.monotonic() + TIMEOUT_MS / 1000, TIMEOUT_MS, None)
        try:
            with watch.watching():
                check_generated(tables.cursor, sql, ())
                return repr(tables.cursor.execute(sql).fetchmany(50))
        except DeadlineExceeded:
            return "refused"
        except (AskError, duckdb.Error, UnicodeEncodeError):
            return "refused"


def check(sql: str) -> str:
    """Run one statement as several callers. → the outcome of it"""
    opened = worlds()
    mine, other = (outcome(store, sql, READER) for store in opened.stores)
    timed = any(word in sql.lower() for word in CLOCKS)
    if mine != other and mine is not None and other is not None and not timed:
        raise Violation(f"what is hidden makes a difference:\n{mine[:600]}\n{other[:600]}")
    outcomes = {READER: f"{mine} {other}"}
    number = sum(sql.encode(errors="replace"))
    if number % 3 == 0 and not timed:
        results = {unbound(store, sql) for store in opened.stores} - {"refused"}
        if len(results) > 1:
            raise Violation(f"the second check alone is not enough: {results}"[:900])
        outcomes[READER] += "".join(results)
    if number % 8 == 0:
        outcomes[OWNER] = outcome(opened.stores[1], sql, OWNER) or ""
        outcomes[STRANGER] = outcome(opened.stores[1], sql, STRANGER) or ""
    for caller, words in FORBIDDEN.items():
        found = [word for word in words if word in outcomes.get(caller, "") and word not in sql]
        if found:
            raise Violation(f"{caller} gets {found}: {outcomes[caller][:600]}")
    for name in LEAKS:
        if any(name in said for said in outcomes.values()) and name not in sql.lower():
            raise Violation(f"the engine's own {name!r} came out: {outcomes}"[:900])
    if versions(opened.watchers) != opened.versions:
        raise Violation("a database was written")
    if mine is None:
        return "too slow"
    return "rows" if mine.startswith("(") else mine.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Report:
    """What came of one chunk."""

    outcomes: dict[str, int]
    violation: str = ""


def run(job: tuple[int, int]) -> Report:
    seed, count = job
    rng = random.Random(seed)
    outcomes: dict[str, int] = {}
    for _ in range(count):
        sql = statement(rng)
        try:
            came = check(sql)
        except Exception:
            return Report(outcomes, f"{traceback.format_exc()}\nstatement: {sql!r}")
        outcomes[came] = outcomes.get(came, 0) + 1
    opened = worlds()
    if tuple(map(content, opened.watchers)) != opened.hashes:
        return Report(outcomes, f"the content of a database changed in chunk {seed}")
    return Report(outcomes)


def jobs(statements: int, seed: int) -> Iterator[tuple[int, int]]:
    for start in range(0, statements, CHUNK):
        yield seed * 1_000_003 + start, min(CHUNK, statements - start)


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzz SELECT.")
    parser.add_argument("--statements", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    started, reported = time.monotonic(), 0.0
    totals: dict[str, int] = {}
    print(f"fuzzing SELECT: {options.statements:,} statements, seed {options.seed}", flush=True)
    pool = multiprocessing.Pool(options.jobs)
    try:
        for report in pool.imap_unordered(run, jobs(options.statements, options.seed)):
            for came, count in report.outcomes.items():
                totals[came] = totals.get(came, 0) + count
            passed, elapsed = sum(totals.values()), time.monotonic() - started
            if report.violation:
                print(f"{report.violation}\n{passed} passed, 1 failed (seed {options.seed})")
                pool.terminate()
                return 1
            if elapsed - reported >= 5:
                reported = elapsed
                print(f"{passed:>10,} statements, {passed / elapsed:,.0f}/s", flush=True)
    finally:
        pool.close()
        pool.join()  # so that each process removes its stores
    for came, count in sorted(totals.items()):
        print(f"{count:>10,}  {came}")
    print(f"{sum(totals.values())} passed, 0 failed in {time.monotonic() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
