"""The comparison with PostgreSQL sees what it shall see: planted differences, one at a time."""

from collections.abc import Iterator
from datetime import UTC, datetime, time
from decimal import Decimal
from itertools import islice
from pathlib import Path

import psycopg
import pytest
from real_postgres import NoPostgres, find_programs, private_postgres
from sql_twin.cases import Case, read
from sql_twin.cells import canonical, written
from sql_twin.generator.statements import generate, statement
from sql_twin.order import is_total
from sql_twin.reference import Reference
from sql_twin.tally import Tally
from sql_twin.verdict import CRASHED, Outcome, Refusal, Rows, judge
from sql_twin.world import COLUMN_TYPES, own_tables

from redask.core.ports import TableShape
from redask.core.sql.types import SqlType

CASE = Case("one", "SELECT a, b FROM t")
COLUMNS = (("a", SqlType("int4")), ("b", SqlType("numeric", (18, 2))))
ROWS = Rows(COLUMNS, (("1", "1.50"), ("2", None)))
TABLES = [
    TableShape(name, (("urn", "text"), *types.items())) for name, types in COLUMN_TYPES.items()
]


def renamed(at: int, name: str = "", kind: SqlType | None = None) -> Rows:
    columns = list(COLUMNS)
    columns[at] = name or columns[at][0], kind or columns[at][1]
    return Rows(tuple(columns), ROWS.rows)


@pytest.mark.parametrize(
    "ours",
    [
        Rows(COLUMNS, (("1", "1.5"), ("2", None))),
        Rows(COLUMNS, (("1", "1.50"), ("2", ""))),
        Rows(COLUMNS, ROWS.rows[:1]),
        Rows(COLUMNS, ROWS.rows + ROWS.rows[:1]),
        renamed(0, name="A"),
        renamed(0, kind=SqlType("int8")),
        renamed(1, kind=SqlType("numeric")),
        Rows(COLUMNS, ROWS.rows, (SqlType("int4"),)),
        Refusal(CRASHED, "KeyError: 'x'"),
    ],
)
def test_another_value_row_name_type_modifier_parameter_or_a_crash_is_different(
    ours: Rows | Refusal,
) -> None:
    assert judge(CASE, ours, ROWS).outcome is Outcome.DIFFERENT


def test_an_answer_where_postgresql_refuses_is_different() -> None:
    assert judge(CASE, ROWS, Refusal("22012", "division by zero")).outcome is Outcome.DIFFERENT


def test_refusals_are_told_apart_by_their_sqlstate() -> None:
    refusal = Refusal("22012", "division by zero")
    assert judge(CASE, refusal, ROWS).outcome is Outcome.REFUSED
    assert judge(CASE, refusal, Refusal("22012", "in other words")).outcome is Outcome.BOTH
    assert judge(CASE, refusal, Refusal("22003", "out of range")).outcome is Outcome.SQLSTATE


def test_order_counts_only_where_the_statement_decides_it() -> None:
    turned = Rows(COLUMNS, ROWS.rows[::-1])
    assert judge(CASE, turned, ROWS).outcome is Outcome.EQUAL
    by_all = Case("two", "SELECT a, b FROM t ORDER BY 2 DESC, a")
    by_one = Case("three", "SELECT a, b FROM t ORDER BY a")
    marked = Case("four", "SELECT a, b FROM t ORDER BY a", ordered=True)
    assert judge(by_all, turned, ROWS).outcome is Outcome.DIFFERENT
    assert judge(by_one, turned, ROWS).outcome is Outcome.EQUAL
    assert judge(marked, turned, ROWS).outcome is Outcome.DIFFERENT


@pytest.mark.parametrize(
    ("sql", "total"),
    [
        ("SELECT a FROM t ORDER BY a", True),
        ("SELECT a AS x, b + 1 FROM t ORDER BY x, b + 1", True),
        ("SELECT a FROM t UNION SELECT b FROM t ORDER BY 1", True),
        ("SELECT t.a AS b FROM t ORDER BY t.a", True),
        ("SELECT a, b AS c FROM t ORDER BY c, a", True),
        ("SELECT -a AS a FROM t ORDER BY t.a", False),
        ("SELECT a AS b, c AS a FROM t ORDER BY a", False),
        ("SELECT a AS b FROM t ORDER BY c", False),
        ("SELECT * FROM t ORDER BY 1", False),
        ("SELECT a FROM t", False),
        ("SELECT a, b FROM t ORDER BY a || b", False),
        ("SELECT a FROM", False),
    ],
)
def test_an_order_is_total_when_it_names_every_column(sql: str, total: bool) -> None:
    assert is_total(sql) is total


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (True, "bool", "t"),
        (Decimal("1.50"), "numeric", "1.50"),
        (Decimal("1E+3"), "numeric", "1000"),
        (datetime(2024, 1, 2, 3, 4, 5, 500_000), "timestamp", "2024-01-02 03:04:05.5"),
        (datetime(2024, 1, 2, tzinfo=UTC), "timestamptz", "2024-01-02 00:00:00+00"),
        (time(1, 2, 3), "time", "01:02:03"),
        (1.5, "float8", "1.5"),
        (1e22, "float8", "1e+22"),
        ([1, None], "int4[]", "{1,NULL}"),
        (["a,b", 'c"d', "NULL", None], "text[]", '{"a,b","c\\"d","NULL",NULL}'),
    ],
)
def test_values_are_compared_in_postgresqls_text(value: object, kind: str, text: str) -> None:
    of = SqlType.parse(kind)
    assert canonical(written(value, of), of) == canonical(text, of)


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (1, "bool", "1"),
        (1.0, "int4", "1"),
        (1.0, "numeric", "1.0"),
        ("1", "int4", "1"),
        (datetime(2024, 1, 2, tzinfo=UTC), "timestamp", "2024-01-02 00:00:00"),
        (0.1, "float8", "0.10000000000000002"),
        (0.0, "float8", "-0"),
        (["NULL"], "text[]", "{NULL}"),
        ("a", "text[]", "a"),
    ],
)
def test_a_value_of_another_python_type_or_another_bit_is_not_equal(
    value: object, kind: str, text: str
) -> None:
    of = SqlType.parse(kind)
    assert canonical(written(value, of), of) != canonical(text, of)


def test_a_statement_of_the_corpus_carries_its_name_parameters_and_types(tmp_path: Path) -> None:
    path = tmp_path / "topic.sql"
    path.write_text(
        '-- # a name\n-- params: [1, null]\n-- types: ["int4", null]\n-- ordered\n'
        "SELECT $1,\n $2;\n"
        "\nSELECT 2;\n"
    )
    first, second = read(path)
    assert first == Case("topic 1: a name", "SELECT $1,\n $2", (1, None), ("int4", None), True)
    assert second == Case("topic 2", "SELECT 2")
    path.write_text("SELECT 1\n")
    with pytest.raises(ValueError, match="semicolon"):
        read(path)


def test_a_tally_counts_and_keeps_the_shortest_example_of_each_cause() -> None:
    tally = Tally()
    for sql in ("SELECT long", "SELECT s"):
        refused = Refusal("42883", f"function {len(sql)} does not exist")
        tally.add(Case(sql, sql), judge(Case(sql, sql), refused, ROWS))
    tally.add(CASE, judge(CASE, ROWS, ROWS))
    assert "1 equal" in tally.summary()
    assert "66.7% of what PostgreSQL answers refused" in tally.summary()
    [line] = tally.listing()
    assert line.startswith("refused here ×2 [SELECT s]")


def test_generated_statements_are_the_same_each_time_and_each_can_be_made_alone() -> None:
    some = list(islice(generate(TABLES, 7), 50))
    assert some == list(islice(generate(TABLES, 7), 50))
    assert some[33] == statement(TABLES, 7, 33)
    assert some != list(islice(generate(TABLES, 8), 50))
    assert len({case.sql for case in some}) > 45


@pytest.fixture(scope="module")
def real() -> Iterator[Reference]:
    try:
        find_programs()
    except NoPostgres as error:
        pytest.skip(str(error))
    with private_postgres() as where, Reference(where) as opened:
        yield opened


def test_most_generated_statements_are_ones_that_postgresql_answers(real: Reference) -> None:
    for table in TABLES:
        real.load(table, [])
    assert own_tables().keys() == COLUMN_TYPES.keys()
    cases = list(islice(generate(TABLES, 1), 400))
    answered = [case for case in cases if isinstance(real.run(case), Rows)]
    assert len(answered) > 0.8 * len(cases)


def test_the_private_postgresql_has_collation_c_utf_8_and_utc(real: Reference) -> None:
    sql = "SELECT 'a' < 'B', length('ä'), upper('ä'), current_setting('timezone')"
    found = real.run(Case("settings", sql))
    assert isinstance(found, Rows)
    assert found.rows == (("f", "1", "ä", "UTC"),)


def test_the_private_postgresql_can_be_reached_over_tcp_and_is_gone_afterwards() -> None:
    try:
        find_programs()
    except NoPostgres as error:
        pytest.skip(str(error))
    with private_postgres(tcp=True) as where, psycopg.connect(**where) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(**where)
