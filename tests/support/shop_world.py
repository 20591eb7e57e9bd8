"""Two tables with a key between them, here and in a real PostgreSQL: what clients look at.

customers   id (primary key), name, city
orders      id (primary key), customer_id → customers, placed, total, paid
"""

import sqlite3
from pathlib import Path
from typing import Any

import psycopg
from pgwire_server import PgwireServer

CUSTOMERS = [(1, "Ann", "Bern"), (2, "Bob", "Oslo"), (3, "Çelik", None)]
ORDERS = [
    (1, 1, "2024-01-05", 10.5, "yes"),
    (2, 2, "2024-01-31", 20.25, "no"),
    (3, 1, "2024-02-05", 5.25, "yes"),
]
MONTHS = [("2024-01", "30.75"), ("2024-02", "5.25")]  # what was ordered in each
BY_MONTH = (
    "SELECT to_char(date_trunc('month', placed), 'YYYY-MM') AS month, sum(total) AS total"
    " FROM orders GROUP BY 1 ORDER BY 1"
)
# an error of each kind: syntax, table, permission, column, cast, value, writing
FAILING = {
    "SELEC 1": "42601",
    "SELECT * FROM nosuch": "42P01",
    "SELECT * FROM secrets": "42501",
    "SELECT nope FROM orders": "42703",
    "SELECT 'one'::int": "22P02",
    "SELECT 1 / 0": "22012",
    "INSERT INTO orders VALUES (1)": "25006",
}
# a part of what each says, for clients that show no SQLSTATE
MESSAGES = (
    "found 'SELEC'",
    'relation "nosuch" does not exist',
    "your role may not read the collection 'secrets'",
    'column "nope" does not exist',
    'invalid input syntax for type integer: "one"',
    "division by zero",
    "cannot execute INSERT in a read-only transaction",
)
CANCELLED = "the statement was cancelled on request"
# takes longer than any test
SLOW = (
    "SELECT count(*) FROM generate_series(1, 100000) a, generate_series(1, 100000) b,"
    " generate_series(1, 1000) c WHERE a + b + c < 0"
)
_SQLITE = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers (id), placed TEXT,
    total NUMERIC, paid TEXT
);
"""
_POSTGRES = """
CREATE TABLE customers (id int PRIMARY KEY, urn text NOT NULL, city text, name text);
CREATE TABLE orders (
    id int PRIMARY KEY, urn text NOT NULL, customer_id int REFERENCES customers (id), paid text,
    placed date, total numeric(18,2)
);
"""  # in the order that columns have here


def fill_shop(transport: PgwireServer, directory: Path) -> None:
    """Read the tables, as a file of SQLite, into the database behind a transport."""
    file = directory / "shop.sqlite"
    with sqlite3.connect(file) as connection:
        connection.executescript(_SQLITE)
        connection.executemany("INSERT INTO customers VALUES (?, ?, ?)", CUSTOMERS)
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?)", ORDERS)
    connection.close()
    transport.run(transport.db.ingest(file))


def fill_postgres(where: dict[str, Any]) -> None:
    """Make the same tables, and the role and the database that clients here have."""
    with psycopg.connect(**where, autocommit=True) as connection:
        connection.execute("CREATE ROLE mia SUPERUSER LOGIN")
        connection.execute("CREATE DATABASE local OWNER mia")
    with psycopg.connect(**{**where, "user": "mia", "dbname": "local"}) as connection:
        connection.execute(_POSTGRES)
        with connection.cursor() as cursor:
            cursor.executemany(
                "INSERT INTO customers (urn, id, name, city) VALUES ('', %s, %s, %s)", CUSTOMERS
            )
            cursor.executemany(
                "INSERT INTO orders (urn, id, customer_id, placed, total, paid)"
                " VALUES ('', %s, %s, %s, %s, %s)",
                ORDERS,
            )
