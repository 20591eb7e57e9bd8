"""What a model's statement may not do, besides what no SELECT may do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redask.core.planning.plan_schema import PlanSchema, PlanTable
from redask.core.planning.queries.statement_guard import fault

SCHEMA = PlanSchema((PlanTable("orders", ()),))
OWN = [("public", "orders")]


def test_a_statement_over_the_schema_may_run() -> None:
    assert fault("SELECT count(*) FROM orders WHERE name = 'it''s now'", OWN, SCHEMA) is None


@pytest.mark.parametrize("table", [("public", "red_ask_audit"), ("pg_catalog", "orders")])
def test_a_table_outside_the_schema_is_refused_by_name(table: tuple[str, str]) -> None:
    said = fault("SELECT 1", [*OWN, table], SCHEMA)
    assert said == f'there is no table "{table[1]}" in the schema'


@pytest.mark.parametrize(
    "expression",
    ["now()", "CURRENT_DATE", "Random()", "current_user", "'today'::date", "' NOW '::timestamp"],
)
def test_the_clock_chance_and_the_session_are_refused(expression: str) -> None:
    said = fault(f"SELECT {expression} FROM orders", OWN, SCHEMA)
    assert said is not None
    assert "depends on the clock" in said


def test_quoted_names_are_not_functions() -> None:
    assert fault('SELECT "now", "a""random" FROM orders', OWN, SCHEMA) is None


@given(st.text())
def test_any_text_is_judged(sql: str) -> None:
    assert fault(sql, OWN, SCHEMA) in (None, fault(sql, OWN, SCHEMA))
