"""Row level security beneath our policies: what the database itself lets nobody see."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import postgres_databases
import psycopg
import pytest

from redask.core.access.policy import Projection
from redask.core.errors import Misconfigured, StoreFailed
from redask.core.model import Caller
from redask.core.ports import Account, AuditRow, Entity
from redask.core.rules.audit_chain import Intact
from redask.stores import visibility
from redask.stores.auditing.audit_rows import ASKS
from redask.stores.postgres import row_security
from redask.stores.postgres.pg_database import PostgresDatabase
from redask.stores.postgres.postgres_backend import PostgresBackend
from redask.stores.relational.sql_database import EVERY_TENANT, Whose
from redask.stores.visibility import StoreVisibility

MINE, THEIRS = Caller(tenant="mine"), Caller(tenant="theirs")
CLERK = Caller(tenant="mine", user="mia", role="clerk")
TABLES = [table for tables in row_security.RULES.values() for table in tables.split()]


def entity(number: int, region: str) -> Entity:
    return Entity(f"urn:reddb:row:calls/{number}", f'{{"id":{number},"region":"{region}"}}')


def row(tenant: str) -> AuditRow:
    return AuditRow({"tenant": tenant, "user": "ann", "ts": 1, "question": "why?"})


@pytest.fixture
def location(tmp_path: Path) -> str:
    return postgres_databases.location(tmp_path)


@pytest.fixture
def backend(location: str) -> Iterator[PostgresBackend]:
    opened = PostgresBackend(location)
    for caller in (MINE, THEIRS):
        opened.store.put([entity(1, "north"), entity(2, "south")], caller)
        opened.users.add_user("ann", "clerk", {}, caller)
        opened.users.make_token("ann", 1, None, caller)
        opened.ledger.add(Account(caller.tenant, 20_000, "openai"), 700)
    opened.audit.append([row("mine"), row("theirs")])
    yield opened
    opened.close()


def count(connection: psycopg.Connection[tuple[object, ...]], table: str) -> object:
    found = connection.execute(f"SELECT count(*) FROM redask.{table}").fetchone()
    return found and found[0]


def test_every_table_is_under_a_rule_that_holds_for_its_owner(
    backend: PostgresBackend, location: str
) -> None:
    del backend
    with psycopg.connect(**postgres_databases.superuser(location)) as connection:
        found = connection.execute(
            "SELECT relname FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace"
            " WHERE nspname = 'redask' AND relkind = 'r'"
            " AND NOT (relrowsecurity AND relforcerowsecurity)"
        ).fetchall()
    assert found == [("migrations",)]


def test_a_statement_that_does_not_say_whose_rows_it_wants_sees_nothing(
    backend: PostgresBackend, location: str
) -> None:
    del backend
    with psycopg.connect(location) as connection:
        held = {table: count(connection, table) for table in TABLES}
        assert set(held.values()) == {0}
        connection.execute("SELECT set_config('redask.whose', 'every', true)")
        assert count(connection, "entities") == 4
    with psycopg.connect(location) as connection:
        changed = connection.execute("UPDATE redask.entities SET payload = NULL")
        assert changed.rowcount == 0
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("INSERT INTO redask.tenants (name) VALUES ('other')")


def test_a_statement_without_a_filter_sees_one_tenant_only(backend: PostgresBackend) -> None:
    with backend.store._database.reading("mine") as connection:
        tenants = connection.execute("SELECT name FROM tenants").fetchall()
        entities = connection.execute("SELECT count(*) FROM entities").fetchone()
        tokens = connection.execute("SELECT count(*) FROM tokens").fetchone()
        spent = connection.execute("SELECT tenant FROM spent").fetchall()
        records = connection.execute("SELECT row FROM audit_records").fetchall()
    assert (tenants, entities, tokens) == ([("mine",)], (2,), (1,))
    assert spent == [("mine",)]
    assert ["theirs" in text for (text,) in records] == [False]


def test_nothing_can_be_written_for_another_tenant(backend: PostgresBackend) -> None:
    store = backend.store._database
    with store.reading(EVERY_TENANT) as connection:
        (number,) = connection.execute("SELECT id FROM tenants WHERE name = 'theirs'").fetchone()
    with pytest.raises(StoreFailed), store.writing("mine") as connection:
        connection.execute("INSERT INTO collections (tenant, name) VALUES (?, 'x')", (number,))
    with store.writing("mine") as connection:
        statement = "UPDATE entities SET payload = NULL WHERE tenant = ?"
        changed = connection.execute(statement, (number,))
        assert changed.rowcount == 0
    assert len(backend.store.page("calls", THEIRS)) == 2


def test_with_our_filter_switched_off_the_database_lets_no_hidden_row_out(
    backend: PostgresBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = {"roles": ["clerk"], "rows": "region = 'north'"}
    backend.store.set_policy("calls", {"read": [rule]}, MINE)
    urns = [f"urn:reddb:row:calls/{number}" for number in (1, 2)]
    monkeypatch.setattr(StoreVisibility, "projection", lambda *_: Projection())
    assert [each.urn for each in backend.store.read(urns, CLERK)] == urns[:1]
    assert [each.urn for each in backend.store.page("calls", CLERK)] == urns[:1]
    assert [each.urn for each in backend.store.read(urns, MINE)] == urns
    monkeypatch.setattr(StoreVisibility, "classes", lambda _: "")  # and without either, it would
    assert [each.urn for each in backend.store.read(urns, CLERK)] == urns
    assert visibility.EVERYTHING.classes() == ""


def test_a_role_that_row_level_security_does_not_hold_for_is_refused(location: str) -> None:
    with pytest.raises(Misconfigured, match="BYPASSRLS"):
        PostgresBackend(location.replace(postgres_databases.ROLE, "postgres", 1))


def test_what_a_caller_asks_of_the_logs_and_of_a_check_is_read_as_the_callers_tenant(
    backend: PostgresBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend.sealed.grow()
    begun: list[Whose] = []
    transaction = PostgresDatabase._transaction

    def noted(self: PostgresDatabase, whose: Whose, *how: Any) -> Any:
        if self._locks != "anchor_locks":  # what the store remembers are hashes, of every chain
            begun.append(whose)
        return transaction(self, whose, *how)

    monkeypatch.setattr(PostgresDatabase, "_transaction", noted)
    monkeypatch.setattr(backend._anchors, "fault", lambda: None)  # reads who the two files are
    verdict = backend.audit.verify("mine")
    assert isinstance(verdict, Intact)
    assert verdict.rows == 1
    assert backend.audit.holds(verdict.head.hash, "mine")
    assert not backend.audit.holds(verdict.head.hash, "theirs")
    assert len(list(backend.audit.exported("mine"))) == 2
    assert backend.sealed.record(ASKS, "mine", 1)
    assert backend.sealed.nodes(ASKS, "mine")(0, 0)
    assert backend.store.examine("mine") == []
    assert [each.account.tenant for each in backend.ledger.report(0, "mine")] == ["mine"]
    assert set(begun) == {"mine", "theirs"}
    assert EVERY_TENANT not in begun
