"""Collections as typed tables: what the store shows, typed, in the order of URNs."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from columnar_reading import expected, expected_table, read_all, read_table
from guarded import OWNER, READER, build
from memory_backend.database import MemoryBackend

from redask.core.errors import Denied
from redask.core.model import Caller, Kind
from redask.stores.columnar.json_columns import jsonb_text, plain_text
from redask.stores.columnar.projection import ColumnarProjection
from redask.stores.entity_rows import entities, link

ME = Caller()
ROWS: list[dict[str, object]] = [
    {
        "id": number,
        "big": 10**20 + number,
        "amount": number / 100,
        "double": 0.1 * 3 + number,
        "large": 1e15 + number,
        "day": f"2021-01-{number + 1:02}",
        "moment": f"2021-01-01T00:00:0{number}.25",
        "instant": f"2021-01-01T00:00:00+0{number}:30",
        "instants": [f"2021-01-01T00:00:00-0{number}:30", None],
        "clock": f"00:00:0{number}",
        "key": f"550e8400-e29b-41d4-a716-44665544000{number}",
        "money": f"{number}.50",
        "code": f"00{number}",
        "flag": number % 2 == 0,
        "list": [number, None],
        "cents": [0.25, number],
        "days": ["2021-01-01"],
        "words": ["a,b", "", 'q"', "null", "[1]"],
        "tree": {"bb": [number], "a": 1e20},
        "odd": [1, "null", None, {"b": 1, "a": 1e16}, "x", 2.50][number],
        "nested": [[number], [], None, [{"x": None}], [], ["null"]][number],
        "gone": None,
        "Name": "upper",
        "name": "lower",
        "urn": "mine",
        "a/b~c'd\"e": number,
        "*": "star",
        "$.x": "dollar",
        "ü" * 60: "long",
    }
    for number in range(6)
]


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[MemoryBackend]:
    opened = MemoryBackend(f"memory:/{tmp_path}")
    yield opened
    assert opened.store.check() == []


@pytest.fixture
def projection(backend: MemoryBackend, tmp_path: Path) -> Iterator[ColumnarProjection]:
    opened = ColumnarProjection(tmp_path, backend.store, backend.audit)
    yield opened
    opened.close()


def test_every_type_is_read_as_it_was_written(
    backend: MemoryBackend, projection: ColumnarProjection
) -> None:
    backend.store.put(entities("things", ROWS), ME)
    table = read_table(projection, "things", ME)
    assert table == expected_table(backend.store, "things", ME)
    types = dict(table[0])
    assert (types["amount"], types["large"]) == ("numeric(18,2)", "float8")
    assert (types["odd"], types["nested"], types["instants"]) == ("text", "jsonb", "timestamptz[]")


def test_an_entity_without_an_id_has_that_of_its_urn(
    backend: MemoryBackend, projection: ColumnarProjection
) -> None:
    backend.store.put(entities("notes", [{"text": "a"}, {"text": "b"}]), ME)
    columns, rows = read_table(projection, "notes", ME)
    assert columns[0] == ("id", "text")
    assert all(str(urn).endswith(f"/{own}") for own, urn, *_ in rows)
    assert (columns, rows) == expected_table(backend.store, "notes", ME)


def test_a_type_widens_and_narrows_with_the_rows(
    backend: MemoryBackend, projection: ColumnarProjection
) -> None:
    def kind() -> str:
        return dict(read_table(projection, "t", ME)[0])["x"]

    backend.store.put(entities("t", [{"id": 1, "x": 1}]), ME)
    assert kind() == "int4"
    backend.store.put(entities("t", [{"id": 2, "x": 2**40}]), ME)
    assert kind() == "int8"
    backend.store.put(entities("t", [{"id": 3, "x": "a"}]), ME)
    assert kind() == "text"
    assert [row[2] for row in read_table(projection, "t", ME)[1]] == ["1", str(2**40), "a"]
    backend.store.delete(["urn:reddb:row:t/3", "urn:reddb:row:t/2"], ME)
    assert kind() == "int4"


def test_what_is_not_there_is_unknown_and_a_language_makes_it_known(
    backend: MemoryBackend, projection: ColumnarProjection
) -> None:
    backend.store.put(entities("t", [{"id": 1}]), ME)
    backend.store.set_language("empty", "en", ME)
    with projection.reading(ME) as tables:
        assert tables.names() == ["empty", "red_ask_audit", "t"]
        assert tables.columns("nosuch") is None
        assert tables.columns("red_columns") is None
        assert tables.columns("T") is None
        shape = tables.columns("empty")
        assert shape is not None
        assert [(name, str(kind)) for name, kind, _ in shape] == [("id", "text"), ("urn", "text")]
        found = tables.cursor.execute(f"SELECT * FROM {tables.physical('empty')}").fetchall()
        assert found == []
    backend.store.delete(["urn:reddb:row:t/1"], ME)
    with projection.reading(ME) as tables:
        assert tables.names() == ["empty", "red_ask_audit"]


def test_a_long_collection_name_is_cut(
    backend: MemoryBackend, projection: ColumnarProjection
) -> None:
    backend.store.put(entities("c" * 100, [{"id": 1}]), ME)
    with projection.reading(ME) as tables:
        (name,) = set(tables.names()) - {"red_ask_audit"}
        assert len(name) == 63
        assert tables.columns(name) is not None
        assert tables.columns("c" * 100) is None


def test_policies_decide_over_rows_columns_and_types(
    backend: MemoryBackend, projection: ColumnarProjection
) -> None:
    reader = Caller("local", "ada", "reader")
    rows = [
        {"id": 1, "region": "eu", "n": 1, "pay": 5, "mail": "a@b"},
        {"id": 2, "region": "us", "n": "hidden", "pay": 6, "extra": 1},
    ]
    policy = {
        "read": [
            {"roles": ["reader"], "rows": "region = 'eu'", "hide": ["pay"], "mask": ["mail"]},
        ]
    }
    backend.store.put(entities("people", rows), ME)
    backend.store.put(entities("plans", [{"id": 1}]), ME)
    backend.store.set_policy("plans", {"read": []}, ME)
    backend.store.set_policy("people", policy, ME)
    columns, found = read_table(projection, "people", reader)
    assert columns == [
        ("id", "int4"), ("urn", "text"), ("mail", "text"), ("n", "int4"), ("region", "text")
    ]  # fmt: skip
    assert found == [(1, "urn:reddb:row:people/1", "***", 1, "eu")]
    assert len(read_table(projection, "people", ME)[1]) == 2
    with projection.reading(reader) as tables:
        assert tables.names() == ["people", "red_ask_audit"]
        with pytest.raises(Denied, match="plans"):
            tables.columns("plans")
    backend.store.set_policy("people", None, ME)
    assert len(read_table(projection, "people", reader)[1]) == 2


def test_an_edge_is_read_by_those_who_read_everything_it_hangs_on(
    backend: MemoryBackend, projection: ColumnarProjection
) -> None:
    reader = Caller("local", "ada", "reader")
    store = backend.store
    store.put(entities("docs", [{"id": n, "open": n != 2} for n in range(4)]), ME)
    ends = [f"urn:reddb:row:docs/{n}" for n in range(4)]
    first, second = link(ends[0], "to", ends[1]), link(ends[1], "to", ends[2])
    store.put([first, second, link(ends[3], "on", first.urn), link(ends[3], "on", second.urn)], ME)

    def edges() -> int:
        with projection.reading(reader) as tables:
            if "links" not in tables.names():
                return 0
        table = read_table(projection, "links", reader)
        assert table == expected_table(store, "links", reader)
        return len(table[1])

    assert edges() == 4
    store.set_policy("docs", {"read": [{"roles": ["*"], "rows": "open = true"}]}, ME)
    assert edges() == 2
    store.put(entities("docs", [{"id": 2, "open": True}]), ME)
    assert edges() == 4
    store.put(entities("docs", [{"id": 0, "open": False}]), ME)
    assert edges() == 2
    store.put(entities("docs", [{"id": 1, "open": False}]), ME)
    assert edges() == 0
    store.delete([ends[2]], ME)
    store.set_policy("docs", None, ME)
    assert edges() == 2


def test_what_is_hidden_makes_no_difference(tmp_path: Path) -> None:
    seen = []
    for world in range(3):
        folder = tmp_path / str(world)
        folder.mkdir()
        store = build(folder, world)
        projection = ColumnarProjection(folder / "columnar", store)
        seen.append(read_all(projection, READER))
        for caller in (READER, OWNER):
            found = read_all(projection, caller)
            assert {name: table for name, table in found.items() if table[1]} == expected(
                store, caller
            )
        projection.close()
        store.close()
    assert seen[0] == seen[1] == seen[2]
    assert {"people", "links", "ties", "ruled"} <= seen[0].keys()


def test_tenants_are_apart(backend: MemoryBackend, projection: ColumnarProjection) -> None:
    other = Caller("other", "eve", "owner")
    backend.store.put(entities("t", [{"id": 1, "x": 1}]), ME)
    backend.store.put(entities("t", [{"id": 2, "x": "a"}], kind=Kind.NODE), other)
    assert read_table(projection, "t", ME)[1] == [(1, "urn:reddb:row:t/1", 1)]
    assert read_table(projection, "t", other)[1] == [(2, "urn:reddb:node:t/2", "a")]


def test_jsonb_is_written_as_postgresql_writes_it() -> None:
    source = (
        '{"bb":[1,2.5,1e+20,12345678901234567890123,null,true,false],"a":"x\\u0001é\\n","é":{}}'
    )
    assert jsonb_text(source) == (
        '{"a": "x\\u0001é\\n", "bb": [1, 2.5, 100000000000000000000, 12345678901234567890123,'
        ' null, true, false], "é": {}}'
    )
    assert jsonb_text('{"a":1e-7}') == '{"a": 0.0000001}'


def test_what_is_no_text_is_canonical_json_in_a_text_column() -> None:
    assert plain_text('"a b"') == "a b"
    assert plain_text('{"b":1,"a":[1e20]}') == '{"a":[1e+20],"b":1}'
    assert plain_text("true") == "true"
