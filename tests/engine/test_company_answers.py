"""Questions as people ask them of a company's tables, through the engine, as two callers."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

import redask

TABLES = """
CREATE TABLE departments (id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE employees (id INTEGER PRIMARY KEY, name TEXT, salary INTEGER, hire_date DATE,
    department_id INTEGER REFERENCES departments (id),
    manager_id INTEGER REFERENCES employees (id));
CREATE TABLE timesheets (id INTEGER PRIMARY KEY, employee_id INTEGER REFERENCES employees (id),
    day DATE, hours INTEGER);
INSERT INTO departments VALUES (1, 'Finance'), (2, 'Sales');
INSERT INTO employees VALUES (1, 'Ana Silva', 900, '2020-03-01', 1, NULL),
    (2, 'Ben Otto', 500, '2018-05-01', 2, 1), (3, 'Kim Park', 700, '2022-01-01', 1, 1);
INSERT INTO timesheets VALUES (1, 2, '2026-01-05', 8), (2, 2, '2025-01-05', 3),
    (3, 3, '2026-02-05', 4);
"""


@pytest.fixture
def firm(tmp_path: Path) -> Iterator[redask.OpenDatabase]:
    with sqlite3.connect(tmp_path / "firm.sqlite") as made:
        made.executescript(TABLES)
    made.close()
    with redask.open(tmp_path / "db", embedder="none") as db:
        db.ingest(tmp_path / "firm.sqlite")
        yield db


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How many employees work in Finance?", "count: 2 "),
        ("What is the average salary in Finance?", "average: 800"),
        ("Who earns the most?", "name: Ana Silva, salary: 900 "),
        ("Who was hired first?", "name: Ben Otto, hire date: 2018-05-01 "),
        ("Who manages Kim Park?", "manager: Ana Silva "),
        ("How much does Ben Otto earn?", "salary: 500 "),
        ("How many hours did Ben Otto work?", "total: 11 "),
        ("How many hours were logged in 2026?", "total: 12 "),
    ],
)
def test_a_question_is_computed(firm: redask.OpenDatabase, question: str, answer: str) -> None:
    assert firm.ask(question).answer.startswith(answer)


def test_what_may_not_be_read_is_neither_added_up_nor_ranked(firm: redask.OpenDatabase) -> None:
    policy = {"read": [{"roles": ["clerk"], "rows": "name <> 'Ana Silva'"}]}
    firm.set_policy("employees", policy)
    everybody = {"read": [{"roles": ["clerk"]}]}
    for collection in ("departments", "timesheets"):
        firm.set_policy(collection, everybody)
    firm.add_user("cleo", role="clerk")
    clerk = firm.signed_in(firm.make_token("cleo"))
    assert clerk.ask("Who earns the most?").answer.startswith("name: Kim Park, salary: 700 ")
    assert clerk.ask("What is the average salary in Finance?").answer.startswith("average: 700")
    assert "Ana" not in clerk.ask("Who manages Kim Park?").answer
