"""Answers that were computed say names, the number behind the most, and the period."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import redask

REPS = [{"id": 3, "name": "Jane", "area": "open"}, {"id": 4, "name": "Secret", "area": "closed"}]
CUSTOMERS = [
    {"id": n, "name": f"N{n}", "rep_id": 3 if n < 4 else 4, "joined": f"2026-0{n}-05"}
    for n in range(1, 6)
]


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[redask.OpenDatabase]:
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as file:
        file.execute("CREATE TABLE reps (id INTEGER PRIMARY KEY, name TEXT, area TEXT)")
        file.execute(
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT,"
            " rep_id INTEGER REFERENCES reps (id), joined DATE)"
        )
        file.executemany("INSERT INTO reps VALUES (:id, :name, :area)", REPS)
        file.executemany("INSERT INTO customers VALUES (:id, :name, :rep_id, :joined)", CUSTOMERS)
        file.commit()
    with redask.open(tmp_path / "db", embedder="none") as db:
        db.ingest(tmp_path / "shop.sqlite")
        yield db


@pytest.mark.parametrize("strict", [True, "supported"])
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Which rep has the most customers?", "name: Jane, customers: 3 [^1][^2]"),
        ("Who is the rep of customer 5?", "rep: Secret [^1][^2]"),
        (
            "How many customers joined last month?",
            "count: 1, in April 2026 [^1][^2], for example [^3]",
        ),
        (
            "How many customers joined this year?",
            "count: 5, in 2026 [^1][^2], for example [^3][^4]",
        ),
    ],
)
def test_an_answer_says_more_than_the_cell_and_proves_it(
    shop: redask.OpenDatabase, question: str, answer: str, strict: object
) -> None:
    found = shop.ask(question, strict=strict)
    assert found.answer == answer
    assert (found.validation.ok, found.validation.warnings) == (True, ())


def test_the_first_source_stays_the_statement_of_the_plan(shop: redask.OpenDatabase) -> None:
    found = shop.ask("Which rep has the most customers?")
    plain, told = (json.loads(source.payload) for source in found.sources_flat)
    assert plain["sql"] == shop.explain("Which rep has the most customers?")["query"]["sql"]
    assert (plain["rows"], told["rows"]) == ([["Jane"]], [["Jane", 3]])


def test_groups_are_told_by_names_and_a_list_by_its_period(shop: redask.OpenDatabase) -> None:
    answer = shop.ask("How many customers are there for each rep id?").answer
    assert "| 3 | 3 |" in answer
    listed = shop.ask("List the names of customers that joined this year").answer
    assert listed.splitlines()[0] == "5 names, in 2026 [^1][^2]:"


def test_a_name_that_the_caller_may_not_read_is_not_told(shop: redask.OpenDatabase) -> None:
    shop.add_user("kim", role="clerk")
    shop.set_policy("reps", {"read": [{"roles": ["clerk"], "rows": "area = 'open'"}]})
    kim = shop.signed_in(shop.make_token("kim"))
    assert kim.ask("What is the rep of customer 1?").answer == "rep: Jane [^1][^2]"
    envelope = json.dumps(kim.ask("What is the rep of customer 5?").to_dict())
    assert "rep: 4 [^1][^2]" in envelope
    assert "Secret" not in envelope
    shop.set_policy("reps", {"read": [{"roles": ["clerk"], "hide": ["name"]}]})
    hidden = kim.ask("What is the rep of customer 5?")
    assert "Secret" not in json.dumps(hidden.to_dict())
    assert "reps" not in json.dumps([source.urn for source in hidden.sources_flat])
