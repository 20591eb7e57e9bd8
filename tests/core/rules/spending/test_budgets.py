"""What users and roles may spend on a day and in a month."""

import pytest

from redask.core.errors import Misconfigured
from redask.core.model import Caller
from redask.core.rules.cost import Allow, Reject
from redask.core.rules.spending.budgets import (
    BudgetCap,
    BudgetRule,
    Purse,
    budgets_of,
    check,
    month_start,
    read_rules,
)
from redask.core.settings import load

EACH = {"roles": ["intern"], "per": "user", "day_usd": 1, "month_usd": 10.5}
ALL = {"roles": ["*"], "per": "role", "month_usd": 100}
MIA = Caller("acme", "mia", "intern")


def test_every_rule_that_is_about_a_caller_gives_its_budgets() -> None:
    rules = read_rules([EACH, ALL])
    day = 20_000  # 2024-10-04
    assert budgets_of(rules, MIA, day) == (
        BudgetCap(Purse("user", "mia", day), 1.0, "the budget of the user 'mia' for one day"),
        BudgetCap(
            Purse("user", "mia", day - 3), 10.5, "the budget of the user 'mia' for one month"
        ),
        BudgetCap(
            Purse("role", "intern", day - 3), 100.0, "the budget of the role 'intern' for one month"
        ),
    )
    assert len(budgets_of(rules, Caller("acme", "bo", "lead"), day)) == 1
    assert budgets_of((), MIA, day) == ()


@pytest.mark.parametrize(
    ("day", "first"),
    [(0, 0), (30, 0), (31, 31), (58, 31), (59, 59), (-1, -31), (11_016, 10_988), (19_782, 19_754)],
)
def test_a_month_begins_where_the_calendar_says(day: int, first: int) -> None:
    assert month_start(day) == first


@pytest.mark.parametrize(
    ("planned", "spent", "verdict"),
    [
        (0.1, (0.2, 0.0), Allow()),  # exactly at the budget of 0.3
        (0.1, (0.21, 0.0), "0.3"),
        (0.1, (0.0, 0.95), "1.0"),
        (None, (0.0, 0.0), "0.3"),
        (float("inf"), (0.0, 0.0), "0.3"),
    ],
)
def test_the_first_budget_that_breaks_is_named(
    planned: float | None, spent: tuple[float, ...], verdict: Allow | str
) -> None:
    caps = (
        BudgetCap(Purse("user", "mia", 1), 0.3, "the budget of mia"),
        BudgetCap(Purse("role", "intern", 1), 1.0, "the budget of interns"),
    )
    found = check(planned, caps, spent)
    if isinstance(verdict, Allow):
        assert found == verdict
    else:
        assert isinstance(found, Reject)
        assert (found.limit, str(found.allowed)) == ("budget", verdict)
        assert verdict in found.detail


def test_without_budgets_everything_passes() -> None:
    assert check(None, (), ()) == Allow()


def test_they_are_read_from_the_settings() -> None:
    text = '[[budget]]\nroles = ["a"]\nper = "role"\nday_usd = 2\n'
    assert load(text).budget == (BudgetRule(frozenset("a"), "role", 2.0),)


@pytest.mark.parametrize(
    ("document", "where"),
    [
        ({}, "budget"),
        ([1], "budget[0]"),
        ([{**EACH, "week_usd": 1}], "budget[0]"),
        ([{"roles": ["a"], "per": "user"}], "budget[0]"),
        ([{**EACH, "roles": []}], "budget[0].roles"),
        ([{**EACH, "roles": ["\0"]}], "budget[0].roles"),
        ([{**EACH, "per": "tenant"}], "budget[0].per"),
        ([{**EACH, "day_usd": -1}], "budget[0].day_usd"),
    ],
)
def test_what_is_wrong_is_named(document: object, where: str) -> None:
    with pytest.raises(Misconfigured) as caught:
        read_rules(document)
    assert caught.value.detail == where
