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
