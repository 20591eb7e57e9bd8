"""A shop in somebody's own PostgreSQL, to attach: customers, orders, staff; roles and policies.

    with shop() as place:          place.url, place.run("UPDATE …"), place.asked("SELECT …")

`shop_owner` owns the tables and signs in. `shop_reader` may read customers and orders, under a
policy of the database: no order of a `secret` customer, and no customer who is. `shop_north` sees
the north only. Nobody may read `salaries` but the owner. The server is that of
`postgres_databases`; each shop has a database of its own.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Any
from urllib.parse import quote

import postgres_databases
import psycopg

_NUMBERS = count(1)
PASSWORD = "correct-horse-battery"
ROLES = f"""
DO $$ BEGIN
  IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = 'shop_owner') THEN
    CREATE ROLE shop_owner LOGIN CREATEROLE REPLICATION PASSWORD '{PASSWORD}';
    CREATE ROLE shop_reader; CREATE ROLE shop_north;
    GRANT shop_reader, shop_north TO shop_owner;
  END IF;
END $$"""
TABLES = """
CREATE TABLE customers (id integer PRIMARY KEY, name text NOT NULL, region text,
  secret boolean NOT NULL DEFAULT false, since date, changed timestamptz NOT NULL DEFAULT now());
CREATE TYPE stage AS ENUM ('open', 'paid');
CREATE TABLE orders (id bigint PRIMARY KEY, customer_id integer REFERENCES customers,
  amount numeric(10,2) NOT NULL, stage stage NOT NULL DEFAULT 'open', note text, tags text[],
  extra jsonb, photo bytea, placed timestamptz, weight double precision,
  changed timestamptz NOT NULL DEFAULT now());
CREATE TABLE salaries (id integer PRIMARY KEY, name text, amount numeric(10,2));
COMMENT ON TABLE orders IS 'What customers bought';
COMMENT ON COLUMN orders.amount IS 'in euros, with tax';
INSERT INTO customers (id, name, region, secret, since) VALUES
  (1, 'Alma', 'north', false, '2020-01-02'), (2, 'Bert', 'south', false, '2021-03-04'),
  (3, 'Cleo', 'north', true, '2022-05-06'), (4, 'Dora', 'north', false, NULL);
INSERT INTO orders (id, customer_id, amount, stage, note, tags, extra, photo, placed, weight) VALUES
  (10, 1, 10.50, 'paid', 'a kettle', '{red,hot}', '{"gift": true}', '\\x00ff',
   '2024-01-02 03:04:05+00', 1.5),
  (11, 1, 20.25, 'open', 'a lantern', NULL, NULL, NULL, '2024-02-03 00:00:00+00', 0.1),
  (12, 2, 30.00, 'paid', 'a ladder', '{}', NULL, NULL, NULL, NULL),
  (13, 3, 40.00, 'paid', 'a submarine', NULL, NULL, NULL, NULL, NULL),
  (14, NULL, 5.00, 'open', 'a pencil', NULL, NULL, NULL, NULL, 'NaN');
INSERT INTO salaries VALUES (1, 'Zoe', 99999.00);
ALTER TABLE customers ENABLE ROW LEVEL SECURITY;
ALTER TABLE orders ENABLE ROW LEVEL SECURITY;
CREATE POLICY reading ON customers TO shop_reader USING (NOT secret);
CREATE POLICY reading ON orders TO shop_reader USING (NOT coalesce((SELECT secret FROM customers c
  WHERE c.id = customer_id), customer_id IS NOT NULL));
CREATE POLICY northern ON customers TO shop_north USING (region = 'north' AND NOT secret);
CREATE POLICY northern ON orders TO shop_north USING (customer_id IN (SELECT id FROM customers));
GRANT SELECT ON customers, orders TO shop_reader, shop_north;
"""
_LOOKS = """SELECT c.relname, c.relrowsecurity, c.relforcerowsecurity, c.relacl::text,
  (SELECT array_agg(t.tgname::text ORDER BY t.tgname) FROM pg_trigger t
   WHERE t.tgrelid = c.oid AND NOT t.tgisinternal),
  (SELECT array_agg(a.attname::text || format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum)
   FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0), c.relreplident
  FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' ORDER BY 1"""


@dataclass(frozen=True)
class Shop:
    """A database to attach."""

    url: str
    superuser: dict[str, Any]

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        """As the superuser. A commit is in the log at once, where logical decoding finds it."""
        return psycopg.connect(**self.superuser, options="-c synchronous_commit=on")

    def run(self, *statements: str) -> None:
        with self.connect() as connection:
            for each in statements:
                connection.execute(each)

    def asked(self, query: str) -> list[tuple[Any, ...]]:
        with psycopg.connect(**self.superuser) as connection:
            return connection.execute(query).fetchall()

    def looks(self) -> list[object]:
        """All that is in the database: tables with their rows, triggers, schemas, slots."""
        return [
            self.asked(_LOOKS),
            *(self.asked(f"SELECT t::text FROM {name} AS t ORDER BY t.id") for name in TABLE_NAMES),
            self.asked("SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1"),
            self.asked("SELECT proname FROM pg_proc WHERE pronamespace > 16000 ORDER BY 1"),
            self.asked("SELECT pubname FROM pg_publication ORDER BY 1"),
            self.asked(
                "SELECT slot_name FROM pg_replication_slots WHERE database = current_database()"
            ),
        ]


TABLE_NAMES = ("customers", "orders", "salaries")


@contextmanager
def shop() -> Iterator[Shop]:
    """A shop in a new database."""
    name = f"shop_{next(_NUMBERS)}"
    place = postgres_databases.empty(name)
    superuser = postgres_databases.superuser(place)
    with psycopg.connect(**superuser, autocommit=True) as connection:
        connection.execute(ROLES)
        connection.execute(f"ALTER DATABASE {name} OWNER TO shop_owner")
        connection.execute("ALTER SCHEMA public OWNER TO shop_owner")
        connection.execute("SET ROLE shop_owner")
        connection.execute(TABLES)
    host = quote(str(superuser["host"]), safe="")
    yield Shop(f"postgresql://shop_owner@/{name}?host={host}&port={superuser['port']}", superuser)
