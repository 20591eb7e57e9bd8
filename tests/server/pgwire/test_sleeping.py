"""pg_sleep(), the arrays' own names of types, and types that PostgreSQL has and we have not."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from pgwire_server import Asyncpg, PgwireServer
from psycopg import errors


@pytest.fixture(scope="module")
def transport(patient_transport: PgwireServer) -> PgwireServer:
    return patient_transport


@pytest.fixture
def connection(transport: PgwireServer) -> Iterator[psycopg.Connection[Any]]:
    url, token = f"{transport.address}/local", transport.tokens["mia"]
    with psycopg.connect(url, user="mia", password=token, autocommit=True) as opened:
        yield opened


def test_a_sleep_lasts_its_time_once_for_each_row(connection: Any) -> None:
    slept = "SELECT extract(epoch FROM clock_timestamp() - now()) FROM (SELECT pg_sleep({})) AS t"
    assert connection.execute("SELECT pg_sleep(0.01)").fetchone() == ("",)
    assert connection.execute("SELECT pg_sleep(NULL), pg_sleep(-1), pg_sleep(0)").fetchone() == (
        None, "", "",
    )  # fmt: skip
    assert connection.execute("SELECT count(pg_sleep(n / 1000.0)) FROM generate_series(1, 3) n")
    assert connection.execute(slept.format("0.01")).fetchone() is not None
    described = connection.execute("SELECT pg_sleep(0)").description
    assert [(column.name, column.type_code) for column in described] == [("pg_sleep", 2278)]


def test_a_sleep_ends_by_statement_timeout(connection: Any) -> None:
    connection.execute("SET statement_timeout = '200ms'")
    with pytest.raises(errors.QueryCanceled, match="statement_timeout"):
        connection.execute("SELECT pg_sleep(3600)")
    connection.execute("RESET statement_timeout")
    assert connection.execute("SELECT 1").fetchone() == (1,)


def test_to_describe_a_sleep_is_not_to_sleep(transport: PgwireServer) -> None:
    with transport.driver("asyncpg") as driver:
        assert isinstance(driver, Asyncpg)
        prepared = driver.run(driver.connection.prepare("SELECT pg_sleep(3600)"))
        assert [column.name for column in prepared.get_attributes()] == ["pg_sleep"]


def test_an_array_has_the_name_that_pg_type_gives_it(connection: Any) -> None:
    assert connection.execute("SELECT '{1,2}'::_int4, '{a}'::pg_catalog._text").fetchone() == (
        [1, 2], ["a"],
    )  # fmt: skip
    with pytest.raises(errors.FeatureNotSupported, match="an array of arrays"):
        connection.execute("SELECT '{{1}}'::_int4[] || 1")
    with pytest.raises(errors.UndefinedObject):
        connection.execute("SELECT 'x'::_nothing")


@pytest.mark.parametrize(
    "name", ["tsvector", "circle", "macaddr8", "cstring", "box", "jsonpath", "_money", "xid8"]
)
def test_a_type_of_postgresql_that_is_not_here_is_refused_by_name(
    connection: Any, name: str
) -> None:
    with pytest.raises(errors.FeatureNotSupported, match=f"the type {name.removeprefix('_')} is"):
        connection.execute(f"SELECT NULL::{name}")
