"""Ranges and multiranges as asyncpg reads and binds them: it asks pg_range what each is made of."""

import asyncio
from typing import Any

import asyncpg
import pytest
from pgwire_server import PgwireServer

from redask.core.sql.written.written_types import MULTIRANGES, RANGES

BOUNDS = {
    "int4": ("1", "5"),
    "int8": ("-3000000000", "7"),
    "numeric": ("1.50", "2"),
    "date": ("2020-02-28", "2020-03-01"),
    "timestamp": ("2020-01-01", "2020-01-02 10:00:00.5"),
    "timestamptz": ("2020-01-01 00:00+02", "2020-06-01 00:00+00"),
}


def written(name: str) -> str:
    """A value of a range or a multirange."""
    lower, upper = BOUNDS[RANGES[MULTIRANGES.get(name, name)]]
    one = f'["{lower}","{upper}")'
    return "{" + one + "}" if name in MULTIRANGES else one


async def exchanged(connection: Any, name: str) -> list[Any]:
    """A value, an array of it, each the same after it was bound."""
    literal = written(name)
    found = await connection.fetchval(f"SELECT '{literal}'::{name}")
    array = await connection.fetchval(f"SELECT ARRAY['{literal}'::{name}, NULL]")
    assert await connection.fetchval(f"SELECT $1::{name}", found) == found
    if name in RANGES:  # asyncpg takes the list of a multirange for a dimension of the array
        assert await connection.fetchval(f"SELECT $1::{name}[]", array) == array
    return [found, array]


@pytest.mark.parametrize("name", [*RANGES, *MULTIRANGES])
def test_asyncpg_exchanges_ranges_as_with_postgresql(
    transport: PgwireServer, real_postgres: dict[str, Any], name: str
) -> None:
    where = {key: value for key, value in real_postgres.items() if key != "dbname"}

    async def story() -> tuple[list[Any], list[Any]]:
        ours = await asyncpg.connect(
            f"{transport.address}/local", user="mia", password=transport.tokens["mia"]
        )
        theirs = await asyncpg.connect(**where, database=real_postgres["dbname"])
        try:
            return await exchanged(ours, name), await exchanged(theirs, name)
        finally:
            await ours.close()
            await theirs.close()

    found, expected = asyncio.run(story())
    assert found == expected
