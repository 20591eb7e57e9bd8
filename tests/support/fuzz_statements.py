"""Statements for `make fuzz-sql`: `statement(rng)`, sensible, wild, broken, or an attack."""

import random
from dataclasses import dataclass, field
from pathlib import Path

from guarded import CLOSED, ODD_KEYS

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
NUMBERS = {
    "people": ["id", "age", "score", "score * age"],
    "notes": ["big", "length(text)"],
    "pages": ["length(title)"],
    "spots": ["id", "x"],
    "config": ["value"],
    "ties": ["id", "weight"],
    "red_ask_audit": ["seq", "ts"],
}
OF_NUMBERS = "abs round sign sqrt ln cast_int cast_float cast_text to_char coalesce".split()
TYPED = (
    "1 / ({n} - {m})", "100 / nullif({n}, 3)", "round(({n})::numeric, 2)", "({t})::text || 'x'",
    "({t})::text::int", "({t})::text::date", "md5(({t})::text)", "CASE WHEN {n} > 2 THEN {m} END",
    "({t})::text ~ '[0-9]+'", "sum({n}) OVER (ORDER BY {u})", "to_char({n}, '999.99')",
    "width_bucket(({n})::float8, 0, 10, 5)", "lag({t}) OVER (ORDER BY {u})", "pg_typeof({t})",
    "2 ^ ({n})::int", "power(2::numeric, {n})", "exp(({n})::numeric)", "{t}", "{n}", "{n} + {m}",
    "upper(({t})::text)", "length(({t})::text)", "coalesce({t}, NULL)", "{t} IS NULL", "{n} = {m}",
)  # fmt: skip
WHOLE = (
    "sum({n})", "avg({n})", "sum({n}) / count(*)", "count(*) FILTER (WHERE {n} > 3)", "max({t})",
    "min({t})", "string_agg(({t})::text, ',')", "percentile_cont(0.5) WITHIN GROUP (ORDER BY {n})",
    "stddev({n})", "array_agg({t})", "jsonb_agg({t})", "count(DISTINCT {t})", "count({t})",
    "count(*)", "variance({n})", "sum(1 / ({n} - 45))", "sum({n} ORDER BY {u} DESC)",
)  # fmt: skip
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
            ["1", "'eu'", "NULL", "0.1", "-5", "'%a%'", "1e16", "'urn'", "TRUE", "'2024-02-30'"]
        )

    def number(self) -> str:
        return self.rng.choice(NUMBERS.get(self.near, ["length(urn)"]))

    def expression(self, depth: int) -> str:
        rng = self.rng
        kind = rng.random()
        if kind < 0.45 or depth > 3:
            return self.column()
        if kind < 0.55:
            return self.literal()
        if kind < 0.75:
            return self.call(depth)
        if kind < 0.85:
            return self.typed()
        if kind < 0.9:
            return f"{rng.choice(AGGREGATES)}({rng.choice((self.column(), self.number(), '*'))})"
        if kind < 0.95:
            sign = rng.choice(("+", "*", "||", "->>", "%", "/", "^", "#>>", "@>", "-"))
            return f"{self.number()} {sign} {self.expression(depth + 1)}"
        return f"(SELECT {self.expression(depth + 1)} FROM {self.table()} LIMIT 1)"

    def typed(self) -> str:
        unique = OF[self.near][0]
        made = self.rng.choice(TYPED if self.rng.random() < 0.7 else WHOLE)
        return made.format(n=self.number(), m=self.number(), t=self.column(), u=unique)

    def careful(self) -> str:
        """One table with its own columns, so that most of these run."""
        rng = self.rng
        self.near = rng.choice(["people", *OF])
        number = NUMBERS.get(self.near, [f"length(({OF[self.near][0]})::text)"])
        own = OF[self.near]
        given = {"n": rng.choice(number), "m": rng.choice(number), "t": rng.choice(own)}
        grouped = rng.random() < 0.4
        kinds = WHOLE if grouped else TYPED
        listed = [rng.choice(kinds).format(**given, u=own[0]) for _ in range(rng.choice((1, 2, 3)))]
        tail = f" WHERE {given['m']} > {rng.randrange(-2, 25)}" if rng.random() < 0.4 else ""
        if grouped and rng.random() < 0.5:
            key = rng.choice(own)
            listed, tail = [key, *listed], f"{tail} GROUP BY {key}"
        elif not grouped and rng.random() < 0.5:
            tail += f" ORDER BY {rng.choice(own)} LIMIT {rng.randrange(1, 9)}"
        return f"SELECT {', '.join(listed)} FROM {self.near}{tail}"

    def call(self, depth: int) -> str:
        name = self.rng.choice(SCALAR)
        argument = self.expression(depth + 1)
        if self.rng.random() < 0.7:
            argument = self.number() if name in OF_NUMBERS else f"({self.column()})::text"
        if name.startswith("cast_"):
            return f"CAST({argument} AS {name[5:]})"
        more = f", {self.literal()}" if self.rng.random() < 0.1 else ""
        return f"{name}({argument}{more})"

    def condition(self, depth: int) -> str:
        rng = self.rng
        kind = rng.random()
        if kind < 0.25:
            return f"{self.number()} {rng.choice(('=', '<', '<>', '>='))} {rng.randrange(-1, 30)}"
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
    for line in (Path(__file__).parents[1] / "fuzz" / "attacks.sql")
    .read_text(encoding="utf-8")
    .splitlines()
]
PIECES = """' " ` [ ] ( ) , ; -- /* */ * . = SELECT FROM WHERE UNION WITH AS JOIN people entities
payload main. temp. memory. generation. t1 c1 o1 q grp own_id urn NULL 0 1e9 ? $1 $99999 :a \\ % ||
-> ->> ORDER GROUP LIMIT salary plans IN EXISTS OVER x'00' E'\\000' U&'\\0000' $$ $a$ é \u2028
\ud800 { {{ }} # @ rowid tenant ::regclass ::oid ::json ::int[] pg_numeric_div( redask_jsonb_text(
stats( COLUMNS( EXCLUDE REPLACE QUALIFY SAMPLE PIVOT SUMMARIZE DESCRIBE ARRAY[ LATERAL
FILTER WITHIN ROWS RANGE UNBOUNDED DISTINCT ON""".split()


def statement(rng: random.Random) -> str:
    """One statement."""
    kind = rng.random()
    if kind < 0.35:
        return Grammar(rng).careful()
    if kind < 0.5:
        return Grammar(rng).query()
    if kind < 0.75:
        made = (Grammar(rng).careful, Grammar(rng).query, lambda: attack(rng))
        return mutated(rng, rng.choice(made)())
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
