"""A collection as a table: which columns, which values, in which order."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from guarded import ODD_KEYS
from selecting_store import SelectingStore

from redask.core.errors import BadAsk, SqlError
from redask.core.model import Caller, Kind
from redask.core.ports import Entity
from redask.core.wire.json import text
from redask.stores.entity_rows import entities, link

ME = Caller()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SelectingStore]:
    with SelectingStore(tmp_path) as opened:
        yield opened


def put(store: SelectingStore, name: str, *rows: dict[str, object], kind: Kind = Kind.ROW) -> None:
    store.put(entities(name, rows, kind=kind), ME)


def ask(store: SelectingStore, sql: str, *params: object) -> list[dict[str, Any]]:
    return store.select(sql, params, ME)


def test_columns_are_id_and_urn_and_then_the_keys_by_code_points(store: SelectingStore) -> None:
    put(store, "t", {"id": 2, "b": 1}, {"id": 1, "a": "x", "Z": None})
    assert ask(store, "SELECT * FROM t") == [
        {"id": 1, "urn": "urn:reddb:row:t/1", "Z": None, "a": "x", "b": None},
        {"id": 2, "urn": "urn:reddb:row:t/2", "Z": None, "a": None, "b": 1},
    ]
    assert list(ask(store, "SELECT * FROM t")[0]) == ["id", "urn", "Z", "a", "b"]


def test_each_type_has_its_values(store: SelectingStore) -> None:
    put(
        store,
        "t",
        {"id": 1, "i": 2**63 - 1, "r": 1, "t": "é", "b": True, "j": [1, {"a": "é"}], "n": None},
        {"id": 2, "i": -(2**63), "r": 0.5, "t": "", "b": False, "j": {"k": []}, "n": None},
    )
    found = store.selector.select("SELECT i, r, t, b, j, n FROM t", (), ME)
    types = ["int8", "numeric(18,1)", "text", "bool", "jsonb", "text"]
    assert [kind for _, kind in found.columns] == types
    assert found.rows == [
        (2**63 - 1, Decimal("1.0"), "é", True, '[1, {"a": "é"}]', None),
        (-(2**63), Decimal("0.5"), "", False, '{"k": []}', None),
    ]


def test_a_mixed_column_is_text_and_no_digit_of_a_long_integer_is_lost(
    store: SelectingStore,
) -> None:
    mixture: list[object] = ["x", 5, 0.1, True, None, [1], 10**40, 1e300]
    put(store, "t", *({"id": n, "m": m} for n, m in enumerate(mixture)))
    said = [row["m"] for row in ask(store, "SELECT m FROM t ORDER BY id")]
    digits = "1" + "0" * 40
    assert said == ["x", "5", "0.1", "true", None, "[1]", digits, text(1e300)]


def test_the_id_is_the_payloads_own_or_else_that_of_the_urn(store: SelectingStore) -> None:
    put(store, "t", {"id": 7}, {"id": "a/b é"})
    put(store, "u", {"id": 7})
    edge = link("urn:reddb:row:t/7", "x", "urn:reddb:row:u/7")
    bare = Entity("urn:reddb:document:d/p%2F1#c", '{"text":"x"}')
    store.put([edge, bare], ME)
    assert [row["id"] for row in ask(store, "SELECT id FROM t")] == ["7", "a/b é"]  # mixed
    assert ask(store, "SELECT id FROM u") == [{"id": 7}]
    assert ask(store, "SELECT id FROM d") == [{"id": "p/1"}]
    assert ask(store, "SELECT id, label FROM links") == [
        {"id": edge.urn.rpartition("/")[2], "label": "x"}
    ]


def test_names_are_told_apart_by_case_and_folded_when_they_are_not_quoted(
    store: SelectingStore,
) -> None:
    put(store, "t", {"id": 1, "ID": 2, "Name": 3, "name": 4, "NAME": 5, "urn": 7})
    assert ask(store, "SELECT * FROM t") == [
        {"id": 1, "urn": "urn:reddb:row:t/1", "ID": 2, "NAME": 5, "Name": 3, "name": 4, "urn_2": 7}
    ]
    assert ask(store, 'SELECT ID, NAME, "NAME" FROM T') == [{"id": 1, "name": 4, "NAME": 5}]
    assert ask(store, 'SELECT a.id, b.id, 1 AS "ID" FROM t a, t b') == [
        {"id": 1, "id_2": 1, "ID": 1}
    ]
    put(store, "u", {"id": 1, "TRUE": 2, "False": 3, "null": 4})
    assert ask(store, 'SELECT "TRUE", "False", "null" FROM u') == [
        {"TRUE": 2, "False": 3, "null": 4}
    ]


@pytest.mark.parametrize(
    "key", [*ODD_KEYS, "$", "[0]", "a[0]", "#", "\u2028", "😀", "\x01", '"', "\\"]
)
@pytest.mark.parametrize("value", [1, 10**30, "x", None, [1], True, 0.5])
def test_any_key_is_a_column(store: SelectingStore, key: str, value: object) -> None:
    put(store, "t", {"id": 1, key: value}, {"id": 2, key[::-1] + "2": "other"})
    quoted = '"' + key.replace('"', '""') + '"'
    wanted = Decimal(str(value)) if isinstance(value, float) else value
    assert ask(store, f"SELECT {quoted} FROM t WHERE id = 1") == [{key: wanted}]
    assert ask(store, "SELECT * FROM t WHERE id = 1")[0][key] == wanted


def test_an_empty_key_and_one_called_rowid_are_columns_too(store: SelectingStore) -> None:
    store.put([Entity("urn:reddb:row:t/1", '{"":5,"ROWID":6,"oid":7,"rowid":8}')], ME)
    found = store.selector.select("SELECT * FROM t", (), ME)
    assert len(found.columns) == 6
    assert sorted(value for value in found.rows[0] if isinstance(value, int)) == [1, 5, 6, 7, 8]
    assert ask(store, 'SELECT rowid, oid, "ROWID" FROM t a') == [{"rowid": 8, "oid": 7, "ROWID": 6}]


def test_all_kinds_of_a_collection_are_its_rows_in_the_order_of_their_urns(
    store: SelectingStore,
) -> None:
    put(store, "t", {"id": 2}, {"id": 1})
    put(store, "t", {"id": 9}, kind=Kind.KV)
    put(store, "t", {"id": 3}, kind=Kind.DOCUMENT)
    said = [row["urn"] for row in ask(store, "SELECT urn FROM t")]
    assert said == sorted(said)
    assert len(said) == 4
    assert ask(store, "SELECT string_agg(id::text, ',') AS ids FROM t") == [{"ids": "3,9,1,2"}]


def test_what_was_deleted_is_gone_with_its_columns(store: SelectingStore) -> None:
    put(store, "t", {"id": 1}, {"id": 2, "extra": 1})
    store.delete(["urn:reddb:row:t/2"], ME)
    assert ask(store, "SELECT * FROM t") == [{"id": 1, "urn": "urn:reddb:row:t/1"}]
    store.delete(["urn:reddb:row:t/1"], ME)
    with pytest.raises(SqlError, match='relation "t" does not exist'):
        ask(store, "SELECT * FROM t")


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT count(*) AS n, sum(price) AS s, avg(id) AS a FROM t",
         [[4, Decimal("10.0"), Decimal("2.5000000000000000")]]),
        ("SELECT t.name, u.note FROM t JOIN u ON u.of = t.id ORDER BY 2", [["b", "x"], ["b", "y"]]),
        ("SELECT name FROM t LEFT JOIN u ON u.of = t.id WHERE u.id IS NULL ORDER BY 1",
         [["a"], ["c"], ["d"]]),
        ("SELECT name FROM t WHERE id IN (SELECT of FROM u)", [["b"]]),
        ("SELECT name FROM t WHERE EXISTS (SELECT 1 FROM u WHERE of = t.id)", [["b"]]),
        ("WITH c AS (SELECT id FROM t WHERE price > 2) SELECT count(*) FROM c", [[2]]),
        ("WITH t AS (SELECT 1 AS one) SELECT t.one, u.of FROM t, u", [[1, 2], [1, 2]]),
        ("WITH entities AS (SELECT 5 AS a) SELECT count(*), max(a) FROM entities", [[1, 5]]),
        (
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 4)"
            " SELECT string_agg(n::text, ',' ORDER BY n) FROM c",
            [["1,2,3,4"]],
        ),
        (
            "SELECT name, row_number() OVER (ORDER BY price DESC) FROM t ORDER BY 2 LIMIT 2",
            [["d", 1], ["c", 2]],
        ),
        ("SELECT name FROM t WHERE id < 3 EXCEPT SELECT 'a'", [["b"]]),
        ("SELECT note FROM u UNION SELECT name FROM t WHERE id = 1 ORDER BY 1",
         [["a"], ["x"], ["y"]]),
        ("SELECT unnest(tags) FROM t WHERE t.id = 1", [["p"], ["q"]]),
        ("SELECT value FROM jsonb_array_elements_text('[1,2]')", [["1"], ["2"]]),
        ("SELECT (SELECT max(price) FROM t) - price FROM t WHERE id = 1", [[Decimal("3.0")]]),
        ("SELECT CASE WHEN price > 3 THEN 'dear' ELSE 'cheap' END FROM t WHERE id = 4", [["dear"]]),
        ("select T.NAME from t AS T where T.Id = 1;", [["a"]]),
        ("SELECT tags[2] FROM t WHERE id = 1", [["q"]]),
        ("SELECT 1 -- a comment\n /* another */ AS one", [[1]]),
        ("SELECT name FROM t WHERE id = '1'", [["a"]]),
        ("SELECT name FROM t WHERE name LIKE 'A%'", []),
        ('SELECT "name" FROM public."t" WHERE id = 1', [["a"]]),
    ],
)  # fmt: skip
def test_sql_works(store: SelectingStore, sql: str, rows: list[list[object]]) -> None:
    prices: list[float] = [1, 2, 3, 4.0]
    put(
        store,
        "t",
        *({"id": n, "name": "abcd"[n - 1], "price": prices[n - 1]} for n in range(2, 5)),
        {"id": 1, "name": "a", "price": 1, "tags": ["p", "q"]},
    )
    put(store, "u", {"id": 1, "of": 2, "note": "y"}, {"id": 2, "of": 2, "note": "x"})
    assert [list(row.values()) for row in ask(store, sql)] == rows


def test_a_column_is_called_as_postgresql_calls_it(store: SelectingStore) -> None:
    put(store, "t", {"id": 1, "a b": 2})
    sql = "SELECT count(*), 1 + 1, upper('a'), \"a b\", CASE WHEN TRUE THEN 1 END FROM t GROUP BY 4"
    found = store.selector.select(sql, (), ME)
    assert [name for name, _ in found.columns] == ["count", "?column?", "upper", "a b", "case"]


def test_parameters_are_bound_by_number(store: SelectingStore) -> None:
    assert ask(store, "SELECT $1 AS a, $2::int AS b", "x", None) == [{"a": "x", "b": None}]
    assert ask(store, "SELECT $2::bool AS a, $1::numeric AS b, $2 AS c", 1.5, True) == [
        {"a": True, "b": Decimal("1.5"), "c": True}
    ]
    assert ask(store, "SELECT '$2' AS a, $1 AS b", "'; DROP") == [{"a": "$2", "b": "'; DROP"}]
    assert ask(store, "SELECT $1::int + 1 AS a", "41") == [{"a": 42}]


@pytest.mark.parametrize(
    ("sql", "params", "why"),
    [
        ("SELECT $1", (), "1 parameters?, and 0 values|parameter"),
        ("SELECT 1", (1,), "0 parameters?, and 1 values|parameter"),
        ("SELECT :a", (1,), "syntax error"),
        ("SELECT $a", (1,), "syntax error"),
        ("SELECT $1::int8", (2**63,), "out of range"),
        ("SELECT $1::int", ("abc",), "invalid input syntax for type integer"),
        ("SELECT $1::int", (b"x",), "bytes"),
        ("SELECT $1::int", ([1],), "list"),
        ("SELECT $1", ("\ud800",), "lone surrogate|UTF8"),
        ("SELECT 1", "x", "are a list"),
        ("SELECT 1", {"a": 1}, "are a list"),
    ],
)
def test_a_bad_parameter_is_named(store: SelectingStore, sql: str, params: Any, why: str) -> None:
    with pytest.raises(BadAsk, match=why):
        store.select(sql, params, ME)
