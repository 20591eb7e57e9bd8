"""The schema and the values that a caller may plan with: counted in the caller's own tables."""

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from filing import database

import redask
from redask.core.model import Caller
from redask.core.planning.plan_schema import (
    ForeignKey,
    PlanColumn,
    PlanSchema,
    PlanTable,
    StoredValue,
)
from redask.stores.columnar.generations import open_generation
from redask.stores.columnar.plan_facts import plan_tables, table_facts, value_hashes
from redask.stores.columnar.selector import ColumnarSelector

ME = Caller()
SHOP = (
    "CREATE TABLE artist (ArtistId INTEGER PRIMARY KEY, Name TEXT)",
    "CREATE TABLE album (AlbumId INTEGER PRIMARY KEY, Title TEXT, artist INTEGER,"
    " FOREIGN KEY (artist) REFERENCES ARTIST (artistid))",
    "CREATE TABLE play (album_id INTEGER, nth INTEGER, PRIMARY KEY (nth, album_id))",
    "INSERT INTO artist VALUES (1, 'AC/DC'), (2, 'Aerosmith')",
    "INSERT INTO album VALUES (7, 'Let There-Be Rock', 1), (8, 'Big Ones ', 2), (9, NULL, 2)",
    "INSERT INTO play VALUES (7, 1), (8, 1), (7, 2)",
)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[redask.OpenDatabase]:
    with redask.open(tmp_path / "db") as opened:
        yield opened


@pytest.fixture
def selector(db: redask.OpenDatabase, tmp_path: Path) -> Iterator[ColumnarSelector]:
    db.put("none", [{"id": 1}], wait=False)  # there is a database now
    made = ColumnarSelector(str(tmp_path / "db"))
    yield made
    made.close()


def table(schema: PlanSchema, name: str) -> PlanTable:
    return next(each for each in schema.tables if each.name == name)


def test_tables_columns_counts_and_declared_keys(
    db: redask.OpenDatabase, selector: ColumnarSelector, tmp_path: Path
) -> None:
    db.ingest(database(tmp_path / "shop.sqlite", *SHOP), wait=False)
    schema = selector.plan_schema(ME)
    assert [each.name for each in schema.tables] == ["album", "artist", "none", "play"]
    assert table(schema, "album") == PlanTable(
        "album",
        (
            PlanColumn("AlbumId", "int4", 3, 0),
            PlanColumn("Title", "text", 2, 1),
            PlanColumn("artist", "int4", 2, 0),
        ),
        ("AlbumId",),
        3,
    )
    assert table(schema, "play").primary_key == ("nth", "album_id")
    assert schema.keys == (
        ForeignKey("album", ("artist",), "artist", ("ArtistId",)),
        ForeignKey("play", ("album_id",), "album", ("AlbumId",), declared=False),
    )


def test_values_are_found_in_other_spellings(
    db: redask.OpenDatabase, selector: ColumnarSelector, tmp_path: Path
) -> None:
    db.ingest(database(tmp_path / "shop.sqlite", *SHOP), wait=False)
    found = selector.find_values(["let there be rock", "ac/dc", "BIG ONES", "rock", ""], ME)
    assert found == {
        "let there be rock": (StoredValue("album", "Title", "Let There-Be Rock"),),
        "ac/dc": (StoredValue("artist", "Name", "AC/DC"),),
        "BIG ONES": (StoredValue("album", "Title", "Big Ones "),),
    }
    assert selector.find_values([], ME) == {}


def test_the_same_value_is_told_for_each_column_and_spelling(
    db: redask.OpenDatabase, selector: ColumnarSelector
) -> None:
    db.put("a", [{"id": 1, "x": "New York", "y": "new-york"}, {"id": 2, "x": "NEW YORK"}])
    db.put("b", [{"id": "new york", "long": "new york" + " " * 100}])
    assert selector.find_values(["new york", "New York"], ME) == dict.fromkeys(
        ["new york", "New York"],
        (
            StoredValue("a", "x", "NEW YORK"),
            StoredValue("a", "x", "New York"),
            StoredValue("a", "y", "new-york"),
            StoredValue("b", "id", "new york"),
        ),
    )


def test_an_id_that_no_row_has_itself_is_not_a_column(
    db: redask.OpenDatabase, selector: ColumnarSelector, tmp_path: Path
) -> None:
    db.ingest(database(tmp_path / "shop.sqlite", *SHOP), wait=False)
    schema = selector.plan_schema(ME)
    assert [each.name for each in table(schema, "artist").columns] == ["ArtistId", "Name"]
    assert [each.name for each in table(schema, "none").columns] == ["id"]
    assert table(schema, "none").primary_key == ("id",)


def test_writes_are_counted_and_found_at_once(
    db: redask.OpenDatabase, selector: ColumnarSelector
) -> None:
    (urn, _) = db.put("pets", [{"id": 1, "name": "Rex"}, {"id": 2, "name": "Rex"}], wait=False)
    assert table(selector.plan_schema(ME), "pets").columns[1] == PlanColumn("name", "text", 1, 0)
    db.put("pets", [{"id": 2, "name": "Tom"}, {"id": 3}], wait=False)
    pets = table(selector.plan_schema(ME), "pets")
    assert (pets.rows, pets.columns[1]) == (3, PlanColumn("name", "text", 2, 1))
    assert selector.find_values(["tom"], ME) == {"tom": (StoredValue("pets", "name", "Tom"),)}
    db.delete(urn)
    assert selector.find_values(["rex"], ME) == {}
    assert table(selector.plan_schema(ME), "pets").columns[1] == PlanColumn("name", "text", 1, 1)


def test_a_column_that_cannot_be_read_is_left_out(
    db: redask.OpenDatabase, selector: ColumnarSelector
) -> None:
    db.put("pets", [{"id": 1, "age": 3}], wait=False)
    selector.fix_type("pets.age", "int4", ME)
    assert [each.name for each in table(selector.plan_schema(ME), "pets").columns] == ["id", "age"]
    db.put("pets", [{"id": 2, "age": "old"}], wait=False)
    assert [each.name for each in table(selector.plan_schema(ME), "pets").columns] == ["id"]


def test_a_reference_with_a_value_that_is_not_there_is_none(
    db: redask.OpenDatabase, selector: ColumnarSelector
) -> None:
    db.put("owner", [{"id": 1}, {"id": 2}], wait=False)
    db.put("pet", [{"id": "a", "owner_id": 1}, {"id": "b", "owner_id": None}], wait=False)
    key = ForeignKey("pet", ("owner_id",), "owner", ("id",), declared=False)
    assert selector.plan_schema(ME).keys == (key,)
    db.put("pet", [{"id": "c", "owner_id": 9}], wait=False)
    assert selector.plan_schema(ME).keys == ()


def test_what_is_only_searched_is_not_planned_with(
    db: redask.OpenDatabase, selector: ColumnarSelector
) -> None:
    one, two = db.put("pets", [{"id": 1}, {"id": 2}], wait=False)
    db.link(one, "knows", two)
    db.put("pages", [{"id": 1, "title": "Pets"}], kind="document", wait=False)
    assert [each.name for each in selector.plan_schema(ME).tables] == ["none", "pets"]
    assert selector.find_values(["knows", "pets"], ME) == {}
    db.put("pages", [{"id": 2, "title": "Pets"}], wait=False)  # a row among documents
    assert table(selector.plan_schema(ME), "pages").rows == 2
    assert len(selector.find_values(["knows", "pets"], ME)) == 1
    db.delete("urn:reddb:row:pages/2")
    assert [each.name for each in selector.plan_schema(ME).tables] == ["none", "pets"]


def test_what_was_counted_is_kept_while_the_rows_are_the_same(
    db: redask.OpenDatabase, selector: ColumnarSelector, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[str] = []
    real = table_facts.read_facts

    def counting(*arguments: object, **named: object) -> object:
        counted.append(str(arguments[1]))
        return real(*arguments, **named)  # type: ignore[arg-type]  # passed on as it came

    monkeypatch.setattr(plan_tables, "read_facts", counting)
    db.put("pets", [{"id": 1, "name": "Rex"}], wait=False)
    first = selector.plan_schema(ME)
    assert len(counted) == 2
    assert selector.plan_schema(ME) is first
    assert selector.find_values(["rex"], ME)
    assert len(counted) == 2
    db.put("pets", [{"id": 2, "name": "Tom"}], wait=False)
    assert selector.find_values(["tom"], ME)
    assert len(counted) == 2  # one row was, and the other table is as it was
    db.put("pets", [{"id": 3, "kind": "dog"}], wait=False)
    assert selector.find_values(["dog"], ME)
    assert len(counted) == 3  # it has other columns now


@pytest.mark.parametrize("seed", range(4))
def test_counting_what_changed_gives_what_counting_everything_gives(
    db: redask.OpenDatabase, selector: ColumnarSelector, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    words = ["a", "A-b", "a b", "c ", "", "é", None]
    rules = {"roles": ["reader"], "rows": "group = 1", "hide": ["secret"]}
    if seed % 2:
        db.set_policy("t", {"read": [rules]})
    urns: list[str] = []
    for _ in range(12):
        rows = [
            {
                "id": rng.randrange(15),
                "group": rng.randrange(2),
                "word": rng.choice(words),
                "other": rng.choice(words),
                "secret": rng.choice(words),
                "number": rng.choice([None, 1, 2, 2.5]),
                "list": rng.choice([None, [], ["a"], ["a", "b"]]),
            }
            for _ in range(rng.randrange(1, 4))
        ]
        urns += db.put("t", list({row["id"]: row for row in rows}.values()), wait=False)
        if rng.random() < 0.5:
            db.delete(rng.choice(urns))
        with closing(ColumnarSelector(str(tmp_path / "db"))) as anew:
            for caller in (ME, Caller("local", "ada", "reader")):
                wanted = [each for each in words if each]
                assert selector.plan_schema(caller) == anew.plan_schema(caller)
                assert selector.find_values(wanted, caller) == anew.find_values(wanted, caller)


def test_many_changes_are_counted_anew(
    db: redask.OpenDatabase, selector: ColumnarSelector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_generation, "MAX_DIFFERENCE", 1)
    monkeypatch.setattr(value_hashes, "MAX_CHANGED", 2)
    db.put("pets", [{"id": 1, "name": "Rex"}], wait=False)
    assert selector.find_values(["rex"], ME)
    db.put("pets", [{"id": n, "name": f"Tom {n}"} for n in range(5)], wait=False)
    assert len(selector.find_values(["tom 1", "tom 4", "rex"], ME)) == 2
    for number in range(5, 9):
        db.put("pets", [{"id": number, "name": f"Tom {number}"}], wait=False)
        assert len(selector.find_values([f"tom {n}" for n in range(9)], ME)) == number + 1


def test_no_more_is_kept_than_a_bound(
    db: redask.OpenDatabase, selector: ColumnarSelector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plan_tables, "MAX_BYTES", 1)
    for number in range(3):
        db.put(f"t{number}", [{"id": f"value {number}"}], wait=False)
    assert len(selector.plan_schema(ME).tables) == 4
    assert len(selector.find_values(["value 0", "value 2"], ME)) == 2
