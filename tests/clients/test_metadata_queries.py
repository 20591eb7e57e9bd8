"""What clients ask of the catalogue, as they ask it: tests/clients/corpus, over the wire.

Each file names a client, its version, its licence and where its statements are from. The same
statement goes to a real PostgreSQL that has the same tables. Every one is answered; the columns
have PostgreSQL's names and types; and where PostgreSQL's answer tells of our tables, so does ours.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from pgwire_server import PgwireServer
from psycopg.pq import ExecStatus
from psycopg.pq.abc import PGresult
from real_postgres import NoPostgres, private_postgres
from shop_world import fill_postgres

CORPUS = Path(__file__).parent / "corpus"
FILES = sorted(CORPUS.glob("*.json"), key=lambda path: path.name)
# the OIDs in the statements as caught
RECORDED = {
    "16386": "customers",
    "16391": "customers_pkey",
    "16393": "orders",
    "16398": "orders_pkey",
}
DATABASE = "16385"
TELLING = re.compile(r"customers|orders")
# what PostgreSQL announces → what we do: OIDs as names, and types that nothing here has a value of
AS_TEXT = {2205, 2206, 24, 2202, 2203, 2204, 4089, 4191, 3734, 3769, 194, 869, 3220, 2277, 1033}
ANNOUNCED = {**dict.fromkeys(AS_TEXT, 25), 1034: 1009, 2211: 1009, 1021: 1022, 5017: 25, 2210: 1009}
# statements that are refused, and why
REFUSED = {
    "regexp_split_to_table(prosrc": "0A000",  # a set in GROUP BY, for pgcli's casing file
    "inhparent::regclass AS inhrelname": "0A000",  # regclass[] to text[]
}


@dataclass(frozen=True)
class Place:
    """A server with the tables: a connection, and the OIDs of tables and database."""

    connection: psycopg.Connection[Any]
    numbers: dict[str, str]

    def send(self, sql: str, parameters: list[str | None] | None) -> PGresult:
        text = sql
        for recorded, name in RECORDED.items():
            text = re.sub(rf"\b{recorded}\b", self.numbers[name], text)
        text = re.sub(rf"\b{DATABASE}\b", self.numbers["local"], text)
        given = [
            None if one is None else self.numbers.get(RECORDED.get(one, ""), one).encode()
            for one in parameters or []
        ]
        if given:
            return self.connection.pgconn.exec_params(text.encode(), given)
        return self.connection.pgconn.exec_(text.encode())


def place(connection: psycopg.Connection[Any]) -> Place:
    numbers = {}
    for name in RECORDED.values():
        row = connection.execute(f"SELECT '{name}'::regclass::oid::text").fetchone()
        numbers[name] = row[0] if row else ""
    row = connection.execute(
        "SELECT oid::text FROM pg_database WHERE datname = current_database()"
    ).fetchone()
    return Place(connection, {**numbers, "local": row[0] if row else ""})


@pytest.fixture(scope="module")
def here(shop: PgwireServer) -> Iterator[Place]:
    token = shop.tokens["mia"]
    with psycopg.connect(
        f"{shop.address}/local", user="mia", password=token, autocommit=True
    ) as connection:
        yield place(connection)


@pytest.fixture(scope="module")
def there() -> Iterator[Place]:
    try:
        with private_postgres() as where:
            fill_postgres(where)
            own = {**where, "user": "mia", "dbname": "local"}
            with psycopg.connect(**own, autocommit=True) as connection:
                yield place(connection)
    except NoPostgres as error:
        pytest.fail(str(error))


def cells(result: PGresult) -> list[bytes]:
    return [
        value
        for row in range(result.ntuples)
        for column in range(result.nfields)
        if (value := result.get_value(row, column)) is not None
    ]


def tells(result: PGresult) -> set[str]:
    """Which of our tables an answer names."""
    found: set[str] = set()
    for value in cells(result):
        found.update(TELLING.findall(value.decode(errors="replace")))
    return found


def columns(result: PGresult, announced: dict[int, int]) -> list[tuple[str, int]]:
    return [
        ((result.fname(at) or b"").decode(), announced.get(result.ftype(at), result.ftype(at)))
        for at in range(result.nfields)
    ]


def differences(here: Place, there: Place, statement: dict[str, Any]) -> Iterator[str]:
    """What is not as in PostgreSQL."""
    sql, parameters = statement["sql"], statement.get("parameters")
    ours = here.send(sql, parameters)
    refused = next((state for part, state in REFUSED.items() if part in sql), None)
    if ours.status == ExecStatus.EMPTY_QUERY:  # how some drivers see whether we are there
        return
    if ours.status != ExecStatus.TUPLES_OK:
        state = (ours.error_field(67) or b"").decode()  # 67 is C, the SQLSTATE
        if refused != state:
            yield f"{state}: {ours.error_message.decode().strip()[:200]}"
        return
    if refused is not None:
        yield "is answered: take it out of REFUSED"
    theirs = there.send(sql, parameters)
    if theirs.status != ExecStatus.TUPLES_OK:
        yield f"PostgreSQL itself: {theirs.error_message.decode().strip()[:200]}"
        return
    if columns(ours, {}) != columns(theirs, ANNOUNCED):
        pairs = zip(columns(ours, {}), columns(theirs, ANNOUNCED), strict=False)
        yield f"columns: {[pair for pair in pairs if pair[0] != pair[1]]}"
    missing = tells(theirs) - tells(ours)
    if missing and not _of_row_types(sql):
        yield f"does not tell of {sorted(missing)}"


def _of_row_types(sql: str) -> bool:
    """PostgreSQL has a type for the rows of each table, and what depends on what; we have not."""
    if re.search("FROM pg_catalog.pg_depend|pg_shdepend|typrelid", sql):
        return True
    return "pg_type" in sql and not re.search("pg_class|pg_constraint|(?i:information_schema)", sql)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_a_client_asks_is_answered_as_by_postgresql(
    here: Place, there: Place, path: Path
) -> None:
    wrong = []
    statements = json.loads(path.read_text(encoding="utf-8"))["statements"]
    for statement in statements:
        wrong += [f"{each}\n{statement['sql']}" for each in differences(here, there, statement)]
    assert not wrong, f"{len(wrong)} of {len(statements)}:\n" + "\n\n".join(wrong)


def test_every_file_says_whose_statements_they_are() -> None:
    total = 0
    for path in FILES:
        content = json.loads(path.read_text(encoding="utf-8"))
        assert all(content[key] for key in ("client", "version", "licence", "origin"))
        total += len(content["statements"])
    assert total >= 750
