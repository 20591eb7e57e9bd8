"""What a result is told with: names, the number behind the most, the period that was meant."""

import pytest
from plan_worlds import SCHOOL, SCHOOL_VALUES, SHOP, SHOP_VALUES

from redask.core.planning.plan import Certain, plan
from redask.core.planning.plan_schema import (
    ForeignKey,
    PlanColumn,
    PlanSchema,
    PlanTable,
    ValueIndex,
)
from redask.core.planning.statement.told_results import label

STAFF = PlanSchema(
    (
        PlanTable(
            "staff",
            (PlanColumn("id", "int4"), PlanColumn("name", "text"), PlanColumn("boss_id", "int4")),
            ("id",),
            9,
        ),
    ),
    (ForeignKey("staff", ("boss_id",), "staff", ("id",)),),
)
BOSS = (
    'coalesce((SELECT referred."name" FROM staff AS referred WHERE referred.id = staff.boss_id), '
    "CAST(staff.boss_id AS text)) AS boss"
)
NEWEST = "date_trunc('month', (SELECT max(order_date) FROM orders))"
LAST = (
    f"(order_date >= {NEWEST} - interval '1 month' AND order_date < {NEWEST})",
    f"to_char({NEWEST} - interval '1 month', 'FMMonth YYYY') AS counted_in",
)


def told(question: str, schema: PlanSchema = SHOP, values: ValueIndex = SHOP_VALUES) -> str | None:
    found = plan(question, schema, values)
    assert isinstance(found, Certain), found
    return found.told


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        (
            "Which product has the highest price?",
            "SELECT product_name, price FROM products ORDER BY price DESC NULLS LAST "
            "FETCH FIRST 1 ROWS WITH TIES",
        ),
        (
            "Which customer has the most orders?",
            "SELECT customers.customer_name, count(*) AS orders FROM orders JOIN customers ON "
            "orders.customer_id = customers.customer_id GROUP BY customers.customer_id, "
            "customers.customer_name ORDER BY count(*) DESC NULLS LAST "
            "FETCH FIRST 1 ROWS WITH TIES",
        ),
        (
            "Which category has the highest average price of products?",
            "SELECT category, avg(price) AS average_price FROM products GROUP BY category "
            "ORDER BY avg(price) DESC NULLS LAST FETCH FIRST 1 ROWS WITH TIES",
        ),
        (
            "How many orders have an order date in last month?",
            f"SELECT count(*), {LAST[1]} FROM orders WHERE {LAST[0]}",
        ),
        ("How many customers are there?", None),
        ("What are the supplier ids of products?", None),
        ("What is the price of the product with the highest price?", None),
        ("What is the share of customers from Brazil?", None),
        ("What are the customer ids of orders, in ascending order?", None),
    ],
)
def test_a_result_is_told_with_what_belongs_to_it(question: str, sql: str | None) -> None:
    assert told(question) == sql


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("What is the name and boss of staff?", f'SELECT "name", {BOSS} FROM staff'),
        (
            "How many staff are there for each boss?",
            f"SELECT {BOSS}, count(*) FROM staff GROUP BY boss_id",
        ),
        ("What is the name and boss id of staff?", None),
    ],
)
def test_a_reference_is_told_by_the_name_of_the_row(question: str, sql: str | None) -> None:
    assert told(question, STAFF, SHOP_VALUES) == sql


def test_rows_of_a_table_without_an_s_are_counted_as_many() -> None:
    found = told("Which department has the most students?", SCHOOL, SCHOOL_VALUES)
    assert found is not None
    assert 'count(*) AS "Students"' in found


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("SupportRepId", "SupportRep"),
        ("customer_id", "customer"),
        ("ARTIST_ID", "ARTIST"),
        ("CountryCode", "Country"),
        ("reports_to", "reports_to"),
        ("_id", "_id"),
        ("Id", "Id"),
    ],
)
def test_a_key_is_called_what_it_refers_to(name: str, said: str) -> None:
    assert label(name) == said
