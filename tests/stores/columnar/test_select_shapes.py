"""What a SELECT gives before it runs: names and types as PostgreSQL gives them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import redask
from redask.api.sync import OpenDatabase
from redask.core.errors import BadAsk, Denied

ROWS = [
    {"id": 1, "title": "Ferry", "price": 2, "open": True, "tags": ["a"], "mixed": 1, "n": 3},
    {"id": 2, "title": "Train", "price": 2.5, "open": False, "tags": {}, "mixed": "x", "n": None},
]


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenDatabase]:
    with redask.open(tmp_path_factory.mktemp("shapes")) as db:
        db.put("tickets", ROWS)
        db.put("people", [{"id": "a", "name": "Mia", "salary": 5, "boss": "b"}])
        yield db


@pytest.mark.parametrize(
    ("sql", "columns"),
    [
        (
            "SELECT * FROM tickets",
            "id int4, urn text, mixed text, n int4, open bool, price numeric(18,1), tags jsonb, "
            "title text",
        ),
        ("SELECT id, Title AS t FROM tickets WHERE id = $1", "id int4, t text"),
        ("SELECT count(*), avg(n), sum(n), sum(price) FROM tickets",
         "count int8, avg numeric, sum int8, sum numeric"),
        ("SELECT max(title) a, min(n) b, bool_or(open) c FROM tickets", "a text, b int4, c bool"),
        ("SELECT n + 1 a, price * 2 b, n / 2 c, -n d, title || n e FROM tickets",
         "a int4, b numeric, c int4, d int4, e text"),
        ("SELECT n > 1 a, n IS NULL b, title LIKE 'F%' c, NOT open d, n IN (1) e FROM tickets",
         "a bool, b bool, c bool, d bool, e bool"),
        ("SELECT coalesce(n, 0) a, coalesce(n, 1.5) b, CASE WHEN n > 1 THEN 1 END c FROM tickets",
         "a int4, b numeric, c int4"),
        ("SELECT CAST(n AS text) a, CAST(title AS varchar(9)) b, NULL c, 1 d, 1.5 e, 'x' f "
         "FROM tickets", "a text, b varchar(9), c text, d int4, e numeric, f text"),
        ("WITH w(k, v) AS (SELECT id, n FROM tickets) SELECT v, k FROM w", "v int4, k int4"),
        ("SELECT x.a, x.b FROM (SELECT n AS a, title AS b FROM tickets) x", "a int4, b text"),
        ("SELECT t.*, p.name FROM people p JOIN tickets t ON TRUE",
         "id int4, urn text, mixed text, n int4, open bool, price numeric(18,1), tags jsonb, "
         "title text, name text"),
        ("SELECT id FROM tickets UNION ALL SELECT salary FROM people", "id int4"),
        ("SELECT (SELECT max(salary) FROM people) m FROM tickets", "m int4"),
        ("SELECT (SELECT t.n) m FROM tickets t", "m int4"),
        ("SELECT row_number() OVER (ORDER BY id) r, rank() OVER () k, lag(n) OVER () l "
         "FROM tickets", "r int8, k int8, l int4"),
        ("SELECT round(n) a, length(title) b, upper(title) c, abs(n) d FROM tickets",
         "a float8, b int4, c text, d int4"),
        ("SELECT id, id FROM tickets", "id int4, id int4"),
        ("SELECT now() a, current_date b, date '2024-01-01' - 1 c, interval '1 day' d",
         "a timestamptz, b date, c date, d interval"),
        ("SELECT seq, cost_usd, cache_hit, citations, question FROM red_ask_audit",
         "seq int8, cost_usd float8, cache_hit bool, citations jsonb, question text"),
        ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) n "
         "FROM c, tickets", "n int8"),
    ],
)  # fmt: skip
def test_a_select_is_described(db: OpenDatabase, sql: str, columns: str) -> None:
    shape = db.describe(sql)
    assert ", ".join(" ".join(each) for each in shape.columns) == columns
    if "RECURSIVE" not in sql and "$1" not in sql:
        assert db.select(sql).columns == shape.columns


@pytest.mark.parametrize(
    ("condition", "types"),
    [
        ("id = $1", "int4"),
        ("$1 = title", "text"),
        ("price > $1 AND title = $2", "numeric text"),
        ("open = $1", "bool"),
        ("n IN ($1, $2)", "int4 int4"),
        ("n BETWEEN $1 AND $2", "int4 int4"),
        ("title LIKE $1 LIMIT $2 OFFSET $3", "text int8 int8"),
        ("tags = $1", "jsonb"),
        ("n + 1 = $1", "int4"),
        ("n = CAST($1 AS real)", "float4"),
        ("n = ANY($1)", "int4[]"),
    ],
)
def test_a_parameter_has_the_type_of_what_it_is_compared_with(
    db: OpenDatabase, condition: str, types: str
) -> None:
    shape = db.describe(f"SELECT id FROM tickets WHERE {condition}")
    assert " ".join(shape.parameters) == types


def test_describing_runs_nothing(db: OpenDatabase) -> None:
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) "
    for end in ("SELECT count(*) n FROM c", "SELECT a.x n FROM c a JOIN c b ON a.x = b.x"):
        assert [name for name, _ in db.describe(endless + end).columns] == ["n"]


@pytest.mark.parametrize("sql", ["SELECT nope FROM tickets", "SELECT FROM", "SELECT 1 FROM gone"])
def test_what_cannot_run_cannot_be_described(db: OpenDatabase, sql: str) -> None:
    with pytest.raises(BadAsk):
        db.describe(sql)


def test_the_policy_holds_for_a_description(tmp_path: Path) -> None:
    with redask.open(tmp_path) as db:
        db.put("people", [{"id": 1, "name": "Mia", "salary": 5, "note": 3, "team": "a"},
                          {"id": "x", "name": "Leo", "secret": 1, "team": "b"}])  # fmt: skip
        db.put("closed", [{"id": 1}])
        db.set_policy("closed", {"read": [{"roles": ["spy"]}]})
        db.set_policy("people", {"read": [{"roles": ["reader"], "rows": "team = 'a'",
                                           "hide": ["salary"], "mask": ["note"]}]})  # fmt: skip
        db.add_user("mia", role="reader")
        reader = db.signed_in(db.make_token("mia"))
        names = "id int4, urn text, name text, note text, team text"
        shape = reader.describe("SELECT * FROM people")
        assert ", ".join(" ".join(each) for each in shape.columns) == names
        with pytest.raises(BadAsk, match='column "salary" does not exist'):
            reader.describe("SELECT salary FROM people")
        with pytest.raises(Denied):
            reader.describe("SELECT * FROM closed")
        known = {table.name: dict(table.columns) for table in reader.tables()}
        assert sorted(known) == ["people", "red_ask_audit"]
        assert known["people"] == dict(shape.columns)
        assert len(known["red_ask_audit"]) == 23


def test_an_id_that_some_lack_is_text(tmp_path: Path) -> None:
    with redask.open(tmp_path) as db:
        db.put("mixed", [{"id": 1, "n": 1}])
        assert db.describe("SELECT id FROM mixed").columns == (("id", "int4"),)
        db.put("links", [{"id": 1}])
        assert db.describe("SELECT id FROM links").columns == (("id", "int4"),)
        db.link("urn:reddb:row:mixed/1", "near", "urn:reddb:row:links/1")
        assert {type(row["id"]) for row in db.select("SELECT id FROM links")} == {str}
        assert db.describe("SELECT id FROM links").columns == (("id", "text"),)


def test_a_void_parameter_is_one_of_the_statement_and_none_of_the_function(
    db: OpenDatabase,
) -> None:
    for given in (None, ""):
        rows = db.select("SELECT abs($1::void, $2::int4) AS n", [given, -7])
        assert [dict(each) for each in rows] == [{"n": 7}]
    with pytest.raises(BadAsk, match="2 parameters"):
        db.select("SELECT abs($1::void, $2::int4) AS n", [-7])
