"""Questions whose nearest statement or record says something else, asked of a real database."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import redask

ACCOUNTS = [
    {"id": 1, "name": "Blue Fjord", "mrr": 450, "currency": "EUR", "owner": "Kim", "state": "open"},
    {"id": 2, "name": "Delta Robotics", "mrr": 3200, "currency": "USD", "state": "booked"},
    {"id": 3, "name": "Foxglove", "mrr": 600, "currency": "USD", "owner": "Priya", "state": "open"},
]


@pytest.fixture(scope="module")
def crm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[redask.OpenDatabase]:
    folder: Path = tmp_path_factory.mktemp("crm") / "db"
    with redask.open(folder, embedder="none") as db:
        db.put("accounts", ACCOUNTS)
        yield db


@pytest.mark.parametrize(
    ("question", "open_word"),
    [
        ("How many accounts have we booked?", "booked"),
        ("What is the total mrr?", "currency"),
        ("How many accounts have an mrr above 1.000?", "1.000"),
        ("which accounts are unpaid?", "unpaid"),  # a list is whole, or there is none
        ("csat of Delta Robotics", "csat"),  # its record does not say
    ],
)
def test_it_is_refused_with_the_word(
    crm: redask.OpenDatabase, question: str, open_word: str
) -> None:
    found = crm.ask(question)
    assert [warning.kind for warning in found.validation.warnings] == ["refused"]
    assert open_word in found.answer.split("\n")[0]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many accounts are not owned by Kim?", "count: 2 [^1]"),  # one has no owner
        ("What is the total mrr of accounts with currency USD?", "total: 3800 [^1]"),
        ("mrr of Delta Robotics", "mrr: 3200"),
    ],
)
def test_what_is_near_to_it_is_answered(
    crm: redask.OpenDatabase, question: str, answer: str
) -> None:
    assert answer in crm.ask(question).answer


def test_a_heading_is_counted_by_group(crm: redask.OpenDatabase) -> None:
    answer = crm.ask("accounts by state").answer
    assert "| open | 2 |" in answer
    assert "| booked | 1 |" in answer
