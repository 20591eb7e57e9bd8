"""A hidden foreign key is hidden in every way it could be read: twins differ in nothing else.

Two databases are ingested from files that differ only in which customer an order belongs to. What
a clerk, who does not see that column, gets of the one is what the clerk gets of the other.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

import redask
from redask.app import build
from redask.core.errors import AskError
from redask.core.model import Caller
from redask.core.settings import load

SCHEMA = """
CREATE TABLE customers (no INTEGER PRIMARY KEY, name TEXT, mail TEXT UNIQUE);
CREATE TABLE orders (
    no INTEGER PRIMARY KEY, title TEXT, customer_id INTEGER REFERENCES customers (no),
    mail TEXT REFERENCES customers (mail)
);
"""
MINUTE = 60_000  # a process takes its time to start
NAMES = ("Ada Holm", "Ben Rau", "Cleo Park")
TITLES = ("blue kettle", "red lamp", "green chair", "white vase")
HIDING: list[dict[str, Any]] = [
    {"hide": ["customer_id", "mail"]},
    {"mask": ["customer_id", "mail"]},
    {"show": ["no", "title"]},
]
QUESTIONS = (
    "Which customer has the blue kettle?",
    "What did Ada Holm order?",
    "How many orders has Ben Rau?",
    "Which customers have no orders?",
    "How many orders are there?",
    "orders 1",
)
STATEMENTS = (
    "SELECT * FROM orders",
    "SELECT * FROM customers",
    "SELECT count(*) FROM links",
    "SELECT * FROM links",
    "SELECT * FROM orders JOIN customers ON orders.customer_id::text = customers.no::text",
    "SELECT table_name, column_name, data_type FROM information_schema.columns",
    "SELECT relname, reltuples FROM pg_class ORDER BY relname",
    "SELECT conname FROM pg_constraint ORDER BY conname",
)


@contextmanager
def opened(
    directory: Path, owners: tuple[int | None, ...], rule: dict[str, Any]
) -> Iterator[tuple[redask.OpenDatabase, redask.OpenDatabase]]:
    """The database of its owner, and of a clerk."""
    directory.mkdir()
    file = directory / "shop.db"
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.executescript(SCHEMA)
        customers = [(n, name, f"{n}@x.org") for n, name in enumerate(NAMES, start=1)]
        connection.executemany("INSERT INTO customers VALUES (?, ?, ?)", customers)
        orders = [
            (n, title, owner, owner and f"{owner}@x.org")
            for n, (title, owner) in enumerate(zip(TITLES, owners, strict=True), start=1)
        ]
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?)", orders)
    with redask.open(directory / "db", embedder="hashed") as db:
        db.ingest(str(file))
        db.set_policy("orders", {"read": [{"roles": ["clerk"], **rule}]})
        db.add_user("mia", role="clerk")
        yield db, db.signed_in(db.make_token("mia"))


def told(work: Any) -> object:
    try:
        return work()
    except AskError as error:
        return error.kind, error.message, error.detail


def everything(db: redask.OpenDatabase, edges: list[str]) -> list[object]:
    """All that somebody can get."""
    found: list[object] = [told(lambda s=each: list(db.select(s))) for each in STATEMENTS]
    for question in QUESTIONS:
        found.append(told(lambda q=question: db.ask(q, evidence=True).to_dict()))
        found.append(told(lambda q=question: db.ask(q, plan="off", depth=3).to_dict()))
        found.append(told(lambda q=question: db.explain(q)))
        found.append(told(lambda q=question: [(hit.urn, hit.score) for hit in db.search(q)]))
        found.append(told(lambda q=question: db.query_plan(q)))
    found += [told(lambda u=urn: db.get(u)) for urn in edges]
    return found


@pytest.mark.parametrize("rule", HIDING)
def test_twins_that_differ_in_a_hidden_foreign_key_are_alike(
    tmp_path: Path, rule: dict[str, Any]
) -> None:
    with (
        opened(tmp_path / "a", (1, 2, 2, None), rule) as (owner, first),
        opened(tmp_path / "b", (3, None, 1, 1), rule) as (other, second),
    ):
        edges = [row["urn"] for db in (owner, other) for row in db.select("SELECT urn FROM links")]
        assert len(edges) == 12
        mine, theirs = everything(first, edges), everything(second, edges)
        for number, (one, two) in enumerate(zip(mine, theirs, strict=True)):
            assert one == two, number
        assert "reddb:edge" not in json.dumps(mine, default=str)
        assert everything(owner, edges) != everything(other, edges)


@pytest.mark.parametrize("column", ["customer_id", "mail"])
def test_what_is_left_of_the_keys_stays(tmp_path: Path, column: str) -> None:
    with opened(tmp_path / "a", (1, 2, 2, None), {"hide": [column]}) as (_, clerk):
        labels = {row["label"] for row in clerk.select("SELECT label FROM links")}
        assert labels == {"customer", "mail"} - {column.removesuffix("_id")}


@pytest.mark.parametrize("key", ["hide", "mask"])
def test_hiding_a_primary_key_is_refused_with_the_reason(tmp_path: Path, key: str) -> None:
    with opened(tmp_path / "a", (1, 2, 2, None), {}) as (owner, clerk):
        before = owner.policies()
        for refuse in (
            lambda: owner.set_policy("orders", {"read": [{"roles": ["clerk"], key: ["no"]}]}),
            lambda: owner.preview_policy(
                "orders", {"read": [{"roles": ["clerk"], key: ["no"]}]}, role="clerk"
            ),
        ):
            with pytest.raises(AskError, match="no is part of the address of what 'orders' holds"):
                refuse()
        assert owner.policies() == before
        assert len(clerk.select("SELECT * FROM orders")) == 4


def test_a_column_that_comes_later_is_hidden_under_show(tmp_path: Path) -> None:
    with opened(tmp_path / "a", (1, 2, 2, None), {"show": ["no", "title"]}) as (owner, clerk):
        owner.put("orders", [{"id": 9, "no": 9, "title": "new", "margin": 40}])
        assert owner.preview_policy("orders", role="clerk")["collections"][0]["shown"] == [
            "no",
            "title",
        ]
        found = clerk.select("SELECT * FROM orders WHERE no = 9")
        assert [set(row) for row in found] == [{"id", "urn", "no", "title"}]
        assert "margin" in str(owner.select("SELECT * FROM orders WHERE no = 9"))
        assert not [hit for hit in clerk.search("40") if "margin" in hit.payload]


def test_what_has_no_policy_is_not_there_where_that_is_the_default(tmp_path: Path) -> None:
    settings = load('[access]\ndefault = "deny"\n[embedder]\nname = "none"\n', {})
    with redask.open(tmp_path / "db", settings=settings) as db:
        db.put("notes", [{"id": 1, "text": "the ferry leaves at nine"}])
        [shop] = db.put("shops", [{"id": 1, "text": "the ferry shop"}])
        db.link(shop, "is", shop)
        db.set_policy("shops", {"read": [{"roles": ["*"]}]})
        db.add_user("mia", role="clerk")
        mia = db.signed_in(db.make_token("mia"))
        assert [hit.urn for hit in mia.search("ferry")] == [shop]
        assert mia.get("urn:reddb:row:notes/1") is None
        for name in ("notes", "links", "nothing"):
            with pytest.raises(AskError, match=f'relation "{name}" does not exist'):
                mia.select(f"SELECT * FROM {name}")
        tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
        assert "notes" not in str(mia.select(tables))
        answer = mia.ask("When does the ferry leave?")
        assert [each.urn for each in answer.sources_flat] == [shop]
        assert told(lambda: mia.ask("ferry", collection="notes").to_dict()) == told(
            lambda: mia.ask("ferry", collection="nothing").to_dict()
        )
        seen = {
            each["collection"]: each["readable"]
            for each in db.preview_policy(user="mia")["collections"]
        }
        assert seen == {"links": False, "notes": False, "shops": True}
        assert len(list(db.search("ferry"))) >= 2
        db.set_policy("notes", {"read": [{"roles": ["clerk"]}]})
        assert len(mia.select("SELECT * FROM notes")) == 1


def test_the_id_of_an_edge_cannot_be_found_by_trying(tmp_path: Path) -> None:
    made = []
    for name in ("a", "b"):
        with redask.open(tmp_path / name, settings=load('[embedder]\nname = "none"\n', {})) as db:
            [note] = db.put("notes", [{"id": 1, "text": "x"}])
            made.append(db.link(note, "is", note))
            assert db.link(note, "is", note) == made[-1]
        with redask.open(tmp_path / name, settings=load("", {})) as db:
            assert db.link(note, "is", note) == made[-1]
            assert db.doctor()["warnings"] == []
    content = load('[access]\nedge_ids = "content"\n[embedder]\nname = "none"\n', {})
    for name in ("c", "d"):
        with redask.open(tmp_path / name, settings=content) as db:
            [note] = db.put("notes", [{"id": 1, "text": "x"}])
            made.append(db.link(note, "is", note))
            db.set_policy("notes", {"read": []})
            assert "can find out by trying" in str(db.doctor()["warnings"])
    assert len(set(made)) == 3
    assert made[2] == made[3]


def test_the_default_holds_in_the_processes_of_a_server(tmp_path: Path) -> None:
    settings = load('[access]\ndefault = "deny"\n[embedder]\nname = "none"\n', {})
    app = build(tmp_path / "db", settings=settings, serving=True)
    try:
        app.put("notes", [{"id": 1}], "row", Caller())
        app.put("open", [{"id": 1}], "row", Caller())
        app.set_policy("open", {"read": [{"roles": ["*"]}]}, Caller())
        reader = Caller("local", "mia", "clerk")
        assert (
            len(app.selector.select("SELECT * FROM open", (), reader, timeout_ms=MINUTE).rows) == 1
        )
        assert (
            len(app.selector.select("SELECT * FROM notes", (), Caller(), timeout_ms=MINUTE).rows)
            == 1
        )
        with pytest.raises(AskError, match='relation "notes" does not exist'):
            app.selector.select("SELECT * FROM notes", (), reader, timeout_ms=MINUTE)
    finally:
        app.close()
