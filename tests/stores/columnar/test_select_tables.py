"""A collection as a table: which columns, which values, in which order."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from guarded import ODD_KEYS
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from redask.stores.sqlite.select.views import TAKEN, named_apart
from selecting_store import SelectingStore

from redask.core.errors import BadAsk, BadStatement
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
    assert ask(store, "SELECT i, r, typeof(r) AS k, t, b, j, n FROM t") == [
        {
            "i": 2**63 - 1,
            "r": 1.0,
            "k": "real",
            "t": "é",
            "b": 1,
            "j": '[1,{"a":"é"}]',
            "n": None,
        },
        {"i": -(2**63), "r": 0.5, "k": "real", "t": "", "b": 0, "j": '{"k":[]}', "n": None},
    ]


def test_a_mixed_column_is_text_and_no_digit_of_a_long_integer_is_lost(
    store: SelectingStore,
) -> None:
    mixture: list[object] = ["x", 5, 0.1, True, None, [1], 10**40, 1e300]
    put(store, "t", *({"id": n, "m": m} for n, m in enumerate(mixture)))
    said = [row["m"] for row in ask(store, "SELECT m FROM t")]
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


def test_names_that_sql_does_not_tell_apart_are_numbered(store: SelectingStore) -> None:
    put(store, "t", {"id": 1, "ID": 2, "Name": 3, "name": 4, "NAME": 5, "name_2": 6, "urn": 7})
    assert ask(store, "SELECT * FROM t") == [
        {
            "id": 1,
            "urn": "urn:reddb:row:t/1",
            "ID_2": 2,
            "NAME": 5,
            "Name_3": 3,
            "name_4": 4,
            "name_2": 6,
            "urn_2": 7,
        }
    ]
    assert ask(store, 'SELECT a.id, b.id, 1 AS "ID" FROM t a, t b') == [
        {"id": 1, "id_2": 1, "ID_3": 1}
    ]
    put(store, "u", {"id": 1, "TRUE": 2, "False": 3, "null": 4})
    assert ask(store, 'SELECT "true_2", False_2, "null" FROM u') == [
        {"TRUE_2": 2, "False_2": 3, "null": 4}
    ]
    assert named_apart(["é", "É", "a", "A"]) == ["é", "É", "a", "A_2"]


@pytest.mark.parametrize(
    "key", [*ODD_KEYS, "$", "[0]", "a[0]", "#", "\u2028", "😀", "\x01", '"', "\\"]
)
@pytest.mark.parametrize("value", [1, 10**30, "x", None, [1], True, 0.5])
def test_any_key_is_a_column(store: SelectingStore, key: str, value: object) -> None:
    put(store, "t", {"id": 1, key: value}, {"id": 2, key[::-1] + "2": "other"})
    quoted = '"' + key.replace('"', '""') + '"'
    wanted = value if isinstance(value, str | None) or value in (1, True, 0.5) else text(value)
    assert ask(store, f"SELECT {quoted} FROM t WHERE id = 1") == [{key: wanted}]
    assert ask(store, "SELECT * FROM t WHERE id = 1")[0][key] == wanted


def test_an_empty_key_and_one_called_rowid_are_columns_too(store: SelectingStore) -> None:
    store.put([Entity("urn:reddb:row:t/1", '{"":5,"ROWID":6,"oid":7}')], ME)
    assert ask(store, "SELECT * FROM t") == [
        {"id": "1", "urn": "urn:reddb:row:t/1", "": 5, "ROWID": 6, "oid": 7}
    ]
    assert ask(store, "SELECT rowid, oid FROM t a") == [{"ROWID": 6, "oid": 7}]
    assert ask(store, "SELECT a.* FROM t a JOIN t b USING (urn)")[0][""] == 5


def test_all_kinds_of_a_collection_are_its_rows_in_the_order_of_their_urns(
    store: SelectingStore,
) -> None:
    put(store, "t", {"id": 2}, {"id": 1})
    put(store, "t", {"id": 9}, kind=Kind.KV)
    put(store, "t", {"id": 3}, kind=Kind.DOCUMENT)
    said = [row["urn"] for row in ask(store, "SELECT urn FROM t")]
    assert said == sorted(said)
    assert len(said) == 4
    assert ask(store, "SELECT group_concat(id) AS all_ids FROM t") == [{"all_ids": "3,9,1,2"}]


def test_what_was_deleted_is_gone_with_its_columns(store: SelectingStore) -> None:
    put(store, "t", {"id": 1}, {"id": 2, "extra": 1})
    store.delete(["urn:reddb:row:t/2"], ME)
    assert ask(store, "SELECT * FROM t") == [{"id": 1, "urn": "urn:reddb:row:t/1"}]
    store.delete(["urn:reddb:row:t/1"], ME)
    with pytest.raises(BadStatement, match="found 't'"):
        ask(store, "SELECT * FROM t")


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT count(*) AS n, sum(price) AS s, avg(price) AS a FROM t", [[4, 10.0, 2.5]]),
        ("SELECT t.name, u.note FROM t JOIN u ON u.of = t.id ORDER BY 2", [["b", "x"], ["b", "y"]]),
        ("SELECT name FROM t LEFT JOIN u ON u.of = t.id WHERE u.id IS NULL", [["a"], ["c"], ["d"]]),
        ("SELECT name FROM t WHERE id IN (SELECT of FROM u)", [["b"]]),
        ("SELECT name FROM t WHERE EXISTS (SELECT 1 FROM u WHERE of = t.id)", [["b"]]),
        ("WITH c AS (SELECT id FROM t WHERE price > 2) SELECT count(*) FROM c", [[2]]),
        ("WITH t AS (SELECT 1 AS one) SELECT t.one, u.of FROM t, u", [[1, 2], [1, 2]]),
        ("WITH entities AS (SELECT 5 AS a) SELECT count(*), max(a) FROM entities", [[1, 5]]),
        (
            "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 4)"
            " SELECT group_concat(n) FROM c",
            [["1,2,3,4"]],
        ),
        (
            "SELECT name, row_number() OVER (ORDER BY price DESC) FROM t LIMIT 2",
            [["d", 1], ["c", 2]],
        ),
        ("SELECT name FROM t WHERE id < 3 EXCEPT SELECT 'a'", [["b"]]),
        ("SELECT note FROM u UNION SELECT name FROM t WHERE id = 1", [["a"], ["x"], ["y"]]),
        ("SELECT j.value FROM t, json_each(t.tags) AS j WHERE t.id = 1", [["p"], ["q"]]),
        ("SELECT value FROM json_each('[1,2]')", [[1], [2]]),
        ("SELECT (SELECT max(price) FROM t) - price FROM t WHERE id = 1", [[3.0]]),
        ("SELECT CASE WHEN price > 3 THEN 'dear' ELSE 'cheap' END FROM t WHERE id = 4", [["dear"]]),
        ("select T.NAME from t AS T where T.Id = 1;", [["a"]]),
        ("SELECT tags ->> 1 FROM t WHERE id = 1", [["q"]]),
        ("SELECT printf('%.1f|%03d', price, id) FROM t WHERE id = 1", [["1.0|001"]]),
        ("SELECT trim('xxaxx', 'x'), ltrim('xa','x'), rtrim('ax','x'), trim(' a ')", [["a"] * 4]),
        ("SELECT replace('aXbX','X','-'), replace('a','',1)", [["a-b-", "a"]]),
        ("SELECT replace('a',NULL,1), trim(NULL,'a')", [[None, None]]),
        ("SELECT instr('añb','b'), instr(1.5,'.'), instr('a','z')", [[3, 2, 0]]),
        ("SELECT 1 -- a comment\n /* another */ AS one", [[1]]),
        ("SELECT [name], `price` FROM [t] LIMIT 1", [["a", 1.0]]),
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


def test_a_column_is_called_what_the_user_wrote(store: SelectingStore) -> None:
    put(store, "t", {"id": 1, "a b": 2})
    written = '(SELECT count(*) FROM t WHERE "a b" = ?)'
    assert ask(store, f"WITH c AS (SELECT 1) SELECT {written} FROM c", 2) == [{written: 1}]


def test_parameters_are_bound_by_place_or_number(store: SelectingStore) -> None:
    assert ask(store, "SELECT ? AS a, ? AS b", "x", None) == [{"a": "x", "b": None}]
    assert ask(store, "SELECT $2 AS a, $1 AS b, $2 AS c", 1.5, True) == [{"a": 1, "b": 1.5, "c": 1}]
    assert ask(store, "SELECT '?' AS a, ? AS b", "'; DROP") == [{"a": "?", "b": "'; DROP"}]


@pytest.mark.parametrize(
    ("sql", "params", "why"),
    [
        ("SELECT ?", (), "has 1 parameters, and 0 values"),
        ("SELECT 1", (1,), "has 0 parameters, and 1 values"),
        ("SELECT ?, $1", (1,), "either"),
        ("SELECT :a", (1,), "found ':a'"),
        ("SELECT @a", (1,), "found '@a'"),
        ("SELECT $a", (1,), r"found '\$a'"),
        ("SELECT $9999", (), "at most 1000"),
        ("SELECT ?", (2**63,), "parameter 1 of the SELECT is beyond 64 bits"),
        ("SELECT ?", (float("nan"),), "no finite number"),
        ("SELECT ?", (b"x",), "is bytes"),
        ("SELECT ?", ([1],), "is list"),
        ("SELECT ?", ("\ud800",), "lone surrogate"),
        ("SELECT ?", ("x" * 10_000_000,), "too long"),
        ("SELECT 1", "x", "are a list"),
        ("SELECT 1", {"a": 1}, "are a list"),
    ],
)
def test_a_bad_parameter_is_named(store: SelectingStore, sql: str, params: Any, why: str) -> None:
    with pytest.raises(BadAsk, match=why):
        store.select(sql, params, ME)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(max_size=5)
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=2)
    | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)  # fmt: skip
_TEXTS = st.sampled_from(["true", "FALSE", "null", "Id", "rowid", "oid", "key", "e"]) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=6
)


@hypothesis_settings(max_examples=25)
@given(st.lists(st.dictionaries(_TEXTS, _VALUES, max_size=4), min_size=1, max_size=4))
def test_every_value_is_the_one_that_was_written(
    tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, Any]]
) -> None:
    made = []
    for number, row in enumerate(rows):
        payload = text({key: value for key, value in row.items() if key != "id"})
        if "\\u0000" not in payload:
            made.append(Entity(f"urn:reddb:row:t/{number}", payload))
    with SelectingStore(tmp_path_factory.mktemp("t")) as store:
        store.put(made, ME)
        if not made:
            return
        types = {column.name: column.type for column in store.columns("t", ME)}
        names = named_apart(sorted(types), TAKEN)
        plain = store.select("SELECT * FROM t", (), ME)
        copied = store.select("SELECT a.* FROM t a JOIN t b USING (urn)", (), ME)
        assert plain == copied
        for row, entity in zip(plain, made, strict=True):
            content = json.loads(entity.payload)
            for key, name in zip(sorted(types), names, strict=True):
                assert row[name] == _wanted(content.get(key), types[key]), key


def _wanted(value: Any, kind: str) -> object:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, list | dict) or kind == "text":
        return text(value)
    return value
