"""Libraries at the Postgres wire transport: psqlODBC, polars, ADBC, connectorx, Django.

Each reads a table, groups by month, binds a parameter where it can, gets an error of each kind
and cancels; what has no way to cancel is cancelled from another session. polars, ADBC and
connectorx read by COPY, psqlODBC with `UseDeclareFetch` by cursors.
"""

import re
import threading
from collections.abc import Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import adbc_driver_postgresql.dbapi
import connectorx
import polars
import psycopg
import pyodbc
import pytest
from cancelling import cancelled_elsewhere
from pgwire_server import PgwireServer
from shop_world import BY_MONTH, CANCELLED, CUSTOMERS, FAILING, MESSAGES, MONTHS, SLOW
from waiting import until

BOUND = (
    "SELECT c.name, o.placed, o.total FROM orders o"
    " JOIN customers c ON c.id = o.customer_id WHERE o.id = "
)
FOUND = ("Bob", date(2024, 1, 31), Decimal("20.25"))
SUMS = [(month, Decimal(total)) for month, total in MONTHS]


@pytest.fixture(scope="module")
def url(shop: PgwireServer) -> str:
    token = shop.tokens["mia"]
    return f"postgresql://mia:{token}@{shop.host}:{shop.port}/local"


# --- psqlODBC --------------------------------------------------------------------------------


def odbc(shop: PgwireServer, more: str = "") -> pyodbc.Connection:
    if "PostgreSQL Unicode" not in pyodbc.drivers():
        pytest.fail("psqlODBC is not installed: run tools/clients.sh")
    token = shop.tokens["mia"]
    return pyodbc.connect(
        f"Driver={{PostgreSQL Unicode}};Server={shop.host};Port={shop.port};"
        f"Database=local;Uid=mia;Pwd={token};{more}",
        autocommit=True,
    )


@pytest.mark.parametrize("more", ["", "UseServerSidePrepare=0;", "UseDeclareFetch=1;Fetch=2;"])
def test_odbc_reads_groups_binds_and_fails(shop: PgwireServer, url: str, more: str) -> None:
    connection = odbc(shop, more)
    cursor = connection.cursor()
    rows = cursor.execute("SELECT id, name, city FROM customers ORDER BY id").fetchall()
    assert [tuple(row) for row in rows] == CUSTOMERS
    assert [tuple(row) for row in cursor.execute(BY_MONTH).fetchall()] == SUMS
    assert tuple(cursor.execute(f"{BOUND}?", 2).fetchone()) == FOUND
    for sql, state in FAILING.items():
        with pytest.raises(pyodbc.Error) as caught:
            cursor.execute(sql).fetchall()
        assert caught.value.args[0] == state
    cursor.execute("SET statement_timeout = '300ms'")
    with pytest.raises(pyodbc.Error, match="statement_timeout") as caught:
        cursor.execute(SLOW).fetchall()
    assert caught.value.args[0] in ("57014", "HYT00")
    connection.close()


def test_odbc_knows_the_tables_their_columns_and_keys(shop: PgwireServer) -> None:
    connection = odbc(shop)
    cursor = connection.cursor()
    names = [row.table_name for row in cursor.tables(schema="public", tableType="TABLE")]
    assert {"customers", "orders"} <= set(names)
    assert "secrets" not in names
    columns = [(row.column_name, row.type_name) for row in cursor.columns("orders")]
    assert columns == [
        *(("id", "int4"), ("urn", "text"), ("customer_id", "int4"), ("paid", "text")),
        *(("placed", "date"), ("total", "numeric")),
    ]
    assert [row.column_name for row in cursor.primaryKeys("orders")] == ["id"]
    [found] = cursor.foreignKeys(foreignTable="orders").fetchall()
    assert (found.pktable_name, found.pkcolumn_name) == ("customers", "id")
    assert (found.fktable_name, found.fkcolumn_name) == ("orders", "customer_id")
    connection.close()


def test_odbc_cancels_and_goes_on(shop: PgwireServer) -> None:
    connection = odbc(shop)
    cursor = connection.cursor()
    canceller = threading.Timer(0.7, cursor.cancel)
    canceller.start()
    with pytest.raises(pyodbc.Error) as caught:
        cursor.execute(SLOW).fetchall()
    canceller.join()
    assert caught.value.args[0] in ("57014", "HY008")
    assert connection.cursor().execute("SELECT 1").fetchone()[0] == 1
    connection.close()


# --- what reads by COPY ----------------------------------------------------------------------


def all_rows(connection: Any, sql: str) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(sql)
        return cursor.fetchall()


def test_adbc_reads_groups_binds_and_fails(url: str) -> None:
    with adbc_driver_postgresql.dbapi.connect(url) as connection:
        with connection.cursor() as cursor:
            cursor.execute("SELECT id, name, city FROM customers ORDER BY id")
            assert cursor.fetchall() == CUSTOMERS
            cursor.execute(BY_MONTH.replace("sum(total)", "sum(total)::float8"))
            assert cursor.fetchall() == [(month, float(total)) for month, total in MONTHS]
            cursor.execute("SELECT name FROM customers WHERE id = $1", (2,))
            assert cursor.fetchall() == [("Bob",)]
        for sql, state in FAILING.items():
            with pytest.raises(adbc_driver_postgresql.dbapi.Error) as caught:
                all_rows(connection, sql)
            assert caught.value.sqlstate == state
            connection.rollback()
        known = connection.adbc_get_objects(
            depth="tables", db_schema_filter="public", table_name_filter="orders"
        ).read_all()
        assert "orders" in str(known)
        shape = connection.adbc_get_table_schema("orders")
        assert shape.names == ["id", "urn", "customer_id", "paid", "placed", "total"]


def test_adbc_cancels_and_goes_on(url: str) -> None:
    with (
        adbc_driver_postgresql.dbapi.connect(url, autocommit=True) as connection,
        connection.cursor() as cursor,
        psycopg.connect(url, autocommit=True) as watcher,
    ):

        def cancel() -> None:
            running = "SELECT count(*) FROM pg_stat_activity WHERE strpos(query, 'COPY (') > 0"
            until(lambda: watcher.execute(running).fetchone() != (0,))
            cursor.adbc_cancel()

        canceller = threading.Thread(target=cancel)
        canceller.start()
        with pytest.raises(adbc_driver_postgresql.dbapi.Error) as caught:
            cursor.execute(SLOW)
        canceller.join()
        assert caught.value.sqlstate == "57014"
        assert all_rows(connection, "SELECT 1") == [(1,)]


@pytest.mark.parametrize("engine", ["adbc", "connectorx"])
def test_polars_says_what_is_wrong_and_is_cancelled_from_elsewhere(url: str, engine: Any) -> None:
    for sql, message in zip(FAILING, MESSAGES, strict=True):
        with pytest.raises(Exception, match=re.escape(message)):
            polars.read_database_uri(sql, url, engine=engine)
    with cancelled_elsewhere(url, SLOW), pytest.raises(Exception, match=CANCELLED):
        polars.read_database_uri(SLOW, url, engine=engine)


@pytest.mark.parametrize("engine", ["adbc", "connectorx"])
def test_polars_reads_and_groups(url: str, engine: Any) -> None:
    frame = polars.read_database_uri(
        "SELECT id, name, city FROM customers ORDER BY id", url, engine=engine
    )
    assert frame.rows() == CUSTOMERS
    months = polars.read_database_uri(
        BY_MONTH.replace("sum(total)", "sum(total)::float8"), url, engine=engine
    )
    assert months.rows() == [(month, float(total)) for month, total in MONTHS]


def test_polars_reads_by_a_connection_and_binds(shop: PgwireServer, url: str) -> None:
    with psycopg.connect(url) as connection:
        frame = polars.read_database(
            f"{BOUND}%(id)s", connection, execute_options={"params": {"id": 2}}
        )
        assert frame.rows() == [FOUND]
        assert frame.schema["placed"] == polars.Date


@pytest.mark.parametrize("protocol", ["binary", "csv", "cursor"])
def test_connectorx_reads_groups_fails_and_is_cancelled_from_elsewhere(
    url: str, protocol: Any
) -> None:
    sql = "SELECT id, name FROM customers ORDER BY id"
    table = connectorx.read_sql(url, sql, protocol=protocol, return_type="arrow")
    assert table.to_pydict() == {"id": [1, 2, 3], "name": ["Ann", "Bob", "Çelik"]}
    months = connectorx.read_sql(
        url,
        BY_MONTH.replace("sum(total)", "sum(total)::float8"),
        protocol=protocol,
        return_type="arrow",
    )
    assert months.to_pydict()["total"] == [float(total) for _, total in MONTHS]
    for wrong, message in zip(FAILING, MESSAGES, strict=True):
        with pytest.raises(RuntimeError, match=re.escape(message)):
            connectorx.read_sql(url, wrong, protocol=protocol, return_type="arrow")
    with cancelled_elsewhere(url, SLOW), pytest.raises(RuntimeError, match=CANCELLED):
        connectorx.read_sql(url, SLOW, protocol=protocol, return_type="arrow")


# --- Django ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def django_connection(shop: PgwireServer) -> Iterator[Any]:
    import django
    from django.conf import settings
    from django.db import connections

    if not settings.configured:
        settings.configure(
            DATABASES={
                "default": {
                    "ENGINE": "django.db.backends.postgresql",
                    "NAME": "local",
                    "USER": "mia",
                    "PASSWORD": shop.tokens["mia"],
                    "HOST": shop.host,
                    "PORT": shop.port,
                }
            },
            USE_TZ=True,
        )
        django.setup()
    connection = connections["default"]
    yield connection
    connection.close()


def test_django_inspects_with_keys(django_connection: Any) -> None:
    from io import StringIO

    from django.core.management import call_command

    written = StringIO()
    call_command("inspectdb", stdout=written)
    models = written.getvalue()
    assert "class Customers(models.Model):" in models
    assert "    id = models.IntegerField(primary_key=True)" in models
    assert "    customer = models.ForeignKey(Customers, models.DO_NOTHING" in models
    assert "    placed = models.DateField(blank=True, null=True)" in models
    assert "    total = models.DecimalField(max_digits=18, decimal_places=2" in models
    assert "Secrets" not in models


def test_django_reads_groups_binds_and_fails(django_connection: Any) -> None:
    from django.db import models
    from django.db.models.functions import TruncMonth

    class Orders(models.Model):  # type: ignore[misc]  # Django has no types
        id = models.IntegerField(primary_key=True)
        placed = models.DateField()
        total = models.DecimalField(max_digits=18, decimal_places=2)

        class Meta:
            app_label = "shop"
            managed = False
            db_table = "orders"

    assert Orders.objects.get(id=2).placed == date(2024, 1, 31)
    months = (
        Orders.objects.annotate(month=TruncMonth("placed"))
        .values("month")
        .annotate(total=models.Sum("total"))
        .order_by("month")
    )
    assert [(row["month"].strftime("%Y-%m"), row["total"]) for row in months] == SUMS
    from django.db import DatabaseError

    with django_connection.cursor() as cursor:
        cursor.execute(f"{BOUND}%s", [2])
        assert cursor.fetchone() == FOUND
        for sql, state in FAILING.items():
            with pytest.raises(DatabaseError) as caught:
                cursor.execute(sql)
            assert getattr(caught.value.__cause__, "sqlstate", "") == state
        cursor.execute("SET statement_timeout = '300ms'")
        with pytest.raises(DatabaseError) as caught:
            cursor.execute(SLOW)
        assert getattr(caught.value.__cause__, "sqlstate", "") == "57014"
        cursor.execute("RESET statement_timeout")
        cursor.execute("SELECT now()")
        assert isinstance(cursor.fetchone()[0], datetime)
