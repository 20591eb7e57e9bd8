"""Computed answers do not tell of what is hidden: twins that differ only there answer alike.

A few pairs of random databases; `make test-access` tries 200.
"""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import redask
from redask.core.errors import AskError

FEWEST, FOR_EACH = 8, 50  # pairs, and rounds of the access suite for one more
POLICY = {"read": [{"roles": ["clerk"], "rows": "region = 'north'", "hide": ["salary"]}]}
CITIES = ("Kiel", "Husum", "Lima", "Oslo")
QUESTIONS = (
    "How many people live in Kiel?",
    "How many people are there in each city?",
    "What is the average age of people?",
    "What is the average salary of people?",
    "How many people have a salary above 100?",
    "Which city has the most people?",
    "Which people have no city?",
    "How many people live in Atlantis?",
    "Who is the oldest of the people?",
    "How many people are called Nemo?",
    "How many orders are there?",
    "How many people have no orders?",
    "people 1",
    "people 1000",
    "What is the salary of people 1?",
    "How many people mention Nemo?",
    'How many people contain "much"?',
)


def rows(dice: random.Random, region: str, start: int) -> list[dict[str, Any]]:
    """Some people of a region, with hidden salaries."""
    return [
        {
            "id": start + number,
            "name": dice.choice(("Ada", "Bo", "Cleo", "Nemo", "Atlantis")),
            "city": dice.choice((*CITIES, None)),
            "age": dice.randint(18, 80),
            "region": region,
            "salary": dice.choice((dice.randint(1, 500), None, "much")),
        }
        for number in range(dice.randint(1, 6))
    ]


@contextmanager
def opened(directory: Path, seed: int, hidden: int) -> Iterator[redask.OpenDatabase]:
    """What a clerk sees of a world; `seed` decides what is visible, `hidden` the rest."""
    seen, unseen = random.Random(seed), random.Random(hidden)
    with redask.open(directory, embedder="none") as db:
        visible = [
            {**row, "salary": unseen.choice((1, 2.5, None, "x"))} for row in rows(seen, "north", 1)
        ]
        db.put("people", visible + rows(unseen, "south", 1000))
        db.put("orders", [{"id": n, "people_id": 1 + n % 3} for n in range(4)])
        db.set_policy("people", POLICY)
        db.add_user("mia", role="clerk")
        yield db.signed_in(db.make_token("mia"))


def told(db: redask.OpenDatabase, question: str) -> object:
    """All that a clerk is told: answer, plan and statement; or the error."""
    try:
        said = db.ask(question).to_dict(), db.explain(question)
        return *said, db.query_plan(question)
    except AskError as error:
        return error.kind, error.message


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        rounds = int(metafunc.config.getoption("--access-rounds"))
        metafunc.parametrize("seed", range(max(FEWEST, rounds // FOR_EACH)))


def test_twins_that_differ_in_hidden_rows_and_columns_answer_alike(
    tmp_path: Path, seed: int
) -> None:
    with (
        opened(tmp_path / "a", seed, 10_000 + seed) as first,
        opened(tmp_path / "b", seed, 20_000 + seed) as second,
    ):
        for question in QUESTIONS:
            assert told(first, question) == told(second, question), question


def test_the_questions_are_computed_where_nothing_is_hidden(tmp_path: Path) -> None:
    with opened(tmp_path / "a", 1, 2) as db:
        computed = [question for question in QUESTIONS if db.query_plan(question)["sql"]]
        assert len(computed) >= 4
        assert "salary" not in str([db.query_plan(question)["sql"] for question in QUESTIONS])
