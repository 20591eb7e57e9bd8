"""A real PostgreSQL (`real_postgres`) that tests ask what a function gives.

with running() as ask:
    ask.values("lower(c0)", ("text",), [("A",), ("b",)])    -> [("value", "a"), …]
    an error's answer is ("error", sqlstate)
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
from real_postgres import NoPostgres, find_programs, private_postgres

Answer = tuple[str, Any]


def is_installed() -> bool:
    try:
        return bool(find_programs())
    except NoPostgres:
        return False


class Oracle:
    """Answers of one connection."""

    def __init__(self, connection: psycopg.Connection[tuple[Any, ...]]) -> None:
        self.connection = connection

    def values(
        self, expression: str, types: Sequence[str], rows: Sequence[Sequence[Any]]
    ) -> list[Answer]:
        """What `expression` over the columns c0, c1, … gives for each row.

        Columns whose values are lists are sent as their text form.
        """
        names = ", ".join(f"c{index}" for index in range(len(types)))
        sent = ", ".join("%s::text[]" for _ in types)
        casts = ", ".join(f"c{index}::{name} AS c{index}" for index, name in enumerate(types))
        statement = (
            f"SELECT {expression} FROM (SELECT {casts}, place FROM "
            f"unnest({sent}, %s::int[]) AS sent({names}, place)) AS typed ORDER BY place"
        )
        columns = [[_sent(row[index]) for row in rows] for index in range(len(types))]
        try:
            found = self.connection.execute(statement, [*columns, list(range(len(rows)))])
            return [("value", row[0]) for row in found.fetchall()]
        except psycopg.Error as error:
            if len(rows) <= 1:
                return [("error", error.sqlstate)]
        half = len(rows) // 2
        return self.values(expression, types, rows[:half]) + self.values(
            expression, types, rows[half:]
        )


def _sent(value: Any) -> str | None:
    if isinstance(value, list):
        return "{" + ",".join(_element(each) for each in value) + "}"
    return None if value is None else str(value)


def _element(value: Any) -> str:
    if value is None:
        return "NULL"
    escaped = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


@contextmanager
def running() -> Iterator[Oracle]:
    """A server of its own, gone afterwards."""
    with private_postgres() as where, psycopg.connect(**where, autocommit=True) as connection:
        yield Oracle(connection)
