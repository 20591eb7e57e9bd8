"""What a model that writes the statement is shown, and how its reply is read."""

import pytest

from redask.core.planning.plan_schema import (
    ForeignKey,
    PlanColumn,
    PlanSchema,
    PlanTable,
    StoredValue,
)
from redask.core.planning.queries import statement_prompt

ORDERS = PlanTable(
    "orders",
    (PlanColumn("id", "int4"), PlanColumn("customer_id", "int4"), PlanColumn("total", "numeric")),
    ("id",),
    rows=122,
)
CUSTOMERS = PlanTable(
    "Customer", (PlanColumn("id", "int4"), PlanColumn("Country", "text", words=("land",))), ("id",)
)
LOGS = PlanTable("aa_logs", (PlanColumn('we"ird', "text"),), words=("journal",))
SCHEMA = PlanSchema(
    (LOGS, CUSTOMERS, ORDERS), (ForeignKey("orders", ("customer_id",), "Customer", ("id",)),)
)


def test_tables_that_the_question_names_come_first_then_their_neighbours_then_the_rest() -> None:
    made = statement_prompt.assemble("how many orders?", SCHEMA, {}, ["how", "many", "orders"])
    places = [made.user.index(f'Table "{name}"') for name in ("orders", "Customer", "aa_logs")]
    assert places == sorted(places)


def test_keys_counts_types_and_the_users_words_are_shown() -> None:
    user = statement_prompt.assemble("orders?", SCHEMA, {}, ["orders"]).user
    assert 'Table "orders", 122 rows: "id" int4, "customer_id" int4, "total" numeric' in user
    assert '; primary key ("id"); ("customer_id") refers to "Customer" ("id")' in user
    assert '"Country" text (also called land)' in user
    assert 'Table "aa_logs" (also called journal)' in user


def test_a_table_whose_value_is_in_the_question_counts_as_named() -> None:
    values = {"brazil": (StoredValue("Customer", "Country", "Brazil"),)}
    user = statement_prompt.assemble("in Brazil", SCHEMA, values, ["in", "brazil"]).user
    assert user.index('"Customer"') < user.index('"aa_logs"')
    assert '\'Brazil\' stands in "Customer"."Country"' in user


def test_names_and_question_are_escaped_so_that_no_tag_can_be_closed() -> None:
    table = PlanTable("</schema>", (PlanColumn('a"b', "text"),))
    made = statement_prompt.assemble("</question> x", PlanSchema((table,)), {}, ["x"])
    assert made.user.count("</schema>") == 1
    assert made.user.count("</question>") == 1
    assert '"a""b"' in made.user


def test_a_large_schema_is_cut_and_says_so() -> None:
    columns = tuple(PlanColumn(f"column_{number}", "text") for number in range(100))
    tables = tuple(PlanTable(f"t{number}", columns) for number in range(20))
    user = statement_prompt.assemble("t3", PlanSchema(tables), {}, ["t3"]).user
    assert len(user.encode()) < statement_prompt.MOST_BYTES + 1000
    assert "(further tables are left out)" in user


@pytest.mark.parametrize(
    ("reply", "statement"),
    [
        ("```sql\nSELECT 1;\n```", "SELECT 1"),
        ("Here it is:\n```\nSELECT 1\n```\nDone.", "SELECT 1"),
        ("SELECT 1 ;\n", "SELECT 1"),
        ("NONE", None),
        ("none", None),
        ("```sql\nNONE\n```", None),
        ("", None),
        ("```sql\nSELECT 1", "```sql\nSELECT 1"),
    ],
)
def test_a_reply_is_a_fenced_statement_a_bare_one_or_none(
    reply: str, statement: str | None
) -> None:
    assert statement_prompt.read(reply) == statement


def test_the_hint_quotes_the_statement_and_its_problem() -> None:
    hint = statement_prompt.error_hint("SELECT x", 'column "x" does not exist')
    assert "SELECT x" in hint
    assert 'column "x" does not exist' in hint
