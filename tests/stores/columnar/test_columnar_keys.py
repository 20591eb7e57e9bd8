"""Keys that a file declared, in the catalogue of each caller: all of a key, or nothing of it."""

import sqlite3
from collections.abc import Iterator

import pytest

import redask
from redask.core.errors import SqlError
from redask.core.model import Caller
from redask.stores.columnar.selector import ColumnarSelector

OWNER = Caller("local", "owner", "owner")
READER = Caller("local", "mia", "reader")
CLERK = Caller("local", "sam", "clerk")
NAMES = "SELECT conname FROM pg_constraint ORDER BY 1"


@pytest.fixture(scope="module")
def selector(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ColumnarSelector]:
    folder = tmp_path_factory.mktemp("keys")
    with sqlite3.connect(folder / "shop.sqlite") as file:
        file.executescript("""
            CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE payments (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers
            );
            CREATE TABLE orders (
                id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id),
                payment_id INTEGER REFERENCES payments (id));
            INSERT INTO customers VALUES (1, 'Ann');
            INSERT INTO payments VALUES (7, 1);
            INSERT INTO orders VALUES (1, 1, 7);
        """)
    file.close()
    place = str(folder / "db")
    with redask.open(place, embedder="none") as db:
        db.ingest(folder / "shop.sqlite")
        db.add_user("mia", role="reader")
        db.add_user("sam", role="clerk")
        db.set_policy("payments", {"read": [{"roles": ["clerk"]}]})
        db.set_policy("orders", {"read": [
            {"roles": ["reader"]},
            {"roles": ["clerk"], "hide": ["customer_id"]},
        ]})  # fmt: skip
    opened = ColumnarSelector(place)
    yield opened
    opened.close()


def rows(selector: ColumnarSelector, sql: str, caller: Caller) -> list[object]:
    return [row[0] if len(row) == 1 else row for row in selector.select(sql, [], caller).rows]


def test_a_key_is_told_to_who_reads_all_of_it(selector: ColumnarSelector) -> None:
    primary = ["customers_pkey", "orders_pkey"]
    assert rows(selector, NAMES, OWNER) == [
        "customers_pkey",
        "orders_customer_id_fkey",
        "orders_payment_id_fkey",
        "orders_pkey",
        "payments_customer_id_fkey",
        "payments_pkey",
    ]
    # the payments are closed to her, so nothing points to them
    assert rows(selector, NAMES, READER) == [
        "customers_pkey",
        "orders_customer_id_fkey",
        primary[1],
    ]
    # the column is hidden from him, so there is no key of it
    assert rows(selector, NAMES, CLERK) == [
        *("customers_pkey", "orders_payment_id_fkey", "orders_pkey"),
        *("payments_customer_id_fkey", "payments_pkey"),
    ]
    assert rows(selector, NAMES, OWNER)[1] == "orders_customer_id_fkey"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT constraint_name FROM information_schema.table_constraints",
        "SELECT constraint_name FROM information_schema.key_column_usage",
        "SELECT definition FROM pg_catalog.redask_definitions",
        "SELECT relname FROM pg_class",
        "SELECT indexdef FROM pg_indexes",
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint",
        "SELECT unique_constraint_name FROM information_schema.referential_constraints",
    ],
)
def test_nothing_names_what_is_closed(selector: ColumnarSelector, sql: str) -> None:
    assert any("payment" in str(each) for each in rows(selector, sql, OWNER))
    assert not any("payment" in str(each) for each in rows(selector, sql, READER))


def test_an_index_has_a_number_where_its_table_is_open(selector: ColumnarSelector) -> None:
    sql = "SELECT 'payments_pkey'::regclass::oid > 0"
    assert rows(selector, sql, CLERK) == [True]
    with pytest.raises(SqlError) as caught:
        selector.select(sql, [], READER)
    assert caught.value.sqlstate == "42P01"


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT indkey[0], indkey[1], indkey::text FROM pg_index", (1, None, "1")),
        ("SELECT array_lower(indkey, 1), array_upper(indkey, 1) FROM pg_index", (0, 0)),
        ("SELECT array_position(indkey, 1::int2), cardinality(indkey) FROM pg_index", (0, 1)),
        ("SELECT generate_subscripts(indkey, 1) FROM pg_index", 0),
        ("SELECT 1 = ANY (indkey), unnest(indkey) FROM pg_index", (True, 1)),
        ("SELECT (information_schema._pg_expandarray(indkey)).n FROM pg_index", 1),
        ("SELECT array_to_string(indkey, ',') FROM pg_index", "1"),
        ("SELECT pg_get_indexdef(indexrelid, 1, true) FROM pg_index", "id"),
        ("SELECT tableoid::regclass::text, xmin FROM pg_index", ("pg_index", 1)),
    ],
)
def test_a_vector_counts_from_0(selector: ColumnarSelector, sql: str, found: object) -> None:
    where = " WHERE indrelid = 'customers'::regclass"
    assert rows(selector, sql + where, OWNER) == [found]
