"""What a SELECT gives before it runs: names as SQLite gives them, types that every value has."""

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
            "id int8, urn text, mixed text, n int8, open bool, price float8, tags jsonb, "
            "title text",
        ),
        ("SELECT id, Title AS t FROM tickets WHERE id = $1", "id int8, t text"),
        ("SELECT count(*), avg(n), sum(n), sum(price) FROM tickets",
         "count(*) int8, avg(n) float8, sum(n) int8, sum(price) float8"),
        ("SELECT max(title) a, min(n) b, max(open) c FROM tickets", "a text, b int8, c bool"),
        ("SELECT n + 1 a, price * 2 b, n / 2 c, -n d, title || n e FROM tickets",
         "a int8, b float8, c int8, d int8, e text"),
        ("SELECT n > 1 a, n IS NULL b, title LIKE 'F%' c, NOT open d, n IN (1) e FROM tickets",
         "a bool, b bool, c bool, d bool, e bool"),
        ("SELECT coalesce(n, 0) a, coalesce(n, 'x') b, CASE WHEN n THEN 1 END c FROM tickets",
         "a int8, b text, c int8"),
        ("SELECT CAST(n AS text) a, CAST(title AS integer) b, NULL c, 1 d, 1.5 e, 'x' f "
         "FROM tickets", "a text, b int8, c text, d int8, e float8, f text"),
        ("WITH w(k, v) AS (SELECT id, price FROM tickets) SELECT v, k FROM w", "v float8, k int8"),
        ("SELECT x.a, x.b FROM (SELECT n AS a, title AS b FROM tickets) x", "a int8, b text"),
        ("SELECT t.*, p.name FROM people p JOIN tickets t ON 1",
         "id int8, urn text, mixed text, n int8, open bool, price float8, tags jsonb, "
         "title text, name text"),
        ("SELECT id FROM tickets UNION ALL SELECT salary FROM people", "id int8"),
        ("SELECT id FROM tickets UNION ALL SELECT name FROM people", "id text"),
        ("SELECT (SELECT max(salary) FROM people) m FROM tickets", "m int8"),
        ("SELECT (SELECT t.price) m FROM tickets t", "m float8"),
        ("SELECT row_number() OVER (ORDER BY id) r, rank() OVER () k, lag(n) OVER () l "
         "FROM tickets", "r int8, k int8, l text"),
        ("SELECT round(n) a, length(title) b, upper(title) c, abs(n) d FROM tickets",
         "a float8, b int8, c text, d int8"),
        ("SELECT id, id FROM tickets", "id int8, id_2 int8"),
        ("SELECT * FROM tickets t JOIN people p USING (id)",
         "id text, urn text, mixed text, n text, open text, price text, tags text, title text, "
         "urn_2 text, boss text, name text, salary text"),
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
        rows = db.select(sql)
        assert all(list(row) == [name for name, _ in shape.columns] for row in rows)
        for row in rows:
            for name, kind in shape.columns:
                assert row[name] is None or isinstance(row[name], _PYTHON[kind])


_PYTHON: dict[str, type | tuple[type, ...]] = {
    "int8": int, "float8": float, "bool": int, "jsonb": str, "text": (str, int, float),
}  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "types"),
    [
        ("id = $1", "int8"),
        ("$1 = title", "text"),
        ("price > $1 AND title = $2", "float8 text"),
        ("open = $1", "bool"),
        ("n IN ($1, $2)", "int8 int8"),
        ("n BETWEEN $1 AND $2", "int8 int8"),
        ("title LIKE $1 LIMIT $2 OFFSET $3", "text int8 int8"),
        ("tags = $1", "text"),
        ("n + 1 = $1", "int8"),
        ("n = CAST($1 AS real)", "float8"),
        ("id = ? AND title = ?", "int8 text"),
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
        assert db.describe(endless + end).columns == (("n", "int8"),)


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
        names = "id int8, urn text, name text, note text, team text"
        shape = reader.describe("SELECT * FROM people")
        assert ", ".join(" ".join(each) for each in shape.columns) == names
        with pytest.raises(BadAsk, match="no such column"):
            reader.describe("SELECT salary FROM people")
        with pytest.raises(Denied):
            reader.describe("SELECT * FROM closed")
        known = {table.name: dict(table.columns) for table in reader.tables()}
        assert sorted(known) == ["people", "red_ask_audit"]
        assert known["people"] == dict(shape.columns)
        assert len(known["red_ask_audit"]) == 22


def test_an_id_that_some_lack_is_text(tmp_path: Path) -> None:
    with redask.open(tmp_path) as db:
        db.put("mixed", [{"id": 1, "n": 1}])
        assert db.describe("SELECT id FROM mixed").columns == (("id", "int8"),)
        db.put("links", [{"id": 1}])
        assert db.describe("SELECT id FROM links").columns == (("id", "int8"),)
        db.link("urn:reddb:row:mixed/1", "near", "urn:reddb:row:links/1")
        assert {type(row["id"]) for row in db.select("SELECT id FROM links")} == {int, str}
        assert db.describe("SELECT id FROM links").columns == (("id", "text"),)
