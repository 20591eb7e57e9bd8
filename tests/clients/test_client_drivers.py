"""Python's drivers, psql, SQLAlchemy and pandas on the tables of the shop.

Each reads a table, groups by month, binds a parameter and gets an error of each kind. psycopg,
asyncpg, psql and SQLAlchemy cancel in tests/server/pgwire; pg8000 has no way to, and is cancelled
from another session.
"""

import os
import shutil
import subprocess
from datetime import date
from decimal import Decimal

import pandas
import pytest
import sqlalchemy as sa
from cancelling import cancelled_elsewhere
from pgwire_server import DRIVERS, PgwireServer
from shop_world import BY_MONTH, CUSTOMERS, FAILING, MONTHS, SLOW

BOUND = "SELECT name, placed FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.id = "
SUMS = [(month, Decimal(total)) for month, total in MONTHS]


@pytest.mark.parametrize("name", DRIVERS)
def test_a_driver_reads_groups_binds_and_fails(shop: PgwireServer, name: str) -> None:
    with shop.driver(name) as driver:
        assert driver.rows("SELECT id, name, city FROM customers ORDER BY id") == CUSTOMERS
        assert driver.rows(BY_MONTH) == SUMS
        assert driver.rows(f"{BOUND}$1", 2) == [("Bob", date(2024, 1, 31))]
        for sql, state in FAILING.items():
            assert driver.state(sql) == state
        assert driver.rows("SELECT 1") == [(1,)]


@pytest.mark.parametrize("name", DRIVERS)
def test_a_driver_is_cancelled_from_another_session_and_goes_on(
    shop: PgwireServer, name: str
) -> None:
    url = f"postgresql://mia:{shop.tokens['mia']}@{shop.host}:{shop.port}/local"
    with shop.driver(name) as driver:
        with cancelled_elsewhere(url, SLOW):
            assert driver.state(SLOW) == "57014"
        assert driver.rows("SELECT 1") == [(1,)]


def test_sqlalchemy_and_pandas_read_group_bind_and_fail(shop: PgwireServer) -> None:
    url = f"postgresql+psycopg://mia:{shop.tokens['mia']}@{shop.host}:{shop.port}/local"
    engine = sa.create_engine(url, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        orders = sa.Table("orders", sa.MetaData(), autoload_with=connection)
        month = sa.func.to_char(sa.func.date_trunc("month", orders.c.placed), "YYYY-MM")
        total = sa.func.sum(orders.c.total)
        grouped = sa.select(month, total).group_by(sa.text("1")).order_by(sa.text("1"))
        assert [tuple(row) for row in connection.execute(grouped)] == SUMS
        bound = pandas.read_sql(sa.text(f"{BOUND}:id"), connection, params={"id": 2})
        assert bound.to_dict("records") == [{"name": "Bob", "placed": date(2024, 1, 31)}]
        months = pandas.read_sql(sa.text(BY_MONTH), connection)
        assert list(months.itertuples(index=False, name=None)) == SUMS
        frame = pandas.read_sql_table("orders", connection, parse_dates=["placed"])
        by_month = frame.groupby(frame["placed"].dt.strftime("%Y-%m"))["total"].sum()
        assert list(by_month.items()) == SUMS
        for sql, state in FAILING.items():
            with pytest.raises(pandas.errors.DatabaseError) as caught:
                pandas.read_sql(sa.text(sql), connection)
            cause = caught.value.__cause__
            assert isinstance(cause, sa.exc.DBAPIError)
            assert getattr(cause.orig, "sqlstate", "") == state
    engine.dispose()


def test_psql_reads_groups_binds_and_fails(shop: PgwireServer) -> None:
    if shutil.which("psql") is None:
        pytest.fail("psql is not installed: run tools/clients.sh")
    bound = f"{BOUND.replace('placed', 'placed::text')}:'wanted'"
    statements = [BY_MONTH, bound, *FAILING]
    ended = subprocess.run(
        ["psql", "-X", "-At", "-v", "VERBOSITY=sqlstate", "-v", "wanted=2"],
        input="".join(f"{sql};\n" for sql in statements),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={
            **os.environ,
            "PGHOST": shop.host,
            "PGPORT": str(shop.port),
            "PGUSER": "mia",
            "PGPASSWORD": shop.tokens["mia"],
            "PGDATABASE": "local",
        },
    )
    months = [f"{month}|{total}" for month, total in MONTHS]
    assert ended.stdout.splitlines() == [*months, "Bob|2024-01-31"]
    assert [line.split()[-1] for line in ended.stderr.splitlines()] == list(FAILING.values())
