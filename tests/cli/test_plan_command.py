"""`redask plan` and what `redask explain` and `ask` show of a statement."""

from pathlib import Path

import pytest
from click.testing import CliRunner

import redask
from redask.cli import main

ROWS = [{"id": 1, "name": "Ada", "country": "Brazil"}, {"id": 2, "name": "Bo", "country": "Peru"}]
SQL = "SELECT count(*) FROM customers WHERE country = 'Brazil'"
HOW_MANY = "How many customers live in Brazil?"


@pytest.fixture
def db(tmp_path: Path) -> str:
    with redask.open(tmp_path / "db", embedder="none") as opened:
        opened.put("customers", ROWS)
    return str(tmp_path / "db")


def shown(*arguments: str) -> str:
    done = CliRunner().invoke(main, list(arguments), env={"REDASK_EMBEDDER_NAME": "none"})
    assert done.exit_code == 0, done.output
    return done.output


def test_plan_prints_the_statement_and_its_coverage(db: str) -> None:
    assert shown("plan", HOW_MANY, "--db", db) == f"{SQL}\nintent count, coverage 1.00\n"


def test_plan_says_what_is_unclear_and_what_is_looked_up(db: str) -> None:
    unclear = shown("plan", "How many customers are left-handed?", "--db", db)
    assert unclear.startswith("no statement is certain, not_computable")
    looked_up = shown("plan", "Tell me about Ada", "--db", db)
    assert looked_up == "no statement: this question is looked up by search\n"


def test_plan_as_json_is_plain_data(db: str) -> None:
    said = shown("plan", HOW_MANY, "--db", db, "--json", "--collection", "customers")
    assert said.startswith('{"coverage":1.0,"intent":"count","missing":[],"nearest":null')


def test_explain_shows_the_statement(db: str) -> None:
    said = shown("explain", HOW_MANY, "--db", db)
    assert f"query       {SQL}\n            count, coverage 1" in said
    assert "the result of the query" in said
    assert "retrieval" not in said


def test_plan_and_explain_say_which_statements_lost_and_why(db: str) -> None:
    with redask.open(db, embedder="none") as opened:
        opened.put("engines", [{"id": 1, "name": "V8", "max_speed": 7}])
    asked = "What is the max speed of engines?"
    assert shown("plan", asked, "--db", db) == (
        "SELECT max_speed FROM engines\nintent list, coverage 1.00\n"
        "lost: SELECT max(max_speed) FROM engines\n"
        "      its names are further from the words of the question, by 5\n"
    )
    assert "lost        SELECT max(max_speed) FROM engines" in shown("explain", asked, "--db", db)


def test_an_answer_shows_the_statement_as_its_footnote(db: str) -> None:
    said = shown("ask", HOW_MANY, "--db", db)
    assert f"[^1] {SQL}\n     1 row: count 1\n" in said
