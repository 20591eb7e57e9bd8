"""Statements that would prove a wrong number, and the questions that are near to them."""

from dataclasses import replace

import pytest
from plan_worlds import StoredTexts

from redask.core.planning.direct.direct_plans import plan_directly
from redask.core.planning.flag_values import ColumnFlag
from redask.core.planning.plan import Certain, Unclear
from redask.core.planning.plan_schema import ForeignKey, PlanColumn, PlanSchema, PlanTable

CARRIER = PlanSchema(
    (
        PlanTable(
            "customers",
            (PlanColumn("id", "int4", 10), PlanColumn("name", "text", 10)),
            ("id",),
            10,
        ),
        PlanTable(
            "drivers",
            (
                PlanColumn("id", "int4", 5),
                PlanColumn("name", "text", 5),
                PlanColumn("salary", "numeric", 5),
            ),
            ("id",),
            5,
        ),
        PlanTable(
            "shipments",
            (
                PlanColumn("id", "int4", 90),
                PlanColumn("customer_id", "int4", 10),
                PlanColumn("driver_id", "int4", 5),
                PlanColumn("status", "text", 4),
                PlanColumn("owner", "text", 3, nulls=2),
                PlanColumn("weight", "numeric", 50),
                PlanColumn("booked", "date", 50),
            ),
            ("id",),
            90,
        ),
        PlanTable(
            "accounts",
            (
                PlanColumn("id", "int4", 8),
                PlanColumn("name", "text", 8),
                PlanColumn("mrr", "numeric", 7),
                PlanColumn("seats", "int4", 7),
                PlanColumn("plan", "text", 3),
                PlanColumn("currency", "text", 3),
                PlanColumn("closed", "date", 4, nulls=4),
                PlanColumn("auto_renew", "text", 2, flag=ColumnFlag("yes", "no")),
            ),
            ("id",),
            8,
        ),
        PlanTable(
            "trips",
            (PlanColumn("id", "int4", 30), PlanColumn("pilot_id", "int4", 4)),
            ("id",),
            30,
        ),
    ),
    (
        ForeignKey("trips", ("pilot_id",), "drivers", ("id",)),
        ForeignKey("shipments", ("customer_id",), "customers", ("id",)),
        ForeignKey("shipments", ("driver_id",), "drivers", ("id",)),
    ),
)
VALUES = StoredTexts(
    {
        ("customers", "name"): ("Acme",),
        ("shipments", "status"): ("booked", "lost", "delivered"),
        ("shipments", "owner"): ("Ada", "Bo"),
        ("accounts", "currency"): ("EUR", "USD"),
        ("accounts", "plan"): ("Pro",),
    }
)

OPEN = [
    ("How many shipments has Acme booked?", "booked"),
    ("How many shipments have we booked?", "booked"),
    ("Who has the highest salary of the drivers", None),
    ("Who has the lowest salary?", None),
    ("Who is the highest paid driver?", "who"),
    ("lowest paid driver", "paid"),
    ("What is the total mrr?", "currency"),
    ("What is the average mrr by plan?", "currency"),
    ("How many shipments have a weight over 1.500?", "1.500"),
    ("closed accounts", "closed"),
    ("Which accounts auto renew?", "auto_renew"),
]
CERTAIN = [
    ("How many shipments have the status booked?", "status = 'booked'"),
    ("How many shipments are lost?", "status = 'lost'"),
    ("How many shipments has bo?", "owner = 'Bo'"),
    ("What is the total mrr of accounts with currency EUR?", "sum(mrr)"),
    ("What is the average mrr by currency?", "avg(mrr)"),
    ("What is the total seats?", "sum(seats)"),  # no money
    ("How many shipments have a weight over 1500?", "weight > 1500"),
    ("How many shipments have a weight over 1.5?", "weight > 1.5"),
    ("How many shipments have a weight over 0.125?", "weight > 0.125"),
    ("How many shipments were booked in Q2 2026?", ">= '2026-04-01' AND booked < '2026-07-01'"),
    ("How many shipments were booked in Q4 of 2026?", ">= '2026-10-01' AND booked < '2027-01-01'"),
    ("How many shipments were booked in the first quarter of 2026?", "booked < '2026-04-01'"),
    ("shipments by status", "SELECT status, count(*) FROM shipments GROUP BY status"),
    ("number of shipments per status", "SELECT status, count(*) FROM shipments GROUP BY status"),
    ("list the owners", "SELECT DISTINCT owner FROM shipments WHERE owner IS NOT NULL"),
    (
        "How many shipments are not owned by Ada?",
        "SELECT count(*) FROM shipments WHERE (owner <> 'Ada' OR owner IS NULL)",
    ),
    (
        "How many shipments have an owner other than Ada?",
        "SELECT count(*) FROM shipments WHERE owner <> 'Ada'",
    ),
]


@pytest.mark.parametrize(("question", "word"), OPEN)
def test_what_may_mean_something_else_is_refused_with_the_word(
    question: str, word: str | None
) -> None:
    planned = plan_directly(question, CARRIER, VALUES)
    assert not isinstance(planned, Certain), planned
    if word is not None:
        assert isinstance(planned, Unclear)
        assert (planned.kind, planned.missing) == ("ambiguous", (word,))
        assert planned.nearest


@pytest.mark.parametrize(("question", "part"), CERTAIN)
def test_what_is_near_to_it_is_planned(question: str, part: str) -> None:
    planned = plan_directly(question, CARRIER, VALUES)
    assert isinstance(planned, Certain), planned
    assert part in planned.sql


def test_a_heading_by_a_number_asks_for_an_order_and_not_for_groups() -> None:
    planned = plan_directly("shipments by weight", CARRIER, VALUES)
    assert not isinstance(planned, Certain) or "GROUP BY" not in planned.sql


def test_the_fewest_may_be_none() -> None:
    planned = plan_directly("Which pilot has the fewest trips?", CARRIER, VALUES)
    assert isinstance(planned, Unclear), planned
    assert planned.missing == ("whether those without trips count",)
    assert isinstance(plan_directly("Which pilot has the most trips?", CARRIER, VALUES), Certain)


def test_amounts_of_one_currency_are_added_up() -> None:
    accounts = CARRIER.tables[3]
    columns = (
        replace(each, distinct=1) if each.name == "currency" else each for each in accounts.columns
    )
    only = PlanSchema((replace(accounts, columns=tuple(columns)),), ())
    assert isinstance(plan_directly("What is the total mrr?", only, VALUES), Certain)


@pytest.mark.parametrize(
    "question",
    [
        "Which shipments were damaged?",
        "Which damaged shipments has Acme?",
        "damaged shipments of Acme",
        "list the damaged shipments",
        "names of all damaged drivers",
        "who are the damaged drivers?",
    ],
)
def test_rows_of_a_table_are_listed_or_refused_and_never_quoted_in_part(question: str) -> None:
    planned = plan_directly(question, CARRIER, VALUES)
    assert isinstance(planned, Unclear), planned
    assert planned.intent == "list"


def test_a_heading_that_groups_is_computed_or_refused() -> None:
    planned = plan_directly("weight by colour", CARRIER, VALUES)
    assert isinstance(planned, Unclear), planned
    assert planned.intent == "group"


@pytest.mark.parametrize(
    "question", ["Which shipments have id 5?", "How is a shipment of shipments sent?"]
)
def test_a_row_that_is_named_and_a_sentence_are_looked_up(question: str) -> None:
    assert not isinstance(plan_directly(question, CARRIER, VALUES), Unclear)
